package audit

import (
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/idcolumn"
	"github.com/shardsnow/snow/internal/refname"
)

// How well the names of a column and of a key must be alike, see refname.Likeness.
const (
	named   = 3   // the column is named after the table, or after its key
	closely = 3.5 // the words are the same, or short for them
	equally = 5
)

// A target is the key that a column refers to.
type target struct {
	*table
	key idcolumn.Column
	by  string // how that is known, in words
}

// refersTo returns the key that a column refers to by a foreign key, or by its name. It is false if there is none,
// or if the audit leaves out the table.
func (a *audit) refersTo(t *table, c idcolumn.Column) (target, bool) {
	i := slices.IndexFunc(t.references, func(r reference) bool { return strings.EqualFold(r.column, c.Name) })
	if i < 0 {
		return a.byName(t, c)
	}
	r := t.references[i]
	to := a.named[a.nameOf(r.schema, r.table)]
	if to == nil || to.ignored {
		return target{}, false
	}
	if r.to == "" && len(to.key) == 1 {
		r.to = to.key[0]
	}
	key, ok := to.column(r.to)
	return target{to, key, "it refers to"}, ok && isKey(to, key)
}

// names is what the names of a schema say.
type names struct {
	vocabulary *refname.Vocabulary
	keys       []refname.Key
	tables     []*table                       // of the keys
	alike      map[string][]int               // keys, by the beginnings of their words
	found      map[*table]map[string]*target  // by the columns
	namesakes  map[*table]map[string][]member // by the keys
}

// namesOf reads the names of a schema.
func (a *audit) namesOf(schema string) *names {
	if n := a.words[schema]; n != nil {
		return n
	}
	n := &names{alike: map[string][]int{}, found: map[*table]map[string]*target{}, namesakes: map[*table]map[string][]member{}}
	var all []*table
	var tables []refname.Table
	for _, t := range a.tables {
		if t.schema != schema {
			continue
		}
		names := refname.Table{Name: t.name}
		for _, c := range t.columns {
			if names.Columns = append(names.Columns, c.Name); c.Auto != "" {
				names.Counted = c.Name
			}
		}
		all, tables = append(all, t), append(tables, names)
	}
	n.vocabulary = refname.NewVocabulary(tables)
	for _, t := range all {
		n.found[t], n.namesakes[t] = map[string]*target{}, map[string][]member{}
		for _, c := range t.columns {
			if isKey(t, c) && c.Kind == idcolumn.Integer {
				k := refname.NewKey(n.column(t, c), c.Auto != "")
				for _, word := range beginnings(k.Thing, k.Reading.Stem) {
					n.alike[word] = append(n.alike[word], len(n.keys))
				}
				n.keys, n.tables = append(n.keys, k), append(n.tables, t)
			}
		}
	}
	for _, t := range all {
		for _, c := range t.columns {
			to := n.find(t, c)
			if n.found[t][c.Name] = to; to != nil && !t.refers(c) && c.Kind == idcolumn.Integer && isNarrow(c) {
				n.namesakes[to.table][to.key.Name] = append(n.namesakes[to.table][to.key.Name], member{t, c})
			}
		}
	}
	if a.words == nil {
		a.words = map[string]*names{}
	}
	a.words[schema] = n
	return n
}

// beginnings returns how words begin, together and each: words that are short for each other have that in common.
func beginnings(lists ...[]string) (all []string) {
	for _, list := range lists {
		for _, word := range append([]string{strings.Join(list, "")}, list...) {
			if word = word[:min(3, len(word))]; word != "" && !slices.Contains(all, word) {
				all = append(all, word)
			}
		}
	}
	return all
}

// refers reports whether a column is in a foreign key.
func (t *table) refers(c idcolumn.Column) bool {
	return slices.ContainsFunc(t.references, func(r reference) bool { return strings.EqualFold(r.column, c.Name) })
}

// column returns what the name of a column says.
func (n *names) column(t *table, c idcolumn.Column) refname.Column {
	return refname.Column{
		Table: t.name, Name: c.Name, Reading: n.vocabulary.ReadReference(c.Name), Thing: n.vocabulary.Thing(t.name),
		Alone: len(t.key) == 1 && strings.EqualFold(t.key[0], c.Name), Indexed: slices.Contains(t.key, c.Name),
	}
}

// byName returns the key that a column refers to by its name: user_id, ownerUserId or id_user for the table users or
// app_user. The name must say that the values are ids. Where it may mean two keys equally well, there is none.
func (a *audit) byName(t *table, c idcolumn.Column) (target, bool) {
	to := a.namesOf(t.schema).found[t][c.Name]
	if to == nil {
		return target{}, false
	}
	return *to, true
}

func (n *names) find(t *table, c idcolumn.Column) *target {
	column := n.column(t, c)
	own := refname.Alike(column.Reading.Stem, column.Thing) >= closely // it is the number of the row itself
	if !column.Reading.ID || c.Auto != "" || c.Kind == idcolumn.Other || column.Alone && (own || len(column.Reading.Stem) == 0) {
		return nil
	}
	least := float64(named)
	switch {
	case c.Kind != idcolumn.Integer: // texts may be ids of another program
		least = equally
	case column.Alone:
		least = closely
	}
	best, points, several := -1, 0.0, false
	for _, i := range n.candidates(column) {
		k := n.keys[i]
		if n.tables[i] == t && (strings.EqualFold(k.Name, c.Name) || !column.Reading.Relative()) {
			continue
		}
		switch p, why := refname.Likeness(column, k, false); {
		case p < least || why == refname.LikeSomebody && c.Kind != idcolumn.Integer:
		case p > points:
			best, points, several = i, p, false
		case p == points:
			several = true
		}
	}
	if best < 0 || several {
		return nil
	}
	to := n.tables[best]
	key, _ := to.column(n.keys[best].Name)
	return &target{to, key, "by its name it refers to"}
}

// candidates returns the keys that a column may be named after.
func (n *names) candidates(c refname.Column) (all []int) {
	lists := [][]string{c.Reading.Stem}
	if len(c.Reading.Stem) == 0 || c.Reading.Relative() {
		lists = append(lists, c.Thing)
	}
	for _, word := range beginnings(lists...) {
		all = append(all, n.alike[word]...)
	}
	if c.Reading.Role() {
		for i, k := range n.keys {
			if k.People {
				all = append(all, i)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
