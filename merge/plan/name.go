package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// special are the characters that a backslash makes part of a name.
const special = `\.*(),`

// escape writes a name so that it stands for itself in a pattern.
func escape(name string) string {
	var b strings.Builder
	for _, r := range name {
		if strings.ContainsRune(special, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// A glob is a name where stars stand for any characters: the texts between the stars.
type glob []string

func (g glob) isExact() bool { return len(g) == 1 }

func (g glob) match(name string) bool {
	if g.isExact() {
		return name == g[0]
	}
	rest, ok := strings.CutPrefix(name, g[0])
	if !ok {
		return false
	}
	for _, part := range g[1 : len(g)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, g[len(g)-1])
}

// A pattern names tables, columns of tables, or a unique key of tables.
type pattern struct {
	table   glob
	columns []glob // none for tables, one for columns, all of them for a unique key
}

func (p pattern) isExact() bool {
	return p.table.isExact() && !slices.ContainsFunc(p.columns, func(g glob) bool { return !g.isExact() })
}

// parseName reads table, table.column or table(column, column). Where names of tables are qualified, they begin
// with that of a database and a dot.
func parseName(text string, qualified bool) (pattern, error) {
	var p pattern
	inDatabase := qualified // until its dot
	part, within := glob{""}, false
	end := func() {
		if p.table == nil {
			p.table = part
		} else {
			p.columns = append(p.columns, part)
		}
		part = glob{""}
	}
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		last := len(part) - 1
		switch {
		case r == '\\':
			if i++; i == len(runes) || !strings.ContainsRune(special, runes[i]) {
				return p, errors.New("a backslash must be before one of " + special)
			}
			part[last] += string(runes[i])
		case r == '*':
			part = append(part, "")
		case r == '.' && inDatabase && !within:
			part[last] += "."
			inDatabase = false
		case r == '.' && p.table == nil && !within:
			end()
		case r == '(' && p.table == nil && !within:
			within = true
			end()
		case r == ',' && within:
			end()
			for i+1 < len(runes) && runes[i+1] == ' ' {
				i++
			}
		case r == ')' && within && i == len(runes)-1:
			end()
			return p, p.check(inDatabase)
		case strings.ContainsRune(special, r):
			return p, fmt.Errorf("%q is in the wrong place; a backslash before it makes it part of the name", r)
		default:
			part[last] += string(r)
		}
	}
	if within {
		return p, errors.New("a parenthesis is not closed")
	}
	end()
	return p, p.check(inDatabase)
}

func (p pattern) check(unqualified bool) error {
	if unqualified {
		return errors.New("want the name of a database and a dot before the table")
	}
	for _, g := range append([]glob{p.table}, p.columns...) {
		if g.isExact() && g[0] == "" {
			return errors.New("a name is empty")
		}
	}
	return nil
}

// parse returns the pattern of a name that must have so many columns, or -1 for at least one.
func (p *Plan) parse(n Name, columns int) (pattern, error) {
	g, err := parseName(n.Text, len(p.Databases) > 0)
	switch {
	case err != nil:
	case columns == 0 && len(g.columns) > 0:
		err = errors.New("want the name of a table")
	case columns == 1 && len(g.columns) != 1:
		err = errors.New("want table.column")
	case columns < 0 && len(g.columns) == 0:
		err = errors.New("want table(column, column) or table.column")
	}
	if err != nil {
		return g, n.fault("%q: %v", n.Text, err)
	}
	return g, nil
}

// fault returns an error that names the line.
func (n Name) fault(format string, args ...any) error {
	return &Error{Line: n.Line, Reason: fmt.Sprintf(format, args...)}
}

// tables returns the tables that a name or pattern names: at least one.
func (p *Plan) tables(n Name) (found []*Table, err error) {
	g, err := p.parse(n, 0)
	if err != nil {
		return nil, err
	}
	for _, t := range p.Tables {
		if g.table.match(t.Name) {
			found = append(found, t)
		}
	}
	if len(found) == 0 {
		return nil, n.fault("%q names no table of the sources", n.Text)
	}
	return found, nil
}

// A place is a column of a table.
type place struct {
	table  *Table
	column *Column
}

func (p place) name(of *Plan) string {
	return of.escapeTable(p.table.Name) + "." + escape(p.column.Name)
}

// raw is the name as questions have it.
func (p place) raw() string { return p.table.Name + "." + p.column.Name }

// columns returns the columns that a name or pattern names, in the plan's order: at least one.
func (p *Plan) columns(n Name) (found []place, exact bool, err error) {
	g, err := p.parse(n, 1)
	if err != nil {
		return nil, false, err
	}
	isTable := false
	for _, t := range p.Tables {
		if !g.table.match(t.Name) {
			continue
		}
		isTable = true
		for _, c := range t.Columns {
			if g.columns[0].match(c.Name) {
				found = append(found, place{t, c})
			}
		}
	}
	switch {
	case len(found) > 0:
		return found, g.isExact(), nil
	case !isTable:
		return nil, false, n.fault("%q names no table of the sources", n.Text)
	}
	return nil, false, n.fault("%q names no column of the sources", n.Text)
}

// keyName writes the name of a unique key.
func (p *Plan) keyName(t *Table, columns []string) Name {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = escape(c)
	}
	return Name{Text: p.escapeTable(t.Name) + "(" + strings.Join(names, ", ") + ")"}
}

// uniqueKeys returns the unique keys that a name names, as the place of each in its table; of the tables that have
// no such unique key, but have the columns as primary key, it adds one.
func (p *Plan) uniqueKeys(n Name) (found []*Unique, err error) {
	g, err := p.parse(n, -1)
	if err != nil {
		return nil, err
	}
	is := func(columns []string) bool {
		return len(columns) == len(g.columns) && !slices.ContainsFunc(columns, func(name string) bool {
			return !slices.ContainsFunc(g.columns, func(g glob) bool { return g.match(name) })
		})
	}
	for _, t := range p.Tables {
		if !g.table.match(t.Name) {
			continue
		}
		before := len(found)
		for _, u := range t.Unique {
			if is(u.Columns) {
				found = append(found, u)
			}
		}
		if len(found) == before && len(t.PrimaryKey) > 0 && is(t.PrimaryKey) {
			u := &Unique{Columns: slices.Clone(t.PrimaryKey), Rule: RuleFail}
			t.Unique = slices.Insert(t.Unique, 0, u)
			found = append(found, u)
		}
	}
	if len(found) == 0 {
		return nil, n.fault("%q names no unique key of the sources", n.Text)
	}
	return found, nil
}

// escapeTable is escape for a table, whose database is a part of its own.
func (p *Plan) escapeTable(name string) string {
	if database, table := p.Split(name); database != "" {
		return escape(database) + "." + escape(table)
	}
	return escape(name)
}

// inKey reports whether a column is one of the primary key or of a unique key.
func (p place) inKey() bool {
	return slices.Contains(p.table.PrimaryKey, p.column.Name) ||
		slices.ContainsFunc(p.table.Unique, func(u *Unique) bool { return slices.Contains(u.Columns, p.column.Name) })
}

func (n Name) String() string {
	if n.Line > 0 {
		return fmt.Sprintf("%q of line %d", n.Text, n.Line)
	}
	return fmt.Sprintf("%q", n.Text)
}

// A Named is what a name or pattern of [Decisions] names: a column, or the columns of a unique key.
type Named struct {
	Name    Name // in full, as a file has it
	Table   *Table
	Columns []string
}

// NamedColumns returns the columns that a name or pattern names, in the order of the plan. If there are none, it returns
// an [*Error].
func (p *Plan) NamedColumns(n Name) (all []Named, err error) {
	found, _, err := p.columns(n)
	for _, at := range found {
		all = append(all, Named{Name{Text: at.name(p), Line: n.Line}, at.table, []string{at.column.Name}})
	}
	return all, err
}

// NamedKeys returns the unique keys that a name or pattern names, in the order of the plan. A primary key is one, too. If
// there are none, it returns an [*Error].
func (p *Plan) NamedKeys(n Name) (all []Named, err error) {
	of := clone(p) // a primary key is added there
	found, err := of.uniqueKeys(n)
	for _, t := range of.Tables {
		for _, u := range t.Unique {
			if slices.Contains(found, u) {
				all = append(all, Named{Name{Text: p.keyName(t, u.Columns).Text, Line: n.Line}, p.Table(t.Name), u.Columns})
			}
		}
	}
	return all, err
}
