package opaque

// Crockford's base32 in lower case: no i, l, o and u.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// digitOf has the value of each digit in either case, and 0xFF elsewhere.
var digitOf = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xFF
	}
	for i := range len(alphabet) {
		c := alphabet[i]
		t[c] = byte(i)
		if c >= 'a' {
			t[c+'A'-'a'] = byte(i)
		}
	}
	return t
}()

const (
	separator  = '_'
	bodyLength = 15 // the version, 13 digits and the check character
	dataLength = bodyLength - 1
)

// parts is what a text says. The check character is correct.
type parts struct {
	prefix  string // in lower case
	version int
	number  uint64 // 63 bits, encrypted
}

func validPrefix(s string) bool {
	if len(s) > mostTweak {
		return false
	}
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return true
}

// lower returns s with the letters of ASCII in lower case. strings.ToLower makes a k
// of a Kelvin sign, which is no letter of a prefix.
func lower(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// write returns the text of parts.
func (p parts) write() string {
	var digits [dataLength]byte
	digits[0] = byte(p.version)
	n := p.number
	for i := dataLength - 1; i > 0; i-- {
		digits[i] = byte(n & 31)
		n >>= 5
	}
	var b [mostTweak + 1 + bodyLength]byte
	at := copy(b[:], p.prefix)
	if at > 0 {
		b[at] = separator
		at++
	}
	for _, d := range digits {
		b[at] = alphabet[d]
		at++
	}
	b[at] = alphabet[sum(p.prefix, digits[:])]
	return string(b[:at+1])
}

// read is the inverse of write. It accepts both cases.
func read(s string) (p parts, err error) {
	body := s
	switch at := len(s) - bodyLength; {
	case at == 0:
	case at < 2 || s[at-1] != separator:
		return p, ErrForm
	default:
		p.prefix, body = lower(s[:at-1]), s[at:]
		if !validPrefix(p.prefix) {
			return p, ErrForm
		}
	}
	var digits [dataLength]byte
	for i := range digits {
		if digits[i] = digitOf[body[i]]; digits[i] == 0xFF {
			return p, ErrForm
		}
	}
	check := digitOf[body[dataLength]]
	switch {
	case check == 0xFF:
		return p, ErrForm
	case check != sum(p.prefix, digits[:]):
		return p, ErrCheck
	case digits[0] >= mostVersions || digits[1] > 7: // 13 digits hold 65 bits
		return p, ErrForm
	}
	p.version = int(digits[0])
	for _, d := range digits[1:] {
		p.number = p.number<<5 | uint64(d)
	}
	return p, nil
}
