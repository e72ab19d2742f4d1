// Package idcolumn says whether a column of a database can hold ids, and whether
// the database makes up numbers for it. It takes what a catalogue says about the column, and asks no
// database.
package idcolumn

import (
	"fmt"
	"strconv"
)

// Digits is the length of the longest id as a text.
const Digits = 19

// A Column is a column of a table.
type Column struct {
	Name string
	Type string // as the database calls it
	Kind Kind
	Size int64  // bits of an integer; characters of a text, 0 for no bound
	Sign Sign   // of an integer
	Auto string // how the database makes up values, such as AUTO_INCREMENT; empty if it does not
	Cure string // the statement that turns that off
	Fold string // why two different texts may be equal in it, such as its collation; empty if they are not
}

// A Kind says what a column keeps.
type Kind int

// The kinds.
const (
	Other   Kind = iota // holds no ids
	Integer             // integers
	Text                // texts
	Any                 // integers and texts as they are
)

// A Sign says whether an integer may be negative.
type Sign int

// The signs.
const (
	Signed Sign = iota
	Unsigned
)

// Most returns the greatest value of an integer of at most 64 bits.
func (c Column) Most() uint64 {
	if c.Sign == Unsigned {
		return 1<<c.Size - 1
	}
	return 1<<(c.Size-1) - 1
}

// Wide returns the type of 64 bits that an integer can be changed to: it keeps its sign. All other columns become
// signed.
func (c Column) Wide() string {
	if c.Kind == Integer && c.Sign == Unsigned {
		return "bigint unsigned"
	}
	return "bigint"
}

// A Want is how ids are to be kept.
type Want int

// The ways to keep ids.
const (
	Number Want = iota
	Digit       // as a text
	Either
)

// Refuse returns why the column can't hold ids and what to do about it, or nothing.
func (c Column) Refuse(want Want) (problem, remedy string) {
	switch {
	case c.Kind == Any:
		return "", ""
	case c.Kind == Integer && c.Size < 64:
		return "it is " + c.Type + ", of " + strconv.FormatInt(c.Size, 10) + " bits; an id has 63 and no sign", "change its type to " + c.Wide()
	case c.Kind == Text && want == Number:
		return "it is " + c.Type + ", which sorts and compares ids as texts", "change its type to bigint"
	case c.Kind == Text && c.Size > 0 && c.Size < Digits:
		return fmt.Sprintf("it is %s; an id has up to %d digits", c.Type, Digits), "make it longer"
	case c.Kind == Other && want == Digit:
		return "it is " + c.Type + ", which does not keep ids as they are", "change its type to varchar(20)"
	case c.Kind == Other:
		return "it is " + c.Type + ", which does not keep ids as they are", "change its type to bigint"
	}
	return "", ""
}
