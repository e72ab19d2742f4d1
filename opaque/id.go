package opaque

import (
	"encoding/json"
	"fmt"
	"log/slog"
)

// An ID is the text of an id outside, such as ord_11m6bp6t15r7nr7. Its form and its
// check character are correct. Only a [Codec] makes a [github.com/shardsnow/snow.ID] of it, with [Codec.Decode].
// Texts that differ in case are the same ID: == compares IDs.
//
// The zero ID is not set. It is null in JSON, an empty string in a log, and an
// error as text. Fields with omitzero leave it out.
//
// An ID has no Value, no Scan and no String, so [database/sql], GORM and pgx refuse to
// store it: a table has the snow.ID.
type ID struct{ text string }

// ParseID parses a text without a key. It checks the form and the check character, and
// not whether the type is the right one or the key is known. The error is a
// [*github.com/shardsnow/snow.ParseError] over [ErrForm] or [ErrCheck].
func ParseID(text string) (ID, error) {
	if _, err := read(text); err != nil {
		return ID{}, invalid(text, err)
	}
	return ID{lower(text)}, nil
}

// Text returns the text of id, which is safe in every part of a URL. It is empty for the zero ID.
func (id ID) Text() string { return id.text }

// IsZero reports whether id is not set.
func (id ID) IsZero() bool { return id.text == "" }

// Prefix returns the prefix of the type, such as "ord", or "" if there is none.
func (id ID) Prefix() string {
	if n := len(id.text) - bodyLength - 1; n > 0 {
		return id.text[:n]
	}
	return ""
}

// Format implements [fmt.Formatter]: every verb formats the text, as if it were a string.
func (id ID) Format(f fmt.State, verb rune) {
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), id.text)
}

// LogValue implements [slog.LogValuer] with the text.
func (id ID) LogValue() slog.Value { return slog.StringValue(id.text) }

// AppendText appends the text of id to b. It implements [encoding.TextAppender]. The
// zero ID is [ErrZero].
func (id ID) AppendText(b []byte) ([]byte, error) {
	if id.text == "" {
		return b, fmt.Errorf("opaque: %w", ErrZero)
	}
	return append(b, id.text...), nil
}

// MarshalText returns the text of id. The zero ID is [ErrZero].
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText parses b as [ParseID] does. An error leaves id unchanged.
func (id *ID) UnmarshalText(b []byte) error { return id.UnmarshalParam(string(b)) }

// UnmarshalParam parses s as [ParseID] does. gin and echo call it for the parts of a path
// and the values of queries and forms. An error leaves id unchanged.
func (id *ID) UnmarshalParam(s string) error {
	parsed, err := ParseID(s)
	if err == nil {
		*id = parsed
	}
	return err
}

// MarshalJSON returns the text of id as a JSON string, or null for the zero ID.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.text == "" {
		return []byte("null"), nil
	}
	b := make([]byte, 0, len(id.text)+2)
	return append(append(append(b, '"'), id.text...), '"'), nil
}

// UnmarshalJSON accepts a JSON string as [ParseID] does. JSON null leaves id
// unchanged, and so does an error.
func (id *ID) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	var text string
	if len(b) == 0 || b[0] != '"' || json.Unmarshal(b, &text) != nil {
		return invalid(string(b), ErrForm)
	}
	return id.UnmarshalParam(text)
}
