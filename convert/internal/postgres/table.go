package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/convert/plan"
)

// A table is a table of the plan as the database has it now.
type table struct {
	*plan.Table
	oid        string
	schema     string
	name       string
	sql        string // its name with schema, as SQL
	kind       string // r, or p if it has partitions
	attributes []attribute
}

// An attribute is a column as it is now.
type attribute struct {
	Name, Type string
	Base       string // the type below a domain
	Num        int
	NotNull    bool
	Identity   string // a: always, d: by default
	Generated  string // s: stored, v: virtual
	Default    string
	Uses       []int // numbers of the columns that it is computed from
}

// A pair is a column that programs use, and the one that takes its name in a swap.
type pair struct {
	live  *attribute
	spare string // the second column
	after string // the name that live gets
	wide  bool   // the second column is the wide one
	to    string // the type of the second column
}

// read finds a table of the plan.
func read(ctx context.Context, q querier, p *plan.Table) (*table, error) {
	// A name with a dot may also be one with a schema.
	type found struct{ Oid, Schema, Name, Kind string }
	condition := "n.nspname = current_schema() AND c.relname = " + literal(p.Name)
	if schema, name, dotted := strings.Cut(p.Name, "."); dotted {
		condition = fmt.Sprintf("(%s OR n.nspname = %s AND c.relname = %s)", condition, literal(schema), literal(name))
	}
	all, err := query[found](ctx, q, `SELECT c.oid::text AS oid, n.nspname AS schema, c.relname AS name, c.relkind AS kind
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE `+condition+" ORDER BY c.relname = "+literal(p.Name)+" DESC LIMIT 1")
	if err != nil {
		return nil, fmt.Errorf("convert: table %q: %w", p.Name, err)
	}
	if len(all) == 0 {
		return nil, &Fault{p.Name, "it does not exist, or the search_path does not lead to it"}
	}
	t := &table{Table: p, oid: all[0].Oid, schema: all[0].Schema, name: all[0].Name, kind: all[0].Kind}
	t.sql = quote(t.schema) + "." + quote(t.name)
	return t, t.refresh(ctx, q)
}

// refresh reads the columns anew.
func (t *table) refresh(ctx context.Context, q querier) error {
	var err error
	t.attributes, err = query[attribute](ctx, q, `SELECT a.attname AS "Name", pg_catalog.format_type(a.atttypid, a.atttypmod) AS "Type",
			(SELECT pg_catalog.format_type(COALESCE(NULLIF(y.typbasetype, 0), y.oid), NULL) FROM pg_catalog.pg_type y WHERE y.oid = a.atttypid) AS "Base", a.attnum AS "Num", a.attnotnull AS "NotNull",
			a.attidentity AS "Identity", a.attgenerated AS "Generated", COALESCE(pg_catalog.pg_get_expr(d.adbin, d.adrelid), '') AS "Default",
			ARRAY(SELECT u.refobjsubid FROM pg_catalog.pg_depend u WHERE a.attgenerated <> '' AND u.classid = 'pg_catalog.pg_attrdef'::regclass AND u.objid = d.oid
				AND u.refclassid = 'pg_catalog.pg_class'::regclass AND u.refobjid = a.attrelid AND u.refobjsubid <> a.attnum) AS "Uses"
		FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE a.attrelid = `+t.oid+` AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`)
	if err != nil {
		return fmt.Errorf("convert: columns of table %q: %w", t.Name, err)
	}
	return nil
}

// column returns a column by its name; nil if there is none.
func (t *table) column(name string) *attribute {
	if i := slices.IndexFunc(t.attributes, func(a attribute) bool { return a.Name == name }); i >= 0 {
		return &t.attributes[i]
	}
	return nil
}

// isSwapped reports whether the wide columns have the names that programs use, and the narrow ones are still there.
func (t *table) isSwapped() bool {
	return slices.ContainsFunc(t.Columns, func(c *plan.Column) bool { return t.column(oldName(c.Name)) != nil })
}

// isWide reports whether all columns are wide.
func (t *table) isWide() bool {
	return !slices.ContainsFunc(t.Columns, func(c *plan.Column) bool {
		a := t.column(c.Name)
		return a == nil || a.Type != wideType
	})
}

// wideType is the type that columns get.
const wideType = "bigint"

// pairs returns the columns that change, with their second columns whether these exist or not. Their direction is
// widening before the swap, and the way back after it.
func (t *table) pairs() ([]pair, error) {
	var all []pair
	swapped := t.isSwapped()
	for _, c := range t.Columns {
		a := t.column(c.Name)
		if a == nil {
			return nil, &Fault{t.Name, fmt.Sprintf("it has no column %q", c.Name)}
		}
		p := pair{live: a, spare: spareName(c.Name), after: oldName(c.Name), wide: true, to: wideType}
		if swapped {
			p.spare, p.after, p.wide = p.after, p.spare, false
			if old := t.column(p.spare); old != nil {
				p.to = old.Type
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// lookup reads all tables of a list.
func lookup(ctx context.Context, q querier, tables []*plan.Table) ([]*table, error) {
	var all []*table
	for _, p := range tables {
		t, err := read(ctx, q, p)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// readAgain reads the columns of tables anew, in a transaction that has locked them.
func readAgain(ctx context.Context, q querier, tables []*table) error {
	for _, t := range tables {
		if err := t.refresh(ctx, q); err != nil {
			return err
		}
	}
	return nil
}
