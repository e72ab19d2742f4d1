package refname

import (
	"slices"
	"strings"
)

// A Table is the names of a table and of its columns.
type Table struct {
	Name    string // without a schema
	Columns []string
	Counted string // the column that the database counts up, or ""
}

// A Vocabulary takes names apart, with the help of the words of a schema.
type Vocabulary struct {
	things map[string]bool   // words of the names of tables
	all    map[string]bool   // those and the words of columns
	prefix []string          // the words that nearly all tables begin with
	common map[string]bool   // what the keys of several tables are called, such as rowid
	counts map[string]int    // in how many tables a word is the name of the key, such as tid
	keys   []string          // what keys are called that the database counts up, such as uid, without those called id
	habits map[string]string // by table: the word that nearly all of its columns begin with
}

// manyKeys is how many tables must count a column of one name up for the name to say nothing of any of them.
const manyKeys = 3

// NewVocabulary collects the words of a schema.
func NewVocabulary(tables []Table) *Vocabulary {
	v := &Vocabulary{things: map[string]bool{}, all: map[string]bool{}, common: map[string]bool{}, counts: map[string]int{}, habits: map[string]string{}}
	for word := ""; ; {
		if word = v.nextPrefix(tables); word == "" {
			break
		}
		v.prefix = append(v.prefix, word)
	}
	for _, t := range tables {
		v.habits[t.Name] = habit(t)
		word := strings.ToLower(t.Counted)
		if byInitial(word) {
			v.counts[word]++
		}
		if len(word) == 3 && strings.HasSuffix(word, "id") && !slices.Contains(v.keys, word) {
			v.keys = append(v.keys, word)
		}
		for _, w := range v.Thing(t.Name) {
			if len(w) >= 3 {
				v.things[w], v.all[w] = true, true
			}
		}
		for _, c := range t.Columns {
			for _, w := range Words(c) {
				if len(w) >= 4 && !strings.HasSuffix(w, "id") {
					v.all[Singular(w)] = true
				}
			}
		}
	}
	for _, list := range [][]string{roles, containers} {
		for _, w := range list {
			v.all[w] = true
		}
	}
	v.findCommon(tables)
	return v
}

// nextPrefix returns the word that nearly all tables have after the words that they are known to begin with, or "".
func (v *Vocabulary) nextPrefix(tables []Table) string {
	next := map[string]int{}
	for _, t := range tables {
		if w := Words(t.Name); len(w) > len(v.prefix)+1 && slices.Equal(w[:len(v.prefix)], v.prefix) {
			next[w[len(v.prefix)]]++
		}
	}
	for word, n := range next {
		if n >= 4 && n*10 >= len(tables)*6 {
			return word
		}
	}
	return ""
}

// habit returns the word that nearly all columns of a table begin with, or "".
func habit(t Table) string {
	first := map[string]int{}
	for _, c := range t.Columns {
		if w := Words(c); len(w) > 1 {
			first[w[0]]++
		}
	}
	for word, n := range first {
		if n >= 4 && n*10 >= len(t.Columns)*7 {
			return word
		}
	}
	return ""
}

// ReadIn reads the name of a column of a table, without the word that all of its columns begin with.
func (v *Vocabulary) ReadIn(table, column string) Reading {
	if w := Words(column); len(w) > 1 && w[0] == v.habits[table] {
		if r := v.Read(strings.Join(w[1:], "_")); len(r.Stem) > 0 {
			return r
		}
	}
	return v.Read(column)
}

// findCommon finds the names that several tables count up, and that are the name of no table.
func (v *Vocabulary) findCommon(tables []Table) {
	counted := map[string]int{}
	for _, t := range tables {
		counted[strings.ToLower(t.Counted)]++
	}
	for name, n := range counted {
		stem := v.Read(name).Stem
		if n >= manyKeys && len(stem) > 0 && !byInitial(name) && !slices.ContainsFunc(tables, func(t Table) bool { return Alike(stem, v.Thing(t.Name)) >= 3.5 }) {
			v.common[strings.Join(stem, "")] = true
		}
	}
}

// Thing returns the words of the name of a table, each in the singular.
func (v *Vocabulary) Thing(table string) []string {
	w := Words(table)
	for _, word := range v.prefix {
		if len(w) > 1 && w[0] == word {
			w = w[1:]
		}
	}
	if len(w) > 1 && slices.Contains([]string{"t", "tb", "tbl", "tab", "table"}, w[0]) {
		w = w[1:]
	}
	for i := range w {
		w[i] = Singular(w[i])
	}
	if len(w) == 0 { // it has neither letters nor digits
		return []string{table}
	}
	return w
}

