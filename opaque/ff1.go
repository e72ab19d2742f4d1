package opaque

import (
	"crypto/cipher"
	"encoding/binary"
	"sync"
)

// FF1 of NIST SP 800-38G (algorithms 7 and 8) has ten rounds. These are its numbers
// for radix 2 and 63 bits, which are split into 31 and 32.
const (
	rounds    = 10
	upperBits = 31 // u
	lowerBits = 32 // v, and 4 bytes: b
	upperMask = 1<<upperBits - 1

	// mostTweak is what fits beside the round and 4 bytes in one block, so a round is
	// one call of AES.
	mostTweak = 11
)

// A permutation of the 63-bit numbers, for a key and a tweak. The oracle in the
// tests is FF1 as the standard writes it, for any radix and length.
type permutation struct {
	block cipher.Block

	// start is the CBC-MAC of the first block, P, which is the same in all rounds, XOR the
	// tweak at the beginning of the second, Q. The last 5 bytes of Q are the round and
	// a half of the number.
	start [blockSize]byte
}

const blockSize = 16 // bytes of a block of AES, whatever the key

// buffers holds blocks for calls of AES. A variable of the caller would be allocated
// anew in each call, because the compiler does not know what an interface does with it.
var buffers = sync.Pool{New: func() any { return new([blockSize]byte) }}

func newPermutation(block cipher.Block, tweak string) *permutation {
	p := [blockSize]byte{
		1, 2, 1, // the version, the method, the number of additions
		0, 0, 2, // the radix
		rounds,
		upperBits,
		0, 0, 0, upperBits + lowerBits,
		0, 0, 0, byte(len(tweak)),
	}
	f := &permutation{block: block}
	block.Encrypt(f.start[:], p[:])
	for i := range len(tweak) {
		f.start[i] ^= tweak[i]
	}
	return f
}

// encrypt returns the number that takes the place of x. Only the lower 63 bits of x count.
func (f *permutation) encrypt(x uint64) uint64 {
	buffer := buffers.Get().(*[blockSize]byte)
	a, b := uint32(x>>lowerBits)&upperMask, uint32(x)
	for i := byte(0); i < rounds; i += 2 {
		a = (a + f.round(buffer, i, b)) & upperMask
		b += f.round(buffer, i+1, a)
	}
	buffers.Put(buffer)
	return uint64(a)<<lowerBits | uint64(b)
}

// decrypt is the inverse of encrypt.
func (f *permutation) decrypt(x uint64) uint64 {
	buffer := buffers.Get().(*[blockSize]byte)
	a, b := uint32(x>>lowerBits)&upperMask, uint32(x)
	for i := byte(rounds); i > 0; i -= 2 {
		b -= f.round(buffer, i-1, a)
		a = (a - f.round(buffer, i-2, b)) & upperMask
	}
	buffers.Put(buffer)
	return uint64(a)<<lowerBits | uint64(b)
}

// round returns the lower 32 bits of the number y of a round. Both halves are taken
// modulo 2^31 or 2^32, so the upper bits of its 8 bytes don't matter.
func (f *permutation) round(buffer *[blockSize]byte, i byte, half uint32) uint32 {
	*buffer = f.start
	buffer[mostTweak] ^= i
	binary.BigEndian.PutUint32(buffer[12:], binary.BigEndian.Uint32(buffer[12:])^half)
	f.block.Encrypt(buffer[:], buffer[:])
	return binary.BigEndian.Uint32(buffer[4:])
}
