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
