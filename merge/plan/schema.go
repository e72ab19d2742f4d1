package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

// Schema returns the statements that make the target's tables, in the order of running them: types, tables,
// indexes, foreign keys. Run them in one session: where a default of MySQL is a zero date, the first one is SET SESSION
// sql_mode. The database does not number keys any more, except in tables whose new ids are numbers,
// see [IDs], and columns have their [Plan.TargetType]. What is in Notes is left out: add it when the merge is done.
//
// The target may be made in another way, as long as it has these tables and columns. Schema returns the error of
// [Plan.Check], if there is one. Types, defaults and expressions of the plan become part of the statements as they are:
// trust the statements as much as the people who have edited the plan.
//
// Tables of several databases are made in the databases that the plan names. [Plan.SchemaIn] makes them in others.
func (p *Plan) Schema() ([]string, error) {
	return p.SchemaIn(ownDatabases(p))
}

// SchemaIn is Schema for a target whose databases have other names, by their names in the plan. They must exist.
func (p *Plan) SchemaIn(databases map[string]string) ([]string, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := p.CheckDatabases("the target", databases); err != nil {
		return nil, err
	}
	w := &schemaWriter{dialect: dialectOf(p.Dialect), plan: p, databases: databases}
	statements := slices.Clone(p.Types)
	tables := p.merged()
	if w.dialect == sqldialect.MySQL && slices.ContainsFunc(tables, hasZeroDate) {
		statements = append(statements, "SET SESSION sql_mode = REPLACE(REPLACE(@@SESSION.sql_mode, 'NO_ZERO_IN_DATE', ''), 'NO_ZERO_DATE', '')")
	}
	for _, t := range tables {
		statements = append(statements, w.table(t))
	}
	for _, t := range tables {
		statements = append(statements, w.indexes(t)...)
		if w.dialect == sqldialect.Postgres {
			statements = append(statements, w.comments(t)...)
		}
	}
	for _, t := range tables {
		if keys := w.foreignKeys(t); w.dialect != sqldialect.SQLite && len(keys) > 0 {
			statements = append(statements, "ALTER TABLE "+w.name(t.Name)+"\n  ADD "+strings.Join(keys, ",\n  ADD "))
		}
	}
	return statements, nil
}

// hasZeroDate reports whether a default is a date that MySQL refuses by its own settings.
func hasZeroDate(t *Table) bool {
	return slices.ContainsFunc(t.Columns, func(c *Column) bool {
		return c.Default != nil && strings.Contains(*c.Default, "-00") && sqltype.Of(sqldialect.MySQL, c.Type).Kind == sqltype.Time
	})
}

type schemaWriter struct {
	dialect sqldialect.Dialect
	plan    *Plan

	databases map[string]string
}

// name returns a table as SQL.
func (w *schemaWriter) name(table string) string {
	database, name := w.plan.Split(table)
	if database == "" {
		return w.dialect.Quote(table)
	}
	return w.dialect.Quote(w.databases[database]) + "." + w.dialect.Quote(name)
}

func (w *schemaWriter) table(t *Table) string {
	var lines []string
	for _, c := range t.Columns {
		lines = append(lines, w.column(t, c))
	}
	if len(t.PrimaryKey) > 0 && !w.isAutoincrement(t) {
		lines = append(lines, "PRIMARY KEY ("+w.dialect.QuoteAll(t.PrimaryKey)+")")
	}
	for _, u := range t.Unique {
		if w.isInline(t, u) {
			lines = append(lines, w.unique(u))
		}
	}
	if i := w.numberedIndex(t); i != nil {
		lines = append(lines, "KEY "+w.dialect.Quote(i.Name)+" ("+w.dialect.QuoteAll(i.Columns)+")")
	}
	if w.dialect == sqldialect.SQLite { // which adds none to a table that exists
		lines = append(lines, w.foreignKeys(t)...)
	}
	options := ""
	if t.Options != "" {
		options = " " + t.Options
	}
	if t.Comment != "" && w.dialect == sqldialect.MySQL {
		options += " COMMENT=" + w.dialect.Literal(t.Comment)
	}
	return "CREATE TABLE " + w.name(t.Name) + " (\n  " + strings.Join(lines, ",\n  ") + "\n)" + options
}

