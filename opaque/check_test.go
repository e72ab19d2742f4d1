package opaque

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// The weights of all places differ and are not 0, also for the longest text. So are
// the products of a weight and any difference of two symbols, which proves that the sum finds each
// wrong symbol, and each two symbols that change places.
func TestWeightsDiffer(t *testing.T) {
	seen := make(map[byte]int)
	weight := byte(1)
	for place := range mostTweak + bodyLength {
		if other, ok := seen[weight]; ok || weight == 0 || weight > 31 {
			t.Fatalf("place %d has the weight %d, as place %d", place, weight, other)
		}
		seen[weight] = place
		weight = timesX(weight)
	}
	for s := byte(1); s < 32; s++ {
		products := make(map[byte]bool)
		for p, n := s, 0; n < 31; p, n = timesX(p), n+1 {
			products[p] = true
		}
		if len(products) != 31 || products[0] {
			t.Errorf("%d has %d products with the powers of x", s, len(products))
		}
	}
}

// Every byte at every place of a text, every swap of neighbours, and every swap of two characters of
// the type or of two behind it.
func TestEveryWrongCharacterIsFound(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, prefix := range []string{"", "a", "ord", "zzyxjohnqal"} {
		for range 20 {
			text := parts{prefix, random.IntN(mostVersions), random.Uint64() >> 1}.write()
			if _, err := ParseID(text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			for at := range text {
				for c := range 256 {
					wrong := text[:at] + string([]byte{byte(c)}) + text[at+1:]
					if lower(wrong) == text {
						continue
					}
					if id, err := ParseID(wrong); err == nil {
						t.Fatalf("%q, which was %q, is read as %s", wrong, text, id)
					}
				}
				for other := at + 1; other < len(text); other++ {
					if behind := len(prefix) + 1; other > at+1 && at < behind && other >= behind-1 {
						continue // a letter of a type is another symbol than the digit with its look
					}
					b := []byte(text)
					b[at], b[other] = b[other], b[at]
					if id, err := ParseID(string(b)); err == nil && id.Text() != text {
						t.Fatalf("%q, which was %q, is read", b, text)
					}
				}
			}
			for n := range text {
				if _, err := ParseID(text[:n]); err == nil {
					t.Fatalf("%q, cut from %q, is read", text[:n], text)
				}
			}
		}
	}
}

func TestErrorsOfTexts(t *testing.T) {
	good := parts{"ord", 3, 1<<63 - 1}.write()
	for _, test := range []struct {
		name, text string
		want       error
	}{
		{"empty", "", ErrForm},
		{"short", good[:len(good)-1], ErrForm},
		{"long", good + "0", ErrForm},
		{"only a separator", "_" + good[4:], ErrForm},
		{"no separator", "ord" + good[4:], ErrForm},
		{"two separators", "or_" + good[3:], ErrForm},
		{"a digit in the type", "0rd" + good[3:], ErrForm},
		{"a long type", "abcdefghijkl" + good[3:], ErrForm},
		{"a Kelvin sign", "or\u212a" + good[3:], ErrForm},
		{"a look-alike", good[:5] + "O" + good[6:], ErrForm},
		{"a space", " " + good[4:], ErrForm},
		{"not ASCII", strings.Repeat("é", 8)[:15], ErrForm},
		{"a wrong character", good[:5] + "0" + good[6:], ErrCheck},
		{"a wrong type", "odr" + good[3:], ErrCheck},
		{"a version of 5 bits", withCheck(16, 0), ErrForm},
		{"a number of 65 bits", withCheck(0, 8), ErrForm},
	} {
		if _, err := read(test.text); !errors.Is(err, test.want) {
			t.Errorf("%s: %q: %v, want %v", test.name, test.text, err, test.want)
		}
	}
}

// withCheck returns the text of two digits and zeros.
func withCheck(digits ...byte) string {
	data := make([]byte, dataLength)
	copy(data, digits)
	b := make([]byte, 0, bodyLength)
	for _, d := range append(data, sum("", data)) {
		b = append(b, alphabet[d])
	}
	return string(b)
}

func FuzzParse(f *testing.F) {
	for _, p := range []parts{{"ord", 1, 5}, {"", 15, 1<<63 - 1}, {"abcdefghijk", 0, 0}} {
		f.Add(p.write())
		f.Add(strings.ToUpper(p.write()))
	}
	f.Add("")
	f.Add("_")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := read(text)
		if err != nil {
			if !errors.Is(err, ErrForm) && !errors.Is(err, ErrCheck) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if p.number>>63 != 0 || p.version >= mostVersions || p.write() != lower(text) {
			t.Errorf("%q is %+v, which is written %q", text, p, p.write())
		}
		id, err := ParseID(text)
		if err != nil || id.Text() != lower(text) || id.Prefix() != p.prefix {
			t.Errorf("%q is the ID %q of type %q, %v", text, id.Text(), id.Prefix(), err)
		}
	})
}

func FuzzParseKeys(f *testing.F) {
	f.Add("# old\n1 00112233445566778899aabbccddeeff\n\n2 00112233445566778899aabbccddeef0 decode\n")
	f.Add("16 00")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseKeys([]byte(text))
		if err != nil {
			var e *KeyError
			if !errors.As(err, &e) || e.Line == 0 {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		for _, k := range list {
			if k.version < 0 || k.version >= mostVersions || k.length == 0 {
				t.Errorf("%q has the key %v", text, k)
			}
		}
	})
}
