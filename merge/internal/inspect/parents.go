package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// likely is the share of sampled values that must be ids of a table for it to be proposed. The other values may be
// orphans.
const likely = 0.9

// A referenceFinder looks for references that no schema declares.
type referenceFinder struct {
	*evidence
	vocabulary *vocabulary
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
	for _, values := range f.values(t, c.Name) {
		for _, v := range values {
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
	only  *plan.Table // where there is a suspicion by many values, of this table and no other
}

// A candidate is a table whose ids some values may be.
type candidate struct {
	table *plan.Table
	score float64 // see alike
	found inclusion
}

// candidates looks up values in the tables that have a score, except the table of the column c itself.
func (f *referenceFinder) candidates(ctx context.Context, c *plan.Column, values ids, score func(table string) float64) (all []candidate) {
	for _, parent := range f.plan.Tables {
		if n := score(parent.Name); n > 0 && parent.Key() != nil && parent.Key() != c {
			all = append(all, candidate{parent, n, f.lookUp(ctx, values, parent, parent.Key())})
		}
	}
	return all
}

// How similar a name has to be to the name of a table, see alike.
const (
	inShort = 3.0
	aPart   = 2.0
)

// parents looks for the table whose ids values are: first by the name, then by the values alone, if the name says that
// they are ids or if they are too big to be anything else.
func (f *referenceFinder) parents(ctx context.Context, t *plan.Table, c *plan.Column, named refname.Reading, values ids) parentage {
	hinted := f.candidates(ctx, c, values, func(table string) float64 {
		if score := refname.Alike(named.Stem, f.vocabulary.thing(table)); score >= inShort || named.Named() && score >= aPart {
			return score
		}
		return 0
	})
	belongs := func(parent *plan.Table) int { // users.additionalgroups has ids of usergroups sooner than of settinggroups
		if parent != t && strings.HasPrefix(strings.Join(f.vocabulary.thing(parent.Name), ""), strings.Join(f.vocabulary.thing(t.Name), "")) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(hinted, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.found.share(), a.found.share()), cmp.Compare(belongs(b.table), belongs(a.table)))
	})
	for _, h := range hinted {
		full := slices.IndexFunc(hinted, func(other candidate) bool {
			return f.reach(values, h.table) < shortReach && other.found.share() == 1 && f.reach(values, other.table) >= fullReach
		})
		switch {
		case full >= 0 && h.found.share() >= likely && values.count() >= fewestFull:
			return parentage{why: fmt.Sprintf("its sampled values could be ids of %s, %s", h.table.Name, hinted[full].table.Name)}
		case values.count() == 0 && h.score >= inShort && named.Named():
			return parentage{table: h.table, why: fmt.Sprintf("named like an id of %s; it has no values", h.table.Name)}
		case h.found.share() >= likely || h.score >= 4 && h.found.share() >= mostRows:
			return parentage{table: h.table, why: fmt.Sprintf("named like an id of %s, and %s sampled values are", h.table.Name, h.found)}
		}
	}
	// A key is the key of another table only if the names say so.
	big := values.big()
	isBig := big.count() >= 3
	if c.Role == plan.RoleKey || !isBig && !named.Named() {
		return parentage{}
	}
	if isBig {
		values = big
	}
	owners := f.candidates(ctx, c, values.some(surveyedKeys), func(string) float64 { return 1 })
	owners = slices.DeleteFunc(owners, func(o candidate) bool { return o.found.share() < likely })
	var tables []string
	for _, o := range owners {
		tables = append(tables, o.table.Name)
	}
	listed := strings.Join(tables, ", ")
	people := slices.DeleteFunc(slices.Clone(owners), func(o candidate) bool { return !refname.OfPeople(f.vocabulary.thing(o.table.Name)) })
	// The logins of members say more about members.
	slices.SortStableFunc(people, func(a, b candidate) int {
		return cmp.Compare(len(f.vocabulary.thing(a.table.Name)), len(f.vocabulary.thing(b.table.Name)))
	})
	if len(people) > 1 && len(f.vocabulary.thing(people[0].table.Name)) < len(f.vocabulary.thing(people[1].table.Name)) {
		people = people[:1]
	}
	switch {
	case len(owners) == 1 && isBig:
		return parentage{table: owners[0].table, why: fmt.Sprintf("%s sampled values are ids of %s", owners[0].found, tables[0])}
	case slices.Contains(tables, t.Name) && named.EndsInRelative():
		return parentage{table: t, why: "named like a row of the same table, and its sampled values could be ids of " + listed}
	case len(people) == 1 && named.EndsInRole():
		return parentage{table: people[0].table, why: "named like somebody, and its sampled values could be ids of " + listed}
	case len(owners) > 0:
		return parentage{why: "its sampled values could be ids of " + listed}
	case len(hinted) > 0 && hinted[0].score >= inShort && named.Named():
		h := hinted[0]
		return parentage{why: fmt.Sprintf("named like an id of %s, but only %s sampled values are", h.table.Name, h.found)}
	}
	return parentage{}
}

