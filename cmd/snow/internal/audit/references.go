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

// refersTo returns the key that a column refers to by a foreign key, or by its name. It is false if there is none, or if
// the audit leaves out the table.
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
	tables     []*table // of the keys
}

// namesOf collects the names of a schema.
func (a *audit) namesOf(schema string) *names {
	if n := a.words[schema]; n != nil {
		return n
	}
	n := &names{}
	var tables []refname.Table
	for _, t := range a.tables {
		if t.schema != schema {
			continue
		}
		all := refname.Table{Name: t.name}
		for _, c := range t.columns {
			all.Columns = append(all.Columns, c.Name)
		}
		tables = append(tables, all)
	}
	n.vocabulary = refname.NewVocabulary(tables)
	for _, t := range a.tables {
		for _, c := range t.columns {
			if t.schema == schema && isKey(t, c) && c.Kind == idcolumn.Integer {
				n.keys = append(n.keys, refname.NewKey(n.column(t, c), c.Auto != ""))
				n.tables = append(n.tables, t)
			}
		}
	}
	if a.words == nil {
		a.words = map[string]*names{}
	}
	a.words[schema] = n
	return n
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
	n := a.namesOf(t.schema)
	column := n.column(t, c)
	own := refname.Alike(column.Reading.Stem, column.Thing) >= closely // it is the number of the row itself
	if !column.Reading.ID || c.Auto != "" || c.Kind == idcolumn.Other || column.Alone && (own || len(column.Reading.Stem) == 0) {
		return target{}, false
	}
	least := float64(named)
	switch {
	case c.Kind != idcolumn.Integer: // texts may be ids of another program
		least = equally
	case column.Alone:
		least = closely
	}
	best, points, several := -1, 0.0, false
	for i, k := range n.keys {
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
		return target{}, false
	}
	to := n.tables[best]
	key, _ := to.column(n.keys[best].Name)
	return target{to, key, "by its name it refers to"}, true
}

// namesakes returns the integers without 64 bits that refer to a key by their names.
func (a *audit) namesakes(t *table, key idcolumn.Column) (found []member) {
	for _, other := range a.tables {
		for _, c := range other.columns {
			if c.Kind != idcolumn.Integer || !isNarrow(c) || other.schema != t.schema || slices.ContainsFunc(other.references, func(r reference) bool { return strings.EqualFold(r.column, c.Name) }) {
				continue
			}
			if to, ok := a.byName(other, c); ok && to.table == t && to.key.Name == key.Name {
				found = append(found, member{other, c})
			}
		}
	}
	return found
}
