package opaque

import (
	"fmt"

	"github.com/shardsnow/snow"
)

// A Codec encodes and decodes ids of one type. It comes from [Keys.Type], is safe for
// concurrent use, and has no state that changes. The zero Codec has no key.
type Codec struct {
	prefix       string
	newest       int
	permutations [mostVersions]*permutation // nil where there is no key
}

// Prefix returns the prefix of the type, such as "ord".
func (c *Codec) Prefix() string { return c.prefix }

// Encode returns the ID of id with the newest key. For 0 and negative numbers, which are no
// ids, it returns the zero ID, which is null in JSON and an error as text.
func (c *Codec) Encode(id snow.ID) ID {
	f := c.permutations[c.newest]
	if id <= 0 || f == nil {
		return ID{}
	}
	return ID{parts{c.prefix, c.newest, f.encrypt(uint64(id))}.write()}
}

// Decode returns the id in out. An ID of another type is [ErrPrefix], one whose key is
// not there is [ErrKey], and the zero ID is [ErrZero]. Any other ID is decoded, though
// perhaps to an id that nobody has made.
func (c *Codec) Decode(out ID) (snow.ID, error) {
	if out.text == "" {
		return 0, fmt.Errorf("opaque: decode: %w", ErrZero)
	}
	return c.Parse(out.text)
}

// Parse returns the id of a text from outside, in upper or lower case. The error is a
// [*snow.ParseError] over [ErrForm], [ErrCheck], [ErrPrefix] or [ErrKey]. For clients each
// of these means that there is no such id: answer 404 or 400.
func (c *Codec) Parse(text string) (snow.ID, error) {
	id, err := c.parse(text)
	if err != nil {
		return 0, invalid(text, err)
	}
	return id, nil
}

func (c *Codec) parse(text string) (snow.ID, error) {
	p, err := read(text)
	if err != nil {
		return 0, err
	}
	if p.prefix != c.prefix {
		return 0, fmt.Errorf("%w: want %q", ErrPrefix, c.prefix)
	}
	f := c.permutations[p.version]
	if f == nil {
		return 0, fmt.Errorf("%w: %d", ErrKey, p.version)
	}
	id := snow.ID(f.decrypt(p.number))
	if id == 0 { // Encode never writes it
		return 0, ErrForm
	}
	return id, nil
}

func invalid(text string, err error) error {
	return fmt.Errorf("opaque: %w", &snow.ParseError{Kind: "opaque id", Input: text, Err: err})
}
