package route

import (
	"slices"
	"strings"
)

// A selected is one of the things that a query selects.
type selected struct {
	plain       bool   // it is [table.]name, or a function of that
	function    string // in lower case, or empty
	table, name string // the name may be *
	as          string // its alias
}

// selection returns what a SELECT selects.
func selection(sql, dialect string) (all []selected) {
	s := scanner{sql: sql, dialect: dialect}
	s.next() // SELECT
	var item []token
	for depth := 0; ; {
		t := s.next()
		switch t.kind {
		case opened:
			depth++
		case closed:
			depth--
		}
		if last := t.kind == end || depth == 0 && t.kind == name && strings.EqualFold(t.text, "FROM"); last || depth == 0 && t.kind == comma {
			all = append(all, read(item))
			if item = item[:0]; last {
				return all
			}
			continue
		}
		item = append(item, t)
	}
}

// read reads one item: a column, or a function of one column, and an alias.
func read(item []token) (s selected) {
	n, implied := len(item), false
	if n > 1 && item[n-1].kind == name && item[n-2].kind != dot {
		s.as, implied = item[n-1].text, true
		if n--; n > 1 && item[n-1].kind == name && strings.EqualFold(item[n-1].text, "AS") {
			n, implied = n-1, false
		}
	}
	item = item[:n]
	if n > 3 && item[0].kind == name && item[1].kind == opened && item[n-1].kind == closed {
		s.function = strings.ToLower(item[0].text)
		item = item[2 : n-1]
	}
	column := func(t token) bool { return t.kind == name || t.kind == other && t.text == "*" }
	switch {
	case len(item) == 1 && column(item[0]):
		s.plain, s.name = true, item[0].text
	case len(item) == 3 && item[0].kind == name && item[1].kind == dot && column(item[2]):
		s.plain, s.table, s.name = true, item[0].text, item[2].text
	case implied:
		s.as = "" // it may be the end of an expression, as in x::double precision
	}
	return s
}

// gives reports whether the result has the column of a table under its name, and nothing else under that name.
func gives(all []selected, table, column string, joined bool) bool {
	is := strings.EqualFold
	found := false
	for _, s := range all {
		own := s.plain && s.function == "" && (s.table == "" || is(s.table, table))
		switch {
		case s.name == "*" && (!own || joined && s.table == ""):
			return false
		case own && s.name == "*", own && is(s.name, column) && (s.as == "" || is(s.as, column)):
			found = true
		case s.as == "" && !s.plain, // PostgreSQL calls x::text x
			s.as != "" && is(s.as, column), s.as == "" && is(s.name, column):
			return false
		}
	}
	return found
}

// aggregated reports whether all are functions whose values in several databases make one value.
func aggregated(all []selected) bool {
	return !slices.ContainsFunc(all, func(s selected) bool {
		return !s.plain || !slices.Contains([]string{"count", "sum", "min", "max"}, s.function)
	})
}
