package catalog

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/plan"
)

// A reader fills a catalog from queries that have the same columns for each database. After an error it asks
// nothing more.
type reader struct {
	*Catalog
	q   Querier
	err error

	dialect   sqldialect.Dialect
	databases map[string]string // all that are read, by their names in the plan; nil for the one that the session is in
	database  string            // the name in the plan of the one that is read
	joins     []definition
}

// schemaText returns the expression of the schema that is read, and a list of texts of all that are.
func (r *reader) schemaText() (schema, all string) {
	switch {
	case r.databases != nil:
		for _, name := range slices.Sorted(maps.Values(r.databases)) {
			all += ", " + r.dialect.Literal(name)
		}
		if schema = r.databases[r.database]; r.dialect == sqldialect.Postgres { // regnamespace reads an identifier
			schema = r.dialect.Quote(schema)
		}
		return r.dialect.Literal(schema), strings.TrimPrefix(all, ", ")
	case r.dialect == sqldialect.MySQL:
		return "DATABASE()", "''"
	}
	return "current_schema()", "''"
}

// qualified returns the name that the plan has for a table of the database that is read.
func (r *reader) qualified(table string) string {
	if r.databases == nil {
		return table
	}
	return r.database + "." + table
}

// quote returns a table of the database that is read as SQL.
func (r *reader) quote(table string) string {
	if r.databases == nil {
		return r.dialect.Quote(table)
	}
	return r.dialect.Quote(r.databases[r.database]) + "." + r.dialect.Quote(table)
}

// of returns the name in the plan of the database that a server calls so.
func (r *reader) of(schema string) string {
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for name, database := range r.databases {
			if same(database, schema) { // a server may write a name in another case than people do
				return name
			}
		}
	}
	return ""
}

// qualify gives tables the names that the plan has for them.
func (r *reader) qualify() {
	for _, t := range r.Tables {
		t.Name = r.qualified(t.Name)
		for i := range t.Heirs {
			t.Heirs[i] = r.qualified(t.Heirs[i])
		}
	}
	for i, note := range r.Notes {
		if r.databases != nil {
			r.Notes[i] = r.database + ": " + note
		}
	}
}

// A row is a row of a query, as texts.
type row []sql.NullString

func (v row) text(i int) string { return v[i].String }

func (v row) is(i int) bool { return v[i].String == "1" || v[i].String == "true" }

// each calls do with each row of a query. do must not keep the row.
func (r *reader) each(ctx context.Context, query string, do func(v row)) {
	if r.err != nil {
		return
	}
	schema, schemas := r.schemaText()
	rows, err := r.q.QueryContext(ctx, strings.NewReplacer("{schema}", schema, "{schemas}", schemas).Replace(query))
	if err != nil {
		r.err = err
		return
	}
	defer rows.Close()
	columns, err := rows.Columns()
	v, into := make(row, len(columns)), make([]any, len(columns))
	for i := range v {
		into[i] = &v[i]
	}
	for err == nil && rows.Next() {
		if err = rows.Scan(into...); err == nil {
			do(v)
		}
	}
	if err == nil {
		err = rows.Err()
	}
	r.err = cmp.Or(r.err, err) // do may have set one
}

// ofTables calls do with each row whose first column names a table of the catalog.
func (r *reader) ofTables(ctx context.Context, query string, do func(t *Table, v row)) {
	r.each(ctx, query, func(v row) {
		if t := r.Table(v.text(0)); t != nil {
			do(t, v)
		}
	})
}

// readTables reads rows of: name; a note, if it is a view or the like; options; comment; any number of notes on the
// table. It leaves out the tables of this module.
func (r *reader) readTables(ctx context.Context, query string) {
	r.each(ctx, query, func(v row) {
		name := v.text(0)
		switch {
		case strings.HasPrefix(name, "snow_merge_") || slices.Contains([]string{"snow_namespaces", "snow_workers", "snow_segments", "snow_numbers", "snow_migrations"}, name):
		case v[1].Valid:
			r.Notes = append(r.Notes, v.text(1))
		default:
			t := &Table{Table: &plan.Table{Name: name, Options: v.text(2), Comment: v.text(3)}}
			for _, note := range v[4:] {
				if note.Valid {
					AddNote(t.Table, "%s", note.String)
				}
			}
			r.Tables = append(r.Tables, t)
		}
	})
}

