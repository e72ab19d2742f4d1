package opaque

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// oracle is FF1 as NIST SP 800-38G writes it, for any radix, length and tweak: slow,
// and step by step. Digits are numbers below the radix.
type oracle struct {
	block cipher.Block
	radix int64
	tweak []byte
}

// num is NUM_radix of the standard.
func (o oracle) num(digits []int64) *big.Int {
	x := new(big.Int)
	for _, d := range digits {
		x.Add(x.Mul(x, big.NewInt(o.radix)), big.NewInt(d))
	}
	return x
}

// str is STR^m_radix.
func (o oracle) str(m int, x *big.Int) []int64 {
	digits, x, d := make([]int64, m), new(big.Int).Set(x), new(big.Int)
	for i := range slices.Backward(digits) {
		x.DivMod(x, big.NewInt(o.radix), d)
		digits[i] = d.Int64()
	}
	return digits
}

// prf is the CBC-MAC of whole blocks.
func (o oracle) prf(x []byte) []byte {
	y := make([]byte, 16)
	for ; len(x) > 0; x = x[16:] {
		for i := range y {
			y[i] ^= x[i]
		}
		o.block.Encrypt(y, y)
	}
	return y
}

// y is steps 1 to 5 and 6.i to 6.iv: the number y of round i.
func (o oracle) y(i, n int, half []int64) *big.Int {
	u := n / 2
	v := n - u
	most := new(big.Int).Exp(big.NewInt(o.radix), big.NewInt(int64(v)), nil)
	b := (most.Sub(most, big.NewInt(1)).BitLen() + 7) / 8 // of the greatest number: the standard's ⌈⌈v·log2 radix⌉/8⌉
	d := 4*((b+3)/4) + 4
	t := len(o.tweak)
	p := []byte{1, 2, 1, byte(o.radix >> 16), byte(o.radix >> 8), byte(o.radix), 10, byte(u)}
	p = append(p, byte(n>>24), byte(n>>16), byte(n>>8), byte(n), byte(t>>24), byte(t>>16), byte(t>>8), byte(t))
	q := slices.Clone(o.tweak)
	for (len(q)+1+b)%16 != 0 {
		q = append(q, 0)
	}
	q = append(q, byte(i))
	q = append(q, o.num(half).FillBytes(make([]byte, b))...)
	r := o.prf(append(p, q...))
	s := slices.Clone(r)
	for j := 1; len(s) < d; j++ {
		block := big.NewInt(int64(j)).FillBytes(make([]byte, 16))
		for k := range block {
			block[k] ^= r[k]
		}
		o.block.Encrypt(block, block)
		s = append(s, block...)
	}
	return new(big.Int).SetBytes(s[:d])
}

func (o oracle) encrypt(x []int64) []int64 { return o.run(x, true) }
func (o oracle) decrypt(x []int64) []int64 { return o.run(x, false) }

func (o oracle) run(x []int64, forward bool) []int64 {
	n := len(x)
	u := n / 2
	a, b := x[:u], x[u:]
	for round := range 10 {
		i := round
		if !forward {
			i = 9 - round
		}
		m := n - u
		if i%2 == 0 {
			m = u
		}
		modulus := new(big.Int).Exp(big.NewInt(o.radix), big.NewInt(int64(m)), nil)
		if forward {
			c := o.num(a)
			c.Mod(c.Add(c, o.y(i, n, b)), modulus)
			a, b = b, o.str(m, c)
		} else {
			c := o.num(b)
			c.Mod(c.Sub(c, o.y(i, n, a)), modulus)
			a, b = o.str(m, c), a
		}
	}
	return slices.Concat(a, b)
}

const digits36 = "0123456789abcdefghijklmnopqrstuvwxyz"

func digitsOf(text string) (digits []int64) {
	for _, c := range text {
		digits = append(digits, int64(strings.IndexRune(digits36, c)))
	}
	return digits
}

func textOf(digits []int64) string {
	var b strings.Builder
	for _, d := range digits {
		b.WriteByte(digits36[d])
	}
	return b.String()
}

func newBlock(t testing.TB, secret []byte) cipher.Block {
	t.Helper()
	block, err := aes.NewCipher(secret)
	if err != nil {
		t.Fatal(err)
	}
	return block
}

// The nine sample vectors of NIST for FF1 (csrc.nist.gov, "FF1samples.pdf").
func TestOracleHasNISTsSamples(t *testing.T) {
	const (
		key    = "2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94"
		tweak  = "39383736353433323130"
		letter = "3737373770717273373737"
	)
	for i, s := range []struct {
		bytes         int // of the key
		radix         int64
		tweak, in, to string
	}{
		{16, 10, "", "0123456789", "2433477484"},
		{16, 10, tweak, "0123456789", "6124200773"},
		{16, 36, letter, "0123456789abcdefghi", "a9tv40mll9kdu509eum"},
		{24, 10, "", "0123456789", "2830668132"},
		{24, 10, tweak, "0123456789", "2496655549"},
		{24, 36, letter, "0123456789abcdefghi", "xbj3kv35jrawxv32ysr"},
		{32, 10, "", "0123456789", "6657667009"},
		{32, 10, tweak, "0123456789", "1001623463"},
		{32, 36, letter, "0123456789abcdefghi", "xs8a0azh2avyalyzuwd"},
	} {
		secret, err := hex.DecodeString(key[:2*s.bytes])
		if err != nil {
			t.Fatal(err)
		}
		tweak, err := hex.DecodeString(s.tweak)
		if err != nil {
			t.Fatal(err)
		}
		o := oracle{newBlock(t, secret), s.radix, tweak}
		if got := textOf(o.encrypt(digitsOf(s.in))); got != s.to {
			t.Errorf("sample %d: %s becomes %s, want %s", i+1, s.in, got, s.to)
		}
		if got := textOf(o.decrypt(digitsOf(s.to))); got != s.in {
			t.Errorf("sample %d: %s comes from %s, want %s", i+1, s.to, got, s.in)
		}
	}
}

// bits are the 63 bits of x, the highest first.
func bits(x uint64) (digits []int64) {
	for i := 62; i >= 0; i-- {
		digits = append(digits, int64(x>>i&1))
	}
	return digits
}

func TestPermutationIsFF1(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, bytes := range []int{16, 24, 32} {
		for length := range mostTweak + 1 {
			secret := make([]byte, bytes)
			for i := range secret {
				secret[i] = byte(random.Uint32())
			}
			tweak := strings.Repeat("order", 3)[:length]
			block := newBlock(t, secret)
			f, o := newPermutation(block, tweak), oracle{block, 2, []byte(tweak)}
			for _, x := range []uint64{0, 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<63 - 1, random.Uint64() >> 1, random.Uint64() >> 1} {
				want := o.num(o.encrypt(bits(x))).Uint64()
				if got := f.encrypt(x); got != want {
					t.Fatalf("key %x, tweak %q: %#x becomes %#x, want %#x", secret, tweak, x, got, want)
				}
				if back := f.decrypt(want); back != x {
					t.Fatalf("key %x, tweak %q: %#x comes from %#x, want %#x", secret, tweak, want, back, x)
				}
			}
		}
	}
}
