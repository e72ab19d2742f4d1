package refname

import (
	"slices"
	"strings"
)

// A Reading is what the name of a column says.
type Reading struct {
	Words    []string // in lower case and the singular, without numbers: itemGuid0 is item and guid
	Stem     []string // the words that do not just say that these are ids
	ID       bool     // it says that these are ids
	Word     string   // how; none where an initial says so, as in pid
	Shared   bool     // it is an initial, such as sid, that the keys of several tables are called
	Common   bool     // it is id, or what the keys of several tables are called
	First    bool     // it begins with that
	Quantity bool     // it says how many, how much, when or where
	Plural   bool     // it is how many there are of something
}

// Named reports whether the name says that there are ids: it has a word for them, or ends in a word for somebody,
// for a group or for a row of the same table.
func (r Reading) Named() bool {
	return r.ID || r.endsIn(roles) || r.endsIn(relatives) || r.endsIn(groupWords)
}

func (r Reading) endsIn(list []string) bool {
	return len(r.Stem) > 0 && slices.Contains(list, r.Stem[len(r.Stem)-1])
}

// says reports whether one of the words of the name is in a list.
func (r Reading) says(list []string) bool {
	return slices.ContainsFunc(r.Stem, func(w string) bool { return slices.Contains(list, w) })
}

// Family is what columns of one meaning have in common.
func (r Reading) Family() string {
	switch {
	case r.Common:
		return "id"
	case len(r.Stem) == 0:
		return strings.Join(r.Words, "")
	}
	return strings.Join(r.Stem, "")
}

// byInitial reports whether a word is an initial and id, as pid is for a player or a party.
func byInitial(word string) bool {
	return len(word) == 3 && word[1:] == "id" && !slices.Contains(idWords, word) && !slices.Contains(notIDs, word)
}

// Abbreviates reports whether a word is another one, or short for it. Tables have short names less often than columns.
func Abbreviates(word, of string) bool {
	return word == of || len(word) >= 3 && strings.HasPrefix(of, word) || len(of) >= 4 && strings.HasPrefix(word, of)
}

// Alike says how well the stem of a column names a thing: 5 the same, 4 the same after other words, 3.5 in short, 3
// in short after other words, 2.5 before other words, 2 a part of it, 1.5 its initial, 1 in short before other words, 0
// not at all. A part is its beginning or its end, or two words of its beginning after others.
func Alike(stem, of []string) float64 {
	if len(stem) == 0 || len(of) == 0 {
		return 0
	}
	short := func(a, b []string) bool {
		return slices.EqualFunc(a, b, Abbreviates)
	}
	n, m := len(stem), len(of)
	switch {
	case letters(stem) == letters(of) && strings.Join(stem, "") == strings.Join(of, ""):
		return 5
	case n > m && slices.Equal(stem[n-m:], of) || endsJoined(stem, of):
		return 4
	case n == m && short(stem, of):
		return 3.5
	case n > m && short(stem[n-m:], of):
		return 3
	case n > m && slices.Equal(stem[:m], of):
		return 2.5
	case m > n && (slices.Equal(of[:n], stem) || slices.Equal(of[m-n:], stem)), n > 2 && m > 2 && slices.Equal(stem[n-2:], of[:2]):
		return 2
	case n > 1 && m > 1 && (Abbreviates(stem[n-1], of[m-1]) && len(of[m-1]) > 3 && !slices.Contains(roles, of[m-1])):
		return 1
	case m > n && (short(stem, of[:n]) || short(stem, of[m-n:])):
		return 1.5
	case byInitial(stem[n-1]) && (stem[n-1][0] == of[m-1][0] || stem[n-1][0] == of[0][0]):
		return 1.5
	case n > m && short(stem[:m], of):
		return 1
	case len(stem[n-1]) >= longThing && strings.HasSuffix(of[m-1], stem[n-1]): // reason, of reportreason
		return 2
	}
	return 0
}

// endsJoined reports whether the last words of a stem are those of a thing, which are written together.
func endsJoined(stem, of []string) bool {
	for i := 1; i < len(stem)-1; i++ {
		if letters(stem[i:]) == letters(of) && strings.Join(stem[i:], "") == strings.Join(of, "") {
			return true
		}
	}
	return false
}

// letters returns how long words are together.
func letters(words []string) (n int) {
	for _, w := range words {
		n += len(w)
	}
	return n
}

// OfPeople reports whether a table's rows are people, or stand for them.
func OfPeople(of []string) bool {
	people := []string{"player", "user", "account", "character", "char", "customer", "member", "person", "hero", "avatar", "role", "login", "employee", "profile"}
	return len(of) > 0 && (slices.Contains(people, of[len(of)-1]) || len(of) == 1 && slices.ContainsFunc(people, func(p string) bool { return Abbreviates(p, of[0]) && !ofGroups(of[0]) }))
}

// ofGroups reports whether a word is for kinds of people, or for what is said of them, such as usergroup.
func ofGroups(word string) bool {
	return slices.ContainsFunc([]string{"group", "title", "field", "log", "rank"}, func(end string) bool { return strings.HasSuffix(word, end) })
}

// Role reports whether a word of the name is a word for people that columns refer to, such as owner.
func (r Reading) Role() bool { return r.says(roles) }

// Relative reports whether a word of the name is a word for a row of the same table, such as parent.
func (r Reading) Relative() bool { return r.says(relatives) }

// Container reports whether a word of the name is a word for things that things are in, such as bag.
func (r Reading) Container() bool { return r.says(containers) }

// EndsInRole is Role of the last word.
func (r Reading) EndsInRole() bool { return r.endsIn(roles) }

// EndsInRelative is Relative of the last word.
func (r Reading) EndsInRelative() bool { return r.endsIn(relatives) }

// IsRole reports whether a word is a word for people that columns refer to.
func IsRole(word string) bool { return slices.Contains(roles, word) }

// NamesRow reports whether the name of a column says that it may have the names of rows: it ends like the column of a
// table that has the names, or has a word of that table or for somebody.
func NamesRow(name, table, column string) bool {
	has, want, things := Words(name), Words(column), Words(table)
	if len(has) == 0 || len(want) == 0 {
		return false
	}
	return has[len(has)-1] == want[len(want)-1] || slices.ContainsFunc(has, func(w string) bool {
		w = Singular(w)
		return IsRole(w) || slices.ContainsFunc(things, func(thing string) bool { return Singular(thing) == w })
	})
}

// IsKind reports whether a word ends the names of columns that say what kind of thing the ids beside them stand for.
func IsKind(word string) bool { return slices.Contains(kindWords, word) }

// Shortens reports whether a word may be short for another one: they begin alike, and it has some letters of the other
// one in their order, such as msg for message.
func Shortens(word, of string) bool {
	if len(word) < 2 || len(of) < len(word) || word[0] != of[0] {
		return false
	}
	for _, letter := range []byte(of) {
		if word != "" && word[0] == letter {
			word = word[1:]
		}
	}
	return word == ""
}
