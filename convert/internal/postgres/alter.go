package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// unproven marks the comment of a foreign key that was valid before ALTER TABLE, and is to be proven anew.
const unproven = "snow convert: to be validated. "

// outOfRange says that a value does not fit a type.
const outOfRange = "22003"

// generated are the columns that are computed from columns that change. They must be made anew.
func (t *table) generated() []*attribute {
	var all []*attribute
	for i := range t.attributes {
		g := &t.attributes[i]
		if slices.ContainsFunc(t.Columns, func(c *plan.Column) bool {
			a := t.column(c.Name)
			return a != nil && slices.Contains(g.Uses, a.Num)
		}) {
			all = append(all, g)
		}
	}
	return all
}

// alter changes the columns with ALTER TABLE. Foreign keys come back without a proof, so that no other table is read
// under the lock.
func alter(p *plan.Table, to func(*plan.Column) string) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		t, err := read(ctx, r.DB, p)
		if err != nil {
			return err
		}
		full, err := withSchemas(ctx, r.DB, t, to)
		if err != nil {
			return err
		}
		if err := briefly(ctx, r, []string{t.Name}, func(tx *sql.Tx) error { return alterIn(ctx, tx, t, full) }); err != nil {
			if sqldialect.Code(err) == outOfRange {
				return fmt.Errorf("%w: %w", &TooWideError{t.Name, t.Columns[0].Name, "some"}, err)
			}
			return err
		}
		return proveForeignKeys(ctx, r, t)
	}
}

// withSchemas returns types by names that mean the same without a search_path.
func withSchemas(ctx context.Context, q querier, t *table, to func(*plan.Column) string) (func(*plan.Column) string, error) {
	full := map[string]string{}
	for _, c := range t.Columns {
		name, err := one(ctx, q, `SELECT format('%I.%I', n.nspname, y.typname) FROM pg_catalog.pg_type y JOIN pg_catalog.pg_namespace n ON n.oid = y.typnamespace
			WHERE y.typtype = 'd' AND y.oid = pg_catalog.to_regtype(`+literal(to(c))+`)`)
		if err != nil {
			return nil, err
		}
		if full[c.Name] = name; name == "" {
			full[c.Name] = to(c)
		}
	}
	return func(c *plan.Column) string { return full[c.Name] }, nil
}

func alterIn(ctx context.Context, tx *sql.Tx, t *table, to func(*plan.Column) string) error {
	tables := []*table{t}
	keys, err := foreignKeys(ctx, tx, tables)
	if err != nil {
		return err
	}
	locked := []string{t.sql}
	for _, f := range keys {
		locked = append(locked, f.child(), f.parent())
	}
	if err := lock(ctx, tx, "ACCESS EXCLUSIVE", distinct(locked...)); err != nil {
		return err
	}
	if err := t.refresh(ctx, tx); err != nil {
		return err
	}
	var clauses, again []string
	var dropped []*attribute
	for _, c := range t.Columns {
		a := t.column(c.Name)
		if a == nil {
			return &Fault{t.Name, fmt.Sprintf("it has no column %q", c.Name)}
		}
		if a.Generated == "" && a.Type != to(c) {
			clauses = append(clauses, fmt.Sprintf("ALTER COLUMN %s TYPE %s", quote(a.Name), to(c)))
		}
	}
	if len(clauses) == 0 {
		return nil
	}
	others, err := dependents(ctx, tx, tables)
	if err != nil {
		return err
	}
	// A column that is computed cannot stay while the type below it changes: it is computed anew.
	var indexes []string
	for _, g := range t.generated() {
		add, err := readd(t, g, to)
		if err != nil {
			return err
		}
		dropped = append(dropped, g)
		again = append(again, add)
		own, err := query[struct{ S string }](ctx, tx, fmt.Sprintf(`SELECT pg_catalog.pg_get_indexdef(x.indexrelid) AS "S" FROM pg_catalog.pg_index x
			WHERE x.indrelid = %s AND EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = x.indexrelid
				AND d.refobjid = x.indrelid AND d.refobjsubid = %d)`, t.oid, g.Num))
		if err != nil {
			return err
		}
		for _, i := range own {
			indexes = append(indexes, i.S)
		}
	}
	for i := range dropped {
		clauses = append([]string{"DROP COLUMN " + quote(dropped[i].Name)}, clauses...)
	}
	if err := dropDependents(ctx, tx, others); err != nil {
		return err
	}
	for _, f := range keys {
		if err := execute(ctx, tx, "ALTER TABLE "+f.child()+" DROP CONSTRAINT "+quote(f.Name)); err != nil {
			return err
		}
	}
	statement := "ALTER TABLE " + t.sql + " " + strings.Join(append(clauses, again...), ", ")
	if err := execute(ctx, tx, append([]string{statement}, slices.Compact(indexes)...)...); err != nil {
		return err
	}
	if err := widenSequences(ctx, tx, t, to); err != nil {
		return err
	}
	for _, f := range keys {
		if err := restore(ctx, tx, f); err != nil {
			return err
		}
	}
	return createDependents(ctx, tx, others)
}

