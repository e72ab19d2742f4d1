package opaque

import (
	"errors"
	"strconv"
)

// Errors that callers branch on. They are wrapped: use errors.Is. Errors about texts are
// in a [*github.com/shardsnow/snow.ParseError].
var (
	// ErrForm is the error of a text that can't be an ID: its length or its
	// characters are wrong.
	ErrForm = errors.New("want an optional type, an underscore and 15 characters of base32")

	// ErrCheck is the error of a text whose check character is wrong: it was
	// mistyped or cut.
	ErrCheck = errors.New("the check character is wrong")

	// ErrPrefix is the error of a text of another type.
	ErrPrefix = errors.New("the type is another one")

	// ErrKey is the error of a text whose key version is not among the keys: the key
	// was removed, or this process does not have it yet.
	ErrKey = errors.New("there is no key of this version")

	// ErrZero is the error of writing the zero ID as a text.
	ErrZero = errors.New("the id is not set")
)

// A KeyError says why a key or a list of keys can't be used. It never has a secret.
type KeyError struct {
	Version int    // of the key; -1 if the error is not about one key
	Line    int    // of the file; 0 if there is none
	Reason  string // what is wrong
}

// Error returns the line, the version and the reason.
func (e *KeyError) Error() string {
	text := ""
	if e.Line > 0 {
		text = "line " + strconv.Itoa(e.Line) + ": "
	}
	if e.Version >= 0 {
		text += "key " + strconv.Itoa(e.Version) + ": "
	}
	return text + e.Reason
}
