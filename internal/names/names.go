// Package names has the rules for names that users choose, and random names.
package names

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shardsnow/snow"
)

// Check returns a *snow.FieldError if name can't name a namespace or a tag.
func Check(field, name string) error {
	bad := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-:/", r)
	}
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, bad) {
		return &snow.FieldError{
			Field: field, Value: strconv.Quote(name[:min(len(name), 80)]),
			Bound: "want 1 to 64 ASCII letters, digits, dots, underscores, hyphens, colons or slashes",
		}
	}
	return nil
}

// NewUUID returns a random UUID (RFC 9562, version 4).
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// CheckHolder returns a *snow.FieldError if holder can't be the name of one who reserves a number.
func CheckHolder(holder string) error {
	if holder == "" || len(holder) > 255 || !utf8.ValidString(holder) || strings.ContainsFunc(holder, unicode.IsControl) || strings.HasSuffix(holder, " ") {
		return &snow.FieldError{
			Field: "holder", Value: fmt.Sprintf("%q", holder[:min(len(holder), 80)]),
			Bound: "want 1 to 255 bytes of UTF-8 without control characters, and no space at the end",
		}
	}
	return nil
}
