package inspect

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// likely is the share of sampled values that must be ids of a table, for it to be
// proposed. The other values may be orphans.
const likely = 0.9

// A referenceFinder looks for references that no schema declares.
type referenceFinder struct{ *evidence }

// find looks at the columns that are plain by the schema.
func (f *referenceFinder) find(ctx context.Context) error {
	// Keys that are keys of another table come first: they are no candidates for what follows.
	for _, t := range f.plan.Tables {
		if key := t.Key(); key != nil && f.borrowed(t, key) {
			if err := f.undeclared(ctx, t, key); err != nil {
				return err
			}
		}
	}
	for _, t := range f.plan.Tables {
		for _, look := range []func(context.Context, *plan.Table, *plan.Column) error{f.polymorphic, f.undeclared, f.json, f.list} {
			for _, c := range t.Columns {
				if c.Generated != "" || c.Name == t.Created || c.Role != plan.RolePlain {
					continue
				}
				if err := look(ctx, t, c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// borrowed reports whether a key may be the key of another table, as in a table
// with details of the same rows.
func (f *referenceFinder) borrowed(t *plan.Table, c *plan.Column) bool {
	named := readName(c.Name)
	for _, source := range f.plan.SourcesOf(t) {
		if slices.Contains(f.catalogs[source].Table(t.Name).Numbered, c.Name) && f.dialect != sqldialect.SQLite {
			return false // SQLite counts up every integer key
		}
	}
	return named.named && len(named.stem) > 0 && match(named.stem, t.Name) == 0
}

// sampled returns the ids of a column in each source, and false if its values are neither integers
// nor texts of numbers.
func (f *referenceFinder) sampled(t *plan.Table, c *plan.Column) (ids, bool) {
	found := ids{}
	for _, source := range f.plan.SourcesOf(t) {
		values := f.samples[tableOf{source, t.Name}].values(c.Name)
		found[source] = distinct(values)
		numbers, others := 0, 0
		for _, v := range values {
			if _, ok := sqlvalue.ParseID(sqlvalue.Text(v)); ok {
				numbers++
			} else if strings.TrimSpace(sqlvalue.Text(v)) != "" {
				others++
			}
		}
		if others > numbers/10 {
			return nil, false
		}
	}
	s := sqltype.Of(f.dialect, c.Type)
	return found, s.Kind == sqltype.Integer && s.Bits >= 16 || s.Kind == sqltype.Text && found.count() > 0
}

// undeclared looks for references without a foreign key.
func (f *referenceFinder) undeclared(ctx context.Context, t *plan.Table, c *plan.Column) error {
	values, ok := f.sampled(t, c)
	if !ok {
		return nil
	}
	named := readName(c.Name)
	if named.plural {
		named = idName{} // how many there are, and not which
	}
	found, err := f.parents(ctx, t, c, named, values)
	if err != nil {
		return err
	}
	switch {
	case found.table != nil:
		f.propose(t, c, plan.RoleReference, &plan.Reference{Table: found.table.Name})
		addSuspect(c, "a reference without a foreign key? %s", found.why)
		f.none(t, c)
	case found.why != "":
		c.Role = plan.RoleUndecided
		addSuspect(c, "a reference? %s", found.why)
		f.none(t, c)
	case named.named && c.Role == plan.RolePlain && values.count() > 0 && !slices.Equal(words(c.Name), []string{"id"}):
		t.AddNote("column %s: named like a reference, but its values are ids of no table", c.Name)
	}
	return nil
}

// propose gives a column a role that people have to confirm.
func (f *referenceFinder) propose(t *plan.Table, c *plan.Column, role plan.Role, refers ...*plan.Reference) {
	if c.Role == plan.RoleKey {
		t.NewIDs = nil
	}
	c.Role, c.Refers = role, refers
}

// none fills in the values that stand for no row.
func (f *referenceFinder) none(t *plan.Table, c *plan.Column) {
	for _, source := range f.plan.SourcesOf(t) {
		for _, v := range f.samples[tableOf{source, t.Name}].values(c.Name) {
			text := sqlvalue.Text(v)
			if id, ok := sqlvalue.ParseID(text); (!ok && text == "" || ok && id <= 0) && !slices.Contains(c.None, text) {
				c.None = append(c.None, text)
			}
		}
	}
	slices.Sort(c.None)
}

// A parentage is the table whose ids some values are, or a suspicion.
type parentage struct {
	table *plan.Table // where there is a proposal
	why   string      // where there is a suspicion
}

// parents looks for the table whose ids values are: first by the name, then by the
// values alone, if the name says that they are ids, or if they are too big to be
// anything else.
func (f *referenceFinder) parents(ctx context.Context, t *plan.Table, c *plan.Column, named idName, values ids) (parentage, error) {
	type candidate struct {
		table *plan.Table
		score int
		found inclusion
	}
	var hinted []candidate
	for _, parent := range f.plan.Tables {
		if parent.Key() == nil || parent.Key() == c {
			continue
		}
		score := match(named.stem, parent.Name)
		if score == 1 && !named.named || score == 0 {
			continue
		}
		found, err := f.lookUp(ctx, values, parent)
		if err != nil {
			return parentage{}, err
		}
		hinted = append(hinted, candidate{parent, score, found})
	}
	slices.SortStableFunc(hinted, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.found.share(), a.found.share()))
	})
	for _, h := range hinted {
		switch {
		case values.count() == 0 && h.score > 1 && named.named:
			return parentage{h.table, fmt.Sprintf("named like an id of %s; it has no values", h.table.Name)}, nil
		case h.found.share() >= likely:
			return parentage{h.table, fmt.Sprintf("named like an id of %s, and %s sampled values are", h.table.Name, h.found)}, nil
		}
	}
	// A key is the key of another table only if the names say so.
	if c != nil && c.Role == plan.RoleKey {
		return parentage{}, nil
	}
	big := values.big()
	if big.count() >= 3 {
		values = big
	} else if !named.named {
		return parentage{}, nil
	}
	var owners []candidate
	for _, parent := range f.plan.Tables {
		if parent.Key() == nil || parent.Key() == c {
			continue
		}
		found, err := f.lookUp(ctx, values.first(surveyedKeys), parent)
		if err != nil {
			return parentage{}, err
		}
		if found.share() >= likely {
			owners = append(owners, candidate{table: parent, found: found})
		}
	}
	var tables []string
	for _, o := range owners {
		tables = append(tables, o.table.Name)
	}
	people := slices.DeleteFunc(slices.Clone(owners), func(o candidate) bool { return !ofPeople(o.table.Name) })
	switch {
	case len(owners) == 1 && big.count() >= 3:
		return parentage{owners[0].table, fmt.Sprintf("%s sampled values are ids of %s", owners[0].found, tables[0])}, nil
	case slices.Contains(tables, t.Name) && named.relative():
		return parentage{t, "named like a row of the same table, and its sampled values could be ids of " + strings.Join(tables, ", ")}, nil
	case len(people) == 1 && named.person():
		return parentage{people[0].table, "named like somebody, and its sampled values could be ids of " + strings.Join(tables, ", ")}, nil
	case len(owners) > 0:
		return parentage{why: "its sampled values could be ids of " + strings.Join(tables, ", ")}, nil
	case len(hinted) > 0 && hinted[0].score > 1 && named.named:
		h := hinted[0]
		return parentage{why: fmt.Sprintf("named like an id of %s, but only %s sampled values are", h.table.Name, h.found)}, nil
	}
	return parentage{}, nil
}

// polymorphic looks for a column beside c that names the table of its ids.
func (f *referenceFinder) polymorphic(ctx context.Context, t *plan.Table, c *plan.Column) error {
	named := readName(c.Name)
	if _, ok := f.sampled(t, c); !ok || !named.named {
		return nil
	}
	for _, by := range t.Columns {
		w := words(by.Name)
		if by == c || by.Role != plan.RolePlain || len(w) == 0 || !slices.Contains([]string{"type", "kind", "class", "table", "model"}, w[len(w)-1]) ||
			!slices.Equal(w[:len(w)-1], named.stem) {
			continue
		}
		groups := map[string]ids{}
		for _, source := range f.plan.SourcesOf(t) {
			s := f.samples[tableOf{source, t.Name}]
			at := slices.IndexFunc(s.columns, func(other *plan.Column) bool { return other.Name == c.Name })
			kind := slices.IndexFunc(s.columns, func(other *plan.Column) bool { return other.Name == by.Name })
			if at < 0 || kind < 0 {
				continue
			}
			values := map[string][]any{}
			for _, row := range s.rows {
				if row[kind] != nil {
					values[sqlvalue.Text(row[kind])] = append(values[sqlvalue.Text(row[kind])], row[at])
				}
			}
			for value, of := range values {
				if groups[value] == nil {
					groups[value] = ids{}
				}
				groups[value][source] = distinct(of)
			}
		}
		if len(groups) == 0 || len(groups) > 50 {
			continue
		}
		refers, why, resolved := []*plan.Reference{}, []string{}, 0
		for _, value := range slices.Sorted(maps.Keys(groups)) {
			name := idName{named: true, stem: thing(value[strings.LastIndexAny(value, `\/.:`)+1:])}
			found, err := f.parents(ctx, t, c, name, groups[value])
			if err != nil {
				return err
			}
			r := &plan.Reference{Value: value}
			switch {
			case found.table != nil:
				r.Table = found.table.Name
				resolved++
			case found.why != "":
				why = append(why, fmt.Sprintf("with %s %q: %s", by.Name, value, found.why))
			default:
				why = append(why, fmt.Sprintf("with %s %q: ids of no table, copied as they are", by.Name, value))
			}
			refers = append(refers, r)
		}
		if resolved == 0 {
			continue
		}
		f.propose(t, c, plan.RolePolymorphic, refers...)
		c.By = by.Name
		addSuspect(c, "does %s say whose ids these are? Its values are from a sample: there may be more", by.Name)
		c.Suspects = append(c.Suspects, why...)
		f.none(t, c)
		return nil
	}
	return nil
}

// list looks for several ids in one text.
func (f *referenceFinder) list(ctx context.Context, t *plan.Table, c *plan.Column) error {
	element, array := sqltype.Element(f.dialect, c.Type)
	if sqltype.Of(f.dialect, c.Type).Kind != sqltype.Text && !(array && (element.Kind == sqltype.Integer || element.Kind == sqltype.Text)) {
		return nil
	}
	for _, separator := range []string{",", ";", "|", " ", ":", "/"} {
		values, several := ids{}, 0
		fits := true
		for _, source := range f.plan.SourcesOf(t) {
			var all []any
			for _, v := range f.samples[tableOf{source, t.Name}].values(c.Name) {
				text := sqlvalue.Text(v)
				if array { // as it is written: {3,17,NULL}
					text = strings.NewReplacer("{", "", "}", "", "NULL", "").Replace(text)
				}
				parts := strings.Split(text, separator)
				for _, part := range parts {
					part = strings.TrimSpace(part)
					if _, ok := sqlvalue.ParseID(part); ok {
						all = append(all, part)
					} else if part != "" {
						fits = false
					}
				}
				if array || len(parts) > 1 {
					several++
				}
			}
			values[source] = distinct(all)
		}
		if !fits || several == 0 || values.count() == 0 {
			continue
		}
		named := readName(c.Name)
		hint := named
		hint.named = true // a list of numbers deserves a look, whatever its name is
		found, err := f.parents(ctx, t, c, hint, values)
		if err != nil {
			return err
		}
		switch {
		case found.table != nil:
			f.propose(t, c, plan.RoleList, &plan.Reference{Table: found.table.Name})
			if separator != "," {
				c.Separator = separator
			}
			addSuspect(c, "a list of ids? %s", found.why)
		case found.why != "":
			c.Role = plan.RoleUndecided
			addSuspect(c, "a list of numbers, separated by %s: %s", strconv.Quote(separator), found.why)
		}
		return nil
	}
	return nil
}
