package plan

import (
	"cmp"
	"slices"
	"strings"
)

// fewest is how many names a pattern must stand for to take their place.
const fewest = 3

// cover returns names and patterns that name some columns and no others, in a fixed order.
func cover(p *Plan, places []place) (names []Name) {
	left := map[*Column]bool{}
	for _, at := range places {
		left[at.column] = true
	}
	take := func(text string) bool {
		found, _, err := p.columns(Name{Text: text})
		if err != nil || len(found) < fewest || slices.ContainsFunc(found, func(at place) bool { return !left[at.column] }) {
			return false
		}
		for _, at := range found {
			delete(left, at.column)
		}
		names = append(names, Name{Text: text})
		return true
	}
	if len(places) >= fewest {
		every := "*" // table
		if len(p.Databases) > 0 {
			every = "*.*"
		}
		take(every + ".*")
		for _, of := range byName(places, func(at place) string { return at.column.Name }) {
			if name := escape(of[0].column.Name); len(of) >= fewest && !take(every+"."+name) {
				for _, prefix := range prefixes(of) {
					take(p.escapeTable(prefix) + "*." + name)
				}
			}
		}
		for _, of := range byName(places, func(at place) string { return at.table.Name }) {
			name := p.escapeTable(of[0].table.Name)
			if len(of) < fewest || take(name+".*") {
				continue
			}
			for _, numbered := range byName(of, func(at place) string { return strings.TrimRight(at.column.Name, "0123456789") }) {
				if stem := strings.TrimRight(numbered[0].column.Name, "0123456789"); stem != "" && len(numbered) >= fewest {
					take(name + "." + escape(stem) + "*")
				}
			}
		}
	}
	for _, at := range places {
		if left[at.column] {
			names = append(names, Name{Text: at.name(p)})
			delete(left, at.column)
		}
	}
	return names
}

// byName groups places, in the order of the names.
func byName(places []place, name func(place) string) (groups [][]place) {
	by := map[string][]place{}
	var names []string
	for _, at := range places {
		n := name(at)
		if by[n] == nil {
			names = append(names, n)
		}
		by[n] = append(by[n], at)
	}
	slices.Sort(names)
	for _, n := range names {
		groups = append(groups, by[n])
	}
	return groups
}

// prefixes returns what names of tables begin with, up to an underscore, the most frequent first.
func prefixes(places []place) (all []string) {
	count := map[string]int{}
	for _, at := range places {
		for i, r := range at.table.Name {
			if r == '_' && i > 0 {
				count[at.table.Name[:i+1]]++
			}
		}
	}
	for prefix, n := range count {
		if n >= fewest {
			all = append(all, prefix)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
	return all
}

// A shortener finds decisions step by step. After each step it looks at what plan the decisions make so far.
type shortener struct {
	plan, schema *Plan
	d            *Decisions
	made         *Plan
}

func (s *shortener) complete() (err error) {
	s.made, err = s.d.Complete(s.schema)
	return err
}

// groups calls write for each group of columns for which group returns the same text, with what it returned for the
// first.
func (s *shortener) groups(group func(place) (string, any), write func(made any, names []Name)) {
	places, firsts := map[string][]place{}, map[string]any{}
	var order []string
	for _, t := range s.plan.Tables {
		for _, c := range t.Columns {
			key, made := group(place{t, c})
			if made == nil {
				continue
			}
			if places[key] == nil {
				order, firsts[key] = append(order, key), made
			}
			places[key] = append(places[key], place{t, c})
		}
	}
	for _, key := range order {
		write(firsts[key], cover(s.schema, s.inSchema(places[key])))
	}
}

// exists reports whether what a column refers to exists: otherwise Check refuses the plan, and no entry of
// references can say it.
func (s *shortener) exists(at place) bool {
	return at.column.state().checkTables(s.schema, at.table, Name{}) == nil
}

// inSchema returns the same places in the schema.
func (s *shortener) inSchema(places []place) (same []place) {
	for _, at := range places {
		if t := s.schema.Table(at.table.Name); t != nil && t.Column(at.column.Name) != nil {
			same = append(same, place{t, t.Column(at.column.Name)})
		}
	}
	return same
}