// readd is the clause that makes a computed column anew.
func readd(t *table, g *attribute, to func(*plan.Column) string) (string, error) {
	kind := g.Type
	for _, c := range t.Columns {
		if c.Name == g.Name {
			kind = to(c)
		}
	}
	add := fmt.Sprintf("ADD COLUMN %s %s GENERATED ALWAYS AS (%s)", quote(g.Name), kind, g.Default)
	switch g.Generated {
	case "s":
		add += " STORED"
	case "v":
		add += " VIRTUAL"
	default:
		return "", &Fault{t.Name, fmt.Sprintf("column %q is computed in an unknown way %q", g.Name, g.Generated)}
	}
	if g.NotNull {
		add += " NOT NULL"
	}
	return add, nil
}

// widenSequences makes the sequences of columns as wide as the columns. Identities are so already.
func widenSequences(ctx context.Context, tx *sql.Tx, t *table, to func(*plan.Column) string) error {
	for _, c := range t.Columns {
		a := t.column(c.Name)
		if a.Identity != "" {
			continue
		}
		all, err := sequences(ctx, tx, t, a)
		if err != nil {
			return err
		}
		for _, s := range all {
			if s.Own == "true" && s.Type != to(c) {
				if err := execute(ctx, tx, "ALTER SEQUENCE "+s.SQL+" AS "+to(c)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// restore makes a foreign key anew, not proven.
func restore(ctx context.Context, tx *sql.Tx, f *foreign) error {
	definition := f.definition(func(_, column string) string { return column })
	on := "CONSTRAINT " + quote(f.Name) + " ON " + f.child()
	// Foreign keys of partitioned tables must be valid at once.
	if f.Odd == "" {
		definition += " NOT VALID"
	}
	if f.Valid && f.Odd == "" {
		f.Comment = unproven + strings.TrimPrefix(f.Comment, unproven)
	}
	return execute(ctx, tx, "ALTER TABLE "+f.child()+" ADD CONSTRAINT "+quote(f.Name)+" "+definition, remark(on, f.Comment))
}

// proveForeignKeys validates the foreign keys that were valid before, while programs write.
func proveForeignKeys(ctx context.Context, r *job.Run, t *table) error {
	if err := t.refresh(ctx, r.DB); err != nil {
		return err
	}
	keys, err := foreignKeys(ctx, r.DB, []*table{t})
	if err != nil {
		return err
	}
	for _, f := range keys {
		text, marked := strings.CutPrefix(f.Comment, unproven)
		if !marked {
			continue
		}
		if err := validate(ctx, r, f.child(), f.Name); err != nil {
			return err
		}
		end := remark("CONSTRAINT "+quote(f.Name)+" ON "+f.child(), text)
		if text == "" {
			end = "COMMENT ON CONSTRAINT " + quote(f.Name) + " ON " + f.child() + " IS NULL"
		}
		if err := briefly(ctx, r, []string{f.ChildTable}, func(tx *sql.Tx) error { return execute(ctx, tx, end) }); err != nil {
			return err
		}
	}
	return nil
}

// verifyAlter looks whether the columns are wide, and the foreign keys proven.
func verifyAlter(p *plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		t, err := read(ctx, r.DB, p)
		if err != nil {
			return err
		}
		if err := t.verifyWide(ctx, r.DB); err != nil {
			return err
		}
		keys, err := foreignKeys(ctx, r.DB, []*table{t})
		if err != nil {
			return err
		}
		for _, f := range keys {
			if strings.HasPrefix(f.Comment, unproven) {
				return &Fault{f.ChildTable, fmt.Sprintf("foreign key %q is not proven", f.Name)}
			}
		}
		return nil
	}
}