// split takes apart words that are written together, such as itemguid.
func (v *Vocabulary) split(word string) []string {
	if v.things[word] || slices.Contains(idWords, word) || slices.Contains(notIDs, word) || slices.Contains(roles, word) {
		return []string{word}
	}
	for _, id := range []string{"guid", "uid", "id", "key"} {
		before, ok := strings.CutSuffix(word, id)
		if !ok || len(before) < 2 || id != "guid" && !v.known(before) {
			continue
		}
		return append(v.split(before), id)
	}
	if before, ok := strings.CutSuffix(word, "by"); ok && len(before) > 3 && strings.HasSuffix(before, "ed") {
		return []string{before, "by"}
	}
	if before, ok := strings.CutSuffix(word, "to"); ok && slices.Contains(relatives, before) {
		return []string{before, "to"}
	}
	if before, ok := strings.CutSuffix(word, "list"); ok && len(before) >= 4 {
		return append(v.split(before), "list")
	}
	for _, key := range v.keys {
		if before, ok := strings.CutSuffix(word, key); ok && len(before) >= 2 {
			return append(v.split(before), key)
		}
	}
	for _, turn := range turns {
		if after, ok := strings.CutPrefix(word, turn); ok && v.things[after] {
			return []string{turn, after}
		}
	}
	for at := 3; at <= len(word)-3; at++ {
		a, b := word[:at], word[at:]
		if v.counts[b] > 0 || len(b) >= longThing && at <= longStart && v.things[b] {
			return append(v.split(a), b)
		}
		if (v.things[a] || slices.Contains(roles, a) || slices.Contains(containers, a)) && (v.things[b] || slices.Contains(roles, b)) {
			return []string{a, b}
		}
	}
	return []string{word}
}

// The name of a table of at least longThing letters is recognised behind at most longStart others.
const longThing, longStart = 5, 7

// known reports whether a word, or the beginning of one, is in the schema.
func (v *Vocabulary) known(word string) bool {
	if v.all[word] || v.all[Singular(word)] {
		return true
	}
	for thing := range v.things {
		if len(word) >= 3 && strings.HasPrefix(thing, word) {
			return true
		}
	}
	for at := 3; at <= len(word)-3; at++ {
		if v.all[word[:at]] && v.all[word[at:]] {
			return true
		}
	}
	return false
}

// Read reads the name of a column.
func (v *Vocabulary) Read(name string) Reading {
	var r Reading
	for _, word := range Words(name) {
		digits := strings.TrimRight(word, "0123456789")
		if digits == "" {
			continue
		}
		r.Plural = digits != Singular(digits)
		for _, part := range v.split(Singular(digits)) {
			r.Words = append(r.Words, part)
			if slices.Contains(idWords, part) || part == "key" && len(r.Stem) > 0 {
				r.ID, r.Word = true, part
				r.First = r.First || len(r.Words) == 1
			} else {
				r.Stem = append(r.Stem, part)
				r.ID = r.ID || byInitial(part)
				r.Shared = v.counts[part] >= manyKeys
			}
		}
	}
	if v.common[strings.Join(r.Stem, "")] {
		r.ID, r.Common, r.Stem = true, true, nil
	}
	r.Common = r.Common || len(r.Stem) == 0 && slices.Equal(r.Words, []string{"id"})
	if n := len(r.Stem); n > 0 && !r.ID {
		last := r.Stem[n-1]
		r.Quantity = slices.Contains(quantities, last) || n > 1 && slices.Contains(yesOrNo, r.Words[0]) || r.Plural || slices.Contains(kindWords, last) && !v.things[last]
	}
	return r
}

// ReadReference reads a name where nothing but the name and the values can say whose ids there are.
func (v *Vocabulary) ReadReference(name string) Reading {
	r := v.Read(name)
	if len(r.Words) == 0 {
		return r
	}
	of, ok := byLetter[r.Words[len(r.Words)-1]]
	if !ok {
		return r
	}
	if n := len(r.Stem); n > 0 && byInitial(r.Stem[n-1]) {
		r.Stem = r.Stem[:n-1]
	}
	if len(r.Stem) == 0 {
		r.Stem = []string{of}
	}
	r.ID, r.Quantity = true, false
	return r
}

// ReadList reads the name of a column that has several ids in a value.
func (v *Vocabulary) ReadList(name string) Reading {
	r := v.ReadReference(name)
	if n := len(r.Stem); n > 1 && slices.Contains(listWords, r.Stem[n-1]) {
		r.Stem = r.Stem[:n-1]
	}
	r.ID = true // a list of numbers deserves a look, whatever its name is
	return r
}

// NamesIDs reports whether the name of a column says that its values are ids.
func (v *Vocabulary) NamesIDs(column string) bool {
	r := v.ReadReference(column)
	return r.ID || r.Named() && !r.Plural
}