func (w *schemaWriter) column(t *Table, c *Column) string {
	text := w.dialect.Quote(c.Name)
	if typ := w.plan.TargetType(t, c); typ != "" {
		text += " " + typ
	}
	if c.Collation != "" {
		text += " COLLATE " + c.Collation
	}
	if c.Generated != "" {
		text += " GENERATED ALWAYS AS " + c.Generated
	}
	switch {
	case !c.Nullable:
		text += " NOT NULL"
	case w.dialect == sqldialect.MySQL && c.Generated == "":
		text += " NULL" // a TIMESTAMP would be NOT NULL without it
	}
	text += w.numbering(t, c)
	switch {
	case c.Default == nil:
	case w.dialect == sqldialect.SQLite && !strings.HasPrefix(*c.Default, `"`):
		text += " DEFAULT (" + *c.Default + ")"
	default:
		text += " DEFAULT " + *c.Default
	}
	if w.dialect == sqldialect.MySQL {
		if c.Options != "" {
			text += " " + c.Options
		}
		if c.Comment != "" {
			text += " COMMENT " + w.dialect.Literal(c.Comment)
		}
	}
	return text
}

// numbers reports whether the target's table numbers a column.
func (w *schemaWriter) numbers(t *Table, c *Column) bool {
	return t.IDs.AreNumbers() && c.Numbered && c.Default == nil && c.Generated == "" && sqltype.Of(w.dialect, c.Type).Kind == sqltype.Integer
}

// numbering returns what makes the database number a column, or "". SQLite numbers an INTEGER PRIMARY KEY in any
// case, but without AUTOINCREMENT it takes the number after the highest row.
func (w *schemaWriter) numbering(t *Table, c *Column) string {
	switch {
	case !w.numbers(t, c):
	case w.dialect == sqldialect.MySQL && !strings.Contains(c.Options, "AUTO_INCREMENT"):
		return " AUTO_INCREMENT"
	case w.dialect == sqldialect.Postgres && !c.Nullable:
		return " GENERATED BY DEFAULT AS IDENTITY"
	case w.isAutoincrement(t) && t.PrimaryKey[0] == c.Name:
		return " PRIMARY KEY AUTOINCREMENT"
	}
	return ""
}

// isAutoincrement reports whether the primary key is written beside its column, as SQLite wants it.
func (w *schemaWriter) isAutoincrement(t *Table) bool {
	if w.dialect != sqldialect.SQLite || len(t.PrimaryKey) != 1 || strings.Contains(t.Options, "WITHOUT ROWID") {
		return false
	}
	c := t.Column(t.PrimaryKey[0])
	return c != nil && strings.EqualFold(c.Type, "INTEGER") && w.numbers(t, c) && (t.Leave > 0 || c.Options == "AUTOINCREMENT")
}

// numberedIndex returns the index that MySQL wants in CREATE TABLE, because it begins with the column that is
// numbered and no key does, or nil.
func (w *schemaWriter) numberedIndex(t *Table) *Index {
	begins := func(columns []string) bool {
		c := t.Column(append(columns, "")[0])
		return c != nil && (w.numbers(t, c) || strings.Contains(c.Options, "AUTO_INCREMENT"))
	}
	if w.dialect != sqldialect.MySQL || begins(t.PrimaryKey) || slices.ContainsFunc(t.Unique, func(u *Unique) bool { return begins(u.Columns) }) {
		return nil
	}
	return first(t.Indexes, func(i *Index) bool { return i.Statement == "" && begins(i.Columns) })
}