// readColumns reads rows of: table, name, type, nullable, default, expression if it is generated, collation, whether
// the database numbers it, comment, and what Schema leaves out.
func (r *reader) readColumns(ctx context.Context, query string) {
	r.ofTables(ctx, query, func(t *Table, v row) {
		c := &plan.Column{Name: v.text(1), Type: v.text(2), Nullable: v.is(3), Generated: v.text(5), Collation: v.text(6), Comment: v.text(8), Role: plan.RolePlain}
		if value := v[4]; value.Valid {
			c.Default = &value.String
		}
		if v.is(7) {
			t.Numbered = append(t.Numbered, c.Name)
		}
		if rest := v.text(9); rest != "" {
			AddNote(t.Table, "column %s: Schema leaves out its %s", c.Name, rest)
		}
		t.Columns = append(t.Columns, c)
	})
}

// An index is one of any kind.
type index struct {
	table    *Table
	name     string
	kind     string // PRIMARY, UNIQUE, another one, or empty
	columns  []string
	isSimple bool     // the columns say all of it
	parts    []string // the last column of the rows
}

// readIndexes reads rows of: table, name, kind, position in the index from 1 on, column or NULL for an expression,
// whether the column says all of it, and a part of the statement that makes the index. They are in the order of the
// positions.
func (r *reader) readIndexes(ctx context.Context, query string) (all []*index) {
	r.ofTables(ctx, query, func(t *Table, v row) {
		// Rows of indexes whose tables differ in case alone may be mixed.
		at := slices.IndexFunc(all, func(i *index) bool { return i.table == t && i.name == v.text(1) && v.text(3) != "1" })
		if at < 0 {
			at, all = len(all), append(all, &index{table: t, name: v.text(1), kind: v.text(2), isSimple: true})
		}
		i := all[at]
		i.columns, i.parts = append(i.columns, v.text(4)), append(i.parts, v.text(6))
		i.isSimple = i.isSimple && v.is(5)
	})
	return all
}

// add adds the index to its table. The statement is what makes it.
func (i *index) add(statement string) {
	t := i.table
	switch {
	case i.kind == "PRIMARY":
		t.PrimaryKey = i.columns
	case !i.isSimple:
		t.Indexes = append(t.Indexes, &plan.Index{Name: i.name, Statement: statement})
		if i.kind == "UNIQUE" {
			AddNote(t.Table, "unique index %s is not on columns alone: a clash is found when the database refuses the row", i.name)
		}
	case i.kind == "UNIQUE":
		t.Unique = append(t.Unique, &plan.Unique{Name: i.name, Columns: i.columns, Rule: plan.RuleFail})
	default:
		t.Indexes = append(t.Indexes, &plan.Index{Name: i.name, Columns: i.columns})
	}
}

// readForeignKeys reads rows of: table, name, why Schema leaves it out, the parent, action on delete, on update,
// position in the key from first on, column, column of the parent, and the schema of the parent where a key may
// refer to another one. They are in the order of the positions.
func (r *reader) readForeignKeys(ctx context.Context, query, first string) {
	action := func(text string) string { // without the default
		if text == "NO ACTION" {
			return ""
		}
		return text
	}
	r.ofTables(ctx, query, func(t *Table, v row) {
		if v[2].Valid {
			AddNote(t.Table, "foreign key %s %s", v.text(1), v.text(2))
			return
		}
		if v.text(6) == first {
			parent := r.qualified(v.text(3))
			if len(v) > 9 && r.databases != nil {
				parent = r.of(v.text(9)) + "." + v.text(3)
			}
			t.ForeignKeys = append(t.ForeignKeys, &plan.ForeignKey{
				Name: v.text(1), Table: parent, OnDelete: action(v.text(4)), OnUpdate: action(v.text(5)),
			})
		}
		k := t.ForeignKeys[len(t.ForeignKeys)-1]
		k.Columns, k.Refers = append(k.Columns, v.text(7)), append(k.Refers, v.text(8))
	})
}

// readNotes reads rows of: table, or NULL for the database; note.
func (r *reader) readNotes(ctx context.Context, query string) {
	r.each(ctx, query, func(v row) {
		if t := r.Table(v.text(0)); t != nil {
			AddNote(t.Table, "%s", v.text(1))
		} else if !v[0].Valid {
			r.Notes = append(r.Notes, v.text(1))
		}
	})
}
