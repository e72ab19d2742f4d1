// Package idtext reads ids in the ways that people write them.
package idtext

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/shardsnow/snow"
)

// A Reading is a text that was read as an id.
type Reading struct {
	ID   snow.ID
	Note string // what else the text could be; often empty
}

// Parse reads an id in any of its Readings: decimal, base32 of 13
// characters, or hexadecimal after 0x.
func Parse(text string) (Reading, error) {
	if digits, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		n, err := strconv.ParseUint(digits, 16, 63)
		if err != nil {
			return Reading{}, fmt.Errorf("id %.40q: want at most 63 bits in hexadecimal", text)
		}
		return nonzero(Reading{ID: snow.ID(n)})
	}
	id, err := snow.ParseID(text)
	base32, err32 := snow.ParseBase32(text)
	switch {
	case err == nil && err32 == nil:
		return nonzero(Reading{id, "read as decimal; as base32 it is " + base32.String()})
	case err == nil:
		return nonzero(Reading{ID: id})
	case err32 == nil:
		return nonzero(Reading{ID: base32})
	}
	return Reading{}, fmt.Errorf("id %.40q: want decimal, 13 characters of base32, or hexadecimal after 0x", text)
}

func nonzero(s Reading) (Reading, error) {
	if s.ID.IsZero() {
		return Reading{}, errors.New("id 0: it means that no id was assigned")
	}
	return s, nil
}
