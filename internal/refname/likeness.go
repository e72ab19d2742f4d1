package refname

import (
	"slices"
	"strings"
)

// A Column is a column that may hold ids of rows.
type Column struct {
	Table   string // tells tables apart
	Name    string
	Reading Reading
	Thing   []string // the words of the table
	Alone   bool     // it tells the rows of its table apart without other columns
	Indexed bool     // an index begins with it
}

// A Key is a column that may number the rows of its table.
type Key struct {
	Column
	Itself bool // it is counted up, or named after its table or after nothing
	People bool // its rows are people
	Sole   bool // no other key is called so: see [Reading].Word
}

// NewKey returns a key. counted says that the database counts it up.
func NewKey(c Column, counted bool) Key {
	k := Key{Column: c, Itself: counted || len(c.Reading.Stem) == 0 || Alike(c.Reading.Stem, c.Thing) >= 3.5}
	k.People = OfPeople(c.Thing) || k.Itself && OfPeople(c.Reading.Stem)
	return k
}

// LikeSomebody is what [Likeness] says of names that are roles of people, and not the name of a table.
const LikeSomebody = "named like somebody"

// Likeness returns how much the names of a column and of a key have in common, and in words what: from 3 points on,
// it is named after the table or after its key. only says that the name is like the name of no other table.
func Likeness(c Column, k Key, only bool) (points float64, why string) {
	stem := c.Reading.Stem
	ofTable, ofKey := Alike(stem, k.Thing), 0.0
	if len(k.Reading.Stem) > 0 && k.Itself {
		switch ofKey = Alike(stem, k.Reading.Stem); {
		case ofKey < 2.5:
			ofKey = 0
		case c.Reading.Shared && c.Table != k.Table && beginAlike(c.Thing, k.Thing):
			ofKey = 4
		case c.Reading.Shared:
			ofKey = 2.5
		}
	}
	points = max(ofTable, ofKey)
	if c.Reading.First && (points == 4 || points == 2.5) { // id_address_delivery is of an address
		points = 6.5 - points
	}
	group := len(k.Thing) - len(stem)
	person := len(stem) > 0 && slices.Contains(roles, stem[len(stem)-1])
	prefixed := c.Table != k.Table && len(c.Thing) > len(k.Thing) && slices.EqualFunc(c.Thing[:len(k.Thing)], k.Thing, Abbreviates)
	generic := len(stem) == 0
	switch {
	case generic && c.Name == k.Name && prefixed:
		return 5, "named as the key of the table that its own belongs to"
	case generic && (c.Alone || c.Indexed) && c.Table != k.Table && k.Itself && len(k.Thing) > 1 && k.Thing[len(k.Thing)-1] == c.Thing[0]:
		return 4.5, "the table belongs to that one"
	case generic && c.Alone && prefixed:
		return 2.5, "the table belongs to that one"
	case generic && c.Name == k.Name && !c.Reading.Common && c.Table != k.Table && len(c.Thing) > 1 && len(k.Thing) > 1 && c.Thing[0] == k.Thing[0]:
		return 3, "named as the key of a table of the same group"
	case generic && c.Name == k.Name && !c.Reading.Common:
		return 2, "named as its key"
	case generic && prefixed && !c.Reading.Common:
		return 1, "the table belongs to that one"
	case generic:
		return 0, ""
	case ofTable == 5 && ofKey == 5:
		points, why = 6, "named after the table and its key"
	case group > 0 && c.Table != k.Table && len(c.Thing) >= group && slices.Equal(k.Thing[group:], stem) && slices.Equal(k.Thing[:group], c.Thing[:group]),
		c.Table != k.Table && strings.Join(c.Thing, "")+strings.Join(stem, "") == strings.Join(k.Thing, ""):
		points, why = 5.5+ofKey/10, "named after a table of the same group"
	case points < 3 && len(k.Thing) > 1 && c.Table != k.Table && len(c.Thing) >= len(k.Thing)-1 && stem[len(stem)-1] == k.Thing[len(k.Thing)-1] &&
		slices.Equal(k.Thing[:len(k.Thing)-1], c.Thing[:len(k.Thing)-1]):
		points, why = 3, "named like a table of the same group"
	case points >= 3:
		why = "named after the table or its key"
	case points > 0:
		why = "named after part of the table"
		if points >= 1.5 && k.Itself && c.Reading.ID {
			points += 0.5
		}
		if points >= 1.5 && only && c.Reading.ID {
			points += 0.5
		}
	}
	if points < 3.5 && k.Sole && c.Reading.ID && c.Reading.Word == k.Reading.Word {
		points, why = 3.5, "named as its key after other words"
	}
	if !c.Reading.ID && ofTable == 2.5 {
		points = min(points, 1) // the role of a user is no user
	}
	if c.Reading.Quantity && points < 6 && ofTable < 5 {
		points = min(points, 2.5)
	}
	switch {
	case points < 4 && c.Reading.says(relatives) && c.Table == k.Table:
		points, why = max(points, 3.5), "named like a row of the same table"
	case points < 3 && c.Reading.says(relatives) && prefixed:
		points, why = max(points, 2.5), "named like a row of the table that the table belongs to"
	case points < 3 && k.People && c.Reading.says(roles) && (c.Reading.ID || c.Reading.endsIn(roles) || !slices.Contains(things, stem[0])):
		points, why = 3, LikeSomebody
	case points < 5 && person && !k.People:
		points = min(points, 1)
	case points < 2 && c.Reading.says(containers) && slices.Contains(k.Thing, "item"):
		points, why = 2, "named like a thing that holds others"
	}
	if points >= 1.5 && c.Reading.Word == k.Reading.Word && c.Reading.Word != "id" && c.Reading.ID {
		points += 0.75 // guid, as the key
	}
	switch {
	case c.Reading.Quantity && c.Reading.Plural && points < 5:
		return 0, "" // how many there are, and not which
	case c.Reading.Quantity && c.Reading.Plural:
		points = min(points, 1)
	case c.Reading.Quantity && points < 3:
		points = min(points, 1)
	case c.Reading.Quantity && points < 5:
		points = min(points, 2.5)
	}
	return points, why
}

// beginAlike reports whether the names of two tables have their first letters in common.
func beginAlike(a, b []string) bool {
	const letters = 4
	x, y := strings.Join(a, ""), strings.Join(b, "")
	return len(x) >= letters && len(y) >= letters && x[:letters] == y[:letters]
}