// reach returns how far values reach over the ids of a table, from 0 to 1.
func (f *referenceFinder) reach(values ids, t *plan.Table) (reach float64) {
	sources := 0.0
	for source, of := range values {
		if r := f.ranges[tableOf{source, t.Name}]; len(of) > 0 && r.any {
			sources++
			if reach++; r.max > r.min {
				reach += min(1, float64(slices.Max(of)-r.min)/float64(r.max-r.min)) - 1
			}
		}
	}
	return reach / max(1, sources)
}

// sampled returns the ids of a column in each source, and false if its values are neither integers nor texts of
// numbers.
func (f *referenceFinder) sampled(t *plan.Table, c *plan.Column) (ids, bool) {
	found := ids{}
	for source, values := range f.values(t, c.Name) {
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
	return found, s.IsNumber() && (s.Bits == 0 || s.Bits >= 16) || s.Kind == sqltype.Text && found.count() > 0
}

// groups returns the ids of a column by the values of another one, or nil if it has more than most.
func (f *referenceFinder) groups(t *plan.Table, column, by string, most int) map[string]ids {
	groups := map[string]ids{}
	for _, source := range f.plan.SourcesOf(t) {
		s := f.samples[tableOf{source, t.Name}]
		at, kind := s.index(column), s.index(by)
		if at < 0 || kind < 0 {
			continue
		}
		values := map[string][]any{}
		for _, row := range s.rows {
			if row[kind] != nil {
				text := sqlvalue.Text(row[kind])
				values[text] = append(values[text], row[at])
			}
			if len(values) > most {
				return nil
			}
		}
		for value, of := range values {
			if groups[value] == nil {
				groups[value] = ids{}
			}
			groups[value][source] = distinct(of)
		}
	}
	if len(groups) > most {
		return nil
	}
	return groups
}

// Values without a name that says they are ids may be ids if there are at least this many different ones, or fewer that
// are not small.
const (
	FewestUnnamed = 20
	fewestLarge   = 5
	large         = 1000
)

// unnamed looks for the tables whose ids values could be, where no name says so: all values must be ids of a table,
// and reach far enough that it is no accident of small numbers. Numbers that ascend with the rows look like ids of
// their own table.
func (f *referenceFinder) unnamed(ctx context.Context, t *plan.Table, c *plan.Column, values ids) parentage {
	if !many(values) {
		return parentage{}
	}
	tables := slices.DeleteFunc(f.having(ctx, c, values, 1), func(owner *plan.Table) bool { return owner == t })
	if len(tables) == 0 {
		return parentage{}
	}
	found := parentage{why: fmt.Sprintf("all of %d sampled values could be ids of %s", values.some(surveyedKeys).count(), strings.Join(names(tables), ", "))}
	if len(tables) == 1 {
		found.only = tables[0]
	}
	return found
}

// having returns the tables that have a share of some values or more as ids, and that the values reach, see reaches.
func (f *referenceFinder) having(ctx context.Context, c *plan.Column, values ids, share float64) (owners []*plan.Table) {
	for _, t := range f.plan.Tables {
		if t.Key() != nil && t.Key() != c && f.reaches(values, t) && f.lookUp(ctx, values.some(surveyedKeys), t, t.Key()).share() >= share {
			owners = append(owners, t)
		}
	}
	return owners
}

// many reports whether there are enough values, for their size, to be found among the ids of a table by no accident.
func many(values ids) bool {
	least := int64(large)
	for _, of := range values {
		for _, id := range of {
			least = min(least, id)
		}
	}
	n := values.count()
	return n >= FewestUnnamed || n >= fewestLarge && least >= large
}

// Reaches reports whether the highest of some values is in the upper half of the ids of a table, which are from low to
// high. Small numbers are ids of every table.
func Reaches(values []int64, low, high int64) bool {
	return len(values) > 0 && slices.Max(values) >= low+(high-low)/2
}

// reaches reports whether values reach the ids of a table in some source, see [Reaches].
func (f *referenceFinder) reaches(values ids, t *plan.Table) bool {
	for source, of := range values {
		r := f.ranges[tableOf{source, t.Name}]
		if r.any && Reaches(of, r.min, r.max) {
			return true
		}
	}
	return false
}

// names returns the names of tables.
func names(tables []*plan.Table) (all []string) {
	for _, t := range tables {
		all = append(all, t.Name)
	}
	return all
}
