package snow

import "fmt"

// Crockford's base32 (https://www.crockford.com/base32.html) leaves out I, L,
// O and U. Its digits are in ASCII order, so texts of one length sort as the
// numbers do.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// fromCrockford holds the value of each digit in either case, 0xFF elsewhere.
var fromCrockford = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xFF
	}
	for i := range len(crockford) {
		c := crockford[i]
		t[c] = byte(i)
		if c >= 'A' {
			t[c+'a'-'A'] = byte(i)
		}
	}
	return t
}()

const base32Len = 13

// Base32 returns id as 13 characters of Crockford's base32 in upper case. The
// texts sort as the numbers do.
func (id ID) Base32() string {
	var b [base32Len]byte
	n := uint64(id)
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = crockford[n&31]
		n >>= 5
	}
	return string(b[:])
}

// ParseBase32 parses the 13 characters that [ID.Base32] returns, in upper or
// lower case. Crockford's look-alikes (I and L for 1, O for 0) and hyphens are
// not accepted, so an id has only one spelling apart from case. The error is a
// [*ParseError].
func ParseBase32(s string) (ID, error) {
	id, err := parseBase32(s)
	if err != nil {
		return 0, fmt.Errorf("snow: %w", &ParseError{"base32 id", s, err})
	}
	return id, nil
}

func parseBase32(s string) (ID, error) {
	if len(s) != base32Len {
		return 0, errLength
	}
	var n uint64
	for i := range len(s) {
		d := fromCrockford[s[i]]
		if d == 0xFF {
			return 0, errAlphabet
		}
		n = n<<5 | uint64(d)
	}
	if s[0] > '7' { // 13 digits hold 65 bits, an ID has 63
		return 0, errRange
	}
	return ID(n), nil
}
