package catalog

import (
	"context"
	"slices"
	"strings"
)

// A Join is an equality of two columns, each "table.column", in a view, a trigger or a routine.
type Join struct{ Left, Right, Where string }

// A definition is the text of a view, a trigger or a routine.
type definition struct {
	database string // that has it, as the plan calls it
	table    string // of a trigger, likewise
	where    string // such as "view rich"
	text     string
}

// readJoins reads rows of: the table of a trigger or nothing; what the text defines, such as "view rich"; the text.
func (r *reader) readJoins(ctx context.Context, query string) {
	r.each(ctx, query, func(v row) {
		d := definition{database: r.database, where: v.text(1), text: v.text(2)}
		if r.Table(v.text(0)) != nil {
			d.table = r.qualified(v.text(0))
		}
		r.joins = append(r.joins, d)
	})
}

// findJoins adds the equalities of a definition, when all tables are known.
func (c *Catalog) findJoins(d definition, databases map[string]string) {
	f := &joinFinder{catalog: c, database: d.database, databases: databases, tokens: tokenize(d.text), names: map[string]*Table{}}
	if t := c.Table(d.table); t != nil {
		f.names["new"], f.names["old"] = t, t
	}
	for _, j := range f.find() {
		j.Where = d.where
		if !slices.Contains(c.Joins, j) {
			c.Joins = append(c.Joins, j)
		}
	}
}

// A joinFinder looks for equalities in the text of a definition. It knows no grammar: a name that follows the name
// of a table is taken for its alias from there on, and a column without a table for one of the last table named.
type joinFinder struct {
	catalog   *Catalog
	database  string            // that has the definition
	databases map[string]string // all of them
	tokens    []token
	names     map[string]*Table // by alias, in lower case
	last      *Table
}

func (f *joinFinder) find() (joins []Join) {
	for i := 0; i < len(f.tokens); i++ {
		if f.text(i) == "=" {
			left, right := f.column(f.begin(i-1)), f.column(i+1)
			if left != "" && right != "" && left != right {
				joins = append(joins, Join{Left: left, Right: right})
			}
		}
		f.table(i)
	}
	return joins
}

func (f *joinFinder) text(i int) string {
	if i < 0 || i >= len(f.tokens) {
		return ""
	}
	return f.tokens[i].text
}

// name returns the name that a token is, or "" if it is none.
func (f *joinFinder) name(i int) string {
	text := f.text(i)
	if text == "" || strings.ContainsAny(text[:1], "'()=<>,.;*+-/!0123456789") {
		return ""
	}
	return unquote(text)
}

// table notes the name of a table that stands at i, with the alias that follows it.
func (f *joinFinder) table(i int) {
	before := strings.ToLower(f.text(i - 1))
	if f.text(i+1) == "." || !slices.Contains([]string{"from", "join", "update", "into", ",", "(", "."}, before) {
		return
	}
	name := f.name(i)
	if len(f.databases) > 0 {
		database := f.database
		for logical, physical := range f.databases {
			if f.text(i-1) == "." && strings.EqualFold(physical, f.name(i-2)) {
				database = logical
			}
		}
		name = database + "." + name
	}
	t := f.catalog.TableLike(name)
	if t == nil {
		return
	}
	f.last = t
	f.names[strings.ToLower(f.name(i))] = f.last
	next := i + 1
	if strings.EqualFold(f.text(next), "as") {
		next++
	}
	keywords := []string{
		"where", "on", "set", "join", "left", "right", "inner", "outer", "cross", "natural", "using", "group", "order", "having", "limit", "union", "values", "select",
		"straight_join", "full", "end", "for", "into", "do", "then", "window", "when",
	}
	if alias := strings.ToLower(f.name(next)); alias != "" && !slices.Contains(keywords, alias) {
		f.names[alias] = f.last
	}
}

// begin returns where the name of a column begins that ends at i, with its table and its database.
func (f *joinFinder) begin(i int) int {
	for f.text(i-1) == "." && f.name(i-2) != "" {
		i -= 2
	}
	return i
}

// column returns the column whose name begins at i as "table.column", or "" if it is none.
func (f *joinFinder) column(i int) string {
	table, name := f.last, f.name(i)
	for f.text(i+1) == "." && name != "" {
		table = f.names[strings.ToLower(name)]
		i += 2
		name = f.name(i)
	}
	if table == nil || name == "" || f.text(i+1) == "(" {
		return ""
	}
	if c := ColumnLike(table.Table, name); c != nil {
		return table.Name + "." + c.Name
	}
	return ""
}
