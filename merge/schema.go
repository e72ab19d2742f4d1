package merge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/sqlsnow"
)

// Schema returns the statements that make the target's tables, in the order in
// which they must run: types, tables, indexes, foreign keys. Keys count up by
// themselves no more, and keys and references have 64 bits. What is in notes is
// not among them: add it when the merge is done.
//
// The target may be made in another way, as long as it has these tables and
// columns. Schema returns the error of [Plan.Check] if it has one. The
// statements hold what the plan says of types, defaults and expressions as it
// says it: they are as much to be trusted as who has edited the plan.
func (p *Plan) Schema() ([]string, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	e, err := engineOf(dialectOf(p.Dialect))
	if err != nil {
		return nil, err
	}
	w := &schemaWriter{engine: e, plan: p}
	statements := slices.Clone(p.Types)
	for _, t := range p.Tables {
		if !t.Skip {
			statements = append(statements, w.table(t))
		}
	}
	for _, t := range p.Tables {
		if !t.Skip {
			statements = append(statements, w.indexes(t)...)
		}
	}
	for _, t := range p.Tables {
		if keys := w.foreignKeys(t); !t.Skip && e.dialect != sqlsnow.SQLite && len(keys) > 0 {
			statements = append(statements, "ALTER TABLE "+e.quote(t.Name)+"\n  ADD "+strings.Join(keys, ",\n  ADD "))
		}
	}
	return statements, nil
}

type schemaWriter struct {
	*engine
	plan *Plan
}

func (w *schemaWriter) table(t *Table) string {
	var lines []string
	for _, c := range t.Columns {
		lines = append(lines, w.column(c))
	}
	lines = append(lines, "PRIMARY KEY ("+w.quoteAll(t.PrimaryKey)+")")
	for _, u := range t.Unique {
		if w.isInline(t, u) {
			lines = append(lines, w.unique(u))
		}
	}
	if w.dialect == sqlsnow.SQLite { // which adds none to a table that exists
		lines = append(lines, w.foreignKeys(t)...)
	}
	options := ""
	if t.Options != "" {
		options = " " + t.Options
	}
	return "CREATE TABLE " + w.quote(t.Name) + " (\n  " + strings.Join(lines, ",\n  ") + "\n)" + options
}

func (w *schemaWriter) column(c *Column) string {
	text := w.quote(c.Name)
	if typ := w.typeOf(c); typ != "" {
		text += " " + typ
	}
	if c.Collation != "" {
		text += " COLLATE " + c.Collation
	}
	if c.Generated != "" {
		return text + " GENERATED ALWAYS AS " + c.Generated
	}
	switch {
	case !c.Nullable:
		text += " NOT NULL"
	case w.dialect == sqlsnow.MySQL:
		text += " NULL" // a TIMESTAMP would be NOT NULL without it
	}
	switch {
	case c.Default == nil:
	case w.dialect == sqlsnow.SQLite && !strings.HasPrefix(*c.Default, `"`):
		text += " DEFAULT (" + *c.Default + ")"
	default:
		text += " DEFAULT " + *c.Default
	}
	return text
}

// typeOf returns the type of a column: both sides of a reference have the same.
func (w *schemaWriter) typeOf(c *Column) string {
	typ := c.Type
	if w.dialect == sqlsnow.SQLite {
		return typ
	}
	if c.Role == RoleReference && sqltype.Of(w.dialect, typ).Kind == sqltype.Integer {
		typ = w.plan.table(c.Refers[0].Table).key().Type
	}
	if c.Role == RoleKey || c.Role == RoleReference || c.Role == RolePolymorphic {
		typ = sqltype.Wide(w.dialect, typ)
	}
	return typ
}

// isInline reports whether a unique key is part of CREATE TABLE.
func (w *schemaWriter) isInline(t *Table, u *Unique) bool {
	return !slices.Equal(u.Columns, t.PrimaryKey) && (w.dialect != sqlsnow.SQLite || u.Name == "")
}

func (w *schemaWriter) unique(u *Unique) string {
	columns := "(" + w.quoteAll(u.Columns) + ")"
	switch {
	case u.Name == "":
		return "UNIQUE " + columns
	case w.dialect == sqlsnow.MySQL:
		return "UNIQUE KEY " + w.quote(u.Name) + " " + columns
	}
	return "CONSTRAINT " + w.quote(u.Name) + " UNIQUE " + columns
}

func (w *schemaWriter) indexes(t *Table) (statements []string) {
	for _, u := range t.Unique {
		if !w.isInline(t, u) && !slices.Equal(u.Columns, t.PrimaryKey) {
			statements = append(statements, fmt.Sprintf("CREATE UNIQUE INDEX %s ON %s (%s)", w.quote(u.Name), w.quote(t.Name), w.quoteAll(u.Columns)))
		}
	}
	for _, i := range t.Indexes {
		if i.Statement != "" {
			statements = append(statements, i.Statement)
		} else {
			statements = append(statements, fmt.Sprintf("CREATE INDEX %s ON %s (%s)", w.quote(i.Name), w.quote(t.Name), w.quoteAll(i.Columns)))
		}
	}
	return statements
}

// foreignKeys returns the constraints to tables that are merged too.
func (w *schemaWriter) foreignKeys(t *Table) (keys []string) {
	for _, k := range t.ForeignKeys {
		if w.plan.table(k.Table).Skip {
			continue
		}
		text := fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s (%s)", w.quoteAll(k.Columns), w.quote(k.Table), w.quoteAll(k.Refers))
		if k.Name != "" {
			text = "CONSTRAINT " + w.quote(k.Name) + " " + text
		}
		if k.OnDelete != "" {
			text += " ON DELETE " + k.OnDelete
		}
		if k.OnUpdate != "" {
			text += " ON UPDATE " + k.OnUpdate
		}
		keys = append(keys, text)
	}
	return keys
}