// comments returns the statements that describe a table and its columns, on PostgreSQL.
func (w *schemaWriter) comments(t *Table) (statements []string) {
	comment := func(on, text string) {
		if text != "" {
			statements = append(statements, "COMMENT ON "+on+" IS "+w.dialect.Literal(text))
		}
	}
	comment("TABLE "+w.name(t.Name), t.Comment)
	for _, c := range t.Columns {
		comment("COLUMN "+w.name(t.Name)+"."+w.dialect.Quote(c.Name), c.Comment)
	}
	return statements
}

// isInline reports whether a unique key is part of CREATE TABLE.
func (w *schemaWriter) isInline(t *Table, u *Unique) bool {
	return !slices.Equal(u.Columns, t.PrimaryKey) && (w.dialect != sqldialect.SQLite || u.Name == "")
}

func (w *schemaWriter) unique(u *Unique) string {
	columns := "(" + w.dialect.QuoteAll(u.Columns) + ")"
	switch {
	case u.Name == "":
		return "UNIQUE " + columns
	case w.dialect == sqldialect.MySQL:
		return "UNIQUE KEY " + w.dialect.Quote(u.Name) + " " + columns
	}
	return "CONSTRAINT " + w.dialect.Quote(u.Name) + " UNIQUE " + columns
}

func (w *schemaWriter) indexes(t *Table) (statements []string) {
	for _, u := range t.Unique {
		if !w.isInline(t, u) && !slices.Equal(u.Columns, t.PrimaryKey) {
			statements = append(statements, fmt.Sprintf("CREATE UNIQUE INDEX %s ON %s (%s)", w.dialect.Quote(u.Name), w.name(t.Name), w.dialect.QuoteAll(u.Columns)))
		}
	}
	for _, i := range t.Indexes {
		if i == w.numberedIndex(t) || i.Statement == "" && slices.ContainsFunc(t.Unique, func(u *Unique) bool { return slices.Equal(u.Columns, i.Columns) }) {
			continue
		}
		if i.Statement != "" {
			statements = append(statements, w.statement(t, i))
		} else {
			statements = append(statements, fmt.Sprintf("CREATE INDEX %s ON %s (%s)", w.dialect.Quote(i.Name), w.name(t.Name), w.dialect.QuoteAll(i.Columns)))
		}
	}
	return statements
}

// statement returns what makes an index. On MySQL it has the plan's name of the table, see package catalog.
func (w *schemaWriter) statement(t *Table, i *Index) string {
	if rest, ok := strings.CutPrefix(i.Statement, "ALTER TABLE "+w.dialect.Quote(t.Name)+" "); ok {
		return "ALTER TABLE " + w.name(t.Name) + " " + rest
	}
	return i.Statement
}

// foreignKeys returns the constraints to tables that are merged too.
func (w *schemaWriter) foreignKeys(t *Table) (keys []string) {
	for _, k := range t.ForeignKeys {
		if w.plan.Table(k.Table).Skip {
			continue
		}
		text := fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s (%s)", w.dialect.QuoteAll(k.Columns), w.name(k.Table), w.dialect.QuoteAll(k.Refers))
		if k.Name != "" {
			text = "CONSTRAINT " + w.dialect.Quote(k.Name) + " " + text
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

// ownDatabases are the databases by their own names, or nil.
func ownDatabases(p *Plan) map[string]string {
	if len(p.Databases) == 0 {
		return nil
	}
	own := map[string]string{}
	for _, name := range p.Databases {
		own[name] = name
	}
	return own
}

// isExtension reports whether one of [Plan.Types] makes an extension.
func isExtension(statement string) bool { return strings.HasPrefix(statement, "CREATE EXTENSION ") }

// withExtensions adds the extensions of a schema to other types.
func withExtensions(types, schema []string) []string {
	var all []string
	for _, statement := range schema {
		if isExtension(statement) && !slices.Contains(types, statement) {
			all = append(all, statement)
		}
	}
	return append(all, types...)
}
