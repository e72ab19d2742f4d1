package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
)

// A foreign key as it is now.
type foreign struct {
	Oid, Name                 string
	Child, Parent             string // oids
	ChildSchema, ChildTable   string
	ParentSchema, ParentTable string
	Columns, RefColumns       []string
	Match, OnUpdate, OnDelete string
	SetColumns                []string
	Deferrable, Deferred      bool
	Valid                     bool
	Odd                       string // what no copy can have
	Comment                   string
}

func (f *foreign) child() string  { return quote(f.ChildSchema) + "." + quote(f.ChildTable) }
func (f *foreign) parent() string { return quote(f.ParentSchema) + "." + quote(f.ParentTable) }

// definition is the constraint with the columns that rename returns.
func (f *foreign) definition(rename func(oid, column string) string) string {
	names := func(oid string, columns []string) string {
		quoted := make([]string, len(columns))
		for i, c := range columns {
			quoted[i] = quote(rename(oid, c))
		}
		return strings.Join(quoted, ", ")
	}
	actions := map[string]string{"r": "RESTRICT", "c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"}
	var b strings.Builder
	fmt.Fprintf(&b, "FOREIGN KEY (%s) REFERENCES %s (%s)", names(f.Child, f.Columns), f.parent(), names(f.Parent, f.RefColumns))
	if f.Match == "f" {
		b.WriteString(" MATCH FULL")
	}
	if a := actions[f.OnUpdate]; a != "" {
		b.WriteString(" ON UPDATE " + a)
	}
	if a := actions[f.OnDelete]; a != "" {
		b.WriteString(" ON DELETE " + a)
		if len(f.SetColumns) > 0 {
			b.WriteString(" (" + names(f.Child, f.SetColumns) + ")")
		}
	}
	if f.Deferrable {
		b.WriteString(" DEFERRABLE")
	}
	if f.Deferred {
		b.WriteString(" INITIALLY DEFERRED")
	}
	return b.String()
}

// foreignKeys are all with a column that changes, on either side, also of tables that are not in the plan.
func foreignKeys(ctx context.Context, q querier, tables []*table) ([]*foreign, error) {
	var oids []string
	for _, t := range tables {
		oids = append(oids, t.oid)
	}
	list := strings.Join(oids, ", ")
	names := func(relation, numbers string) string {
		return "ARRAY(SELECT a.attname FROM unnest(" + numbers + ") WITH ORDINALITY u(num, n) JOIN pg_catalog.pg_attribute a ON a.attrelid = " + relation + " AND a.attnum = u.num ORDER BY u.n)"
	}
	all, err := query[*foreign](ctx, q, `SELECT f.oid::text AS "Oid", f.conname AS "Name", f.conrelid::text AS "Child", f.confrelid::text AS "Parent",
			cn.nspname AS "ChildSchema", c.relname AS "ChildTable", pn.nspname AS "ParentSchema", p.relname AS "ParentTable",
			`+names("f.conrelid", "f.conkey")+` AS "Columns", `+names("f.confrelid", "f.confkey")+` AS "RefColumns", `+names("f.conrelid", "f.confdelsetcols")+` AS "SetColumns",
			f.confmatchtype AS "Match", f.confupdtype AS "OnUpdate", f.confdeltype AS "OnDelete", f.condeferrable AS "Deferrable", f.condeferred AS "Deferred",
			f.convalidated AS "Valid", COALESCE(obj_description(f.oid, 'pg_constraint'), '') AS "Comment",
			CASE WHEN 'true' = to_jsonb(f) ->> 'conperiod' THEN 'PERIOD' WHEN 'false' = to_jsonb(f) ->> 'conenforced' THEN 'NOT ENFORCED'
				WHEN 'p' IN (c.relkind, p.relkind) THEN 'a table with partitions' ELSE '' END AS "Odd"
		FROM pg_catalog.pg_constraint f JOIN pg_catalog.pg_class c ON c.oid = f.conrelid JOIN pg_catalog.pg_namespace cn ON cn.oid = c.relnamespace
			JOIN pg_catalog.pg_class p ON p.oid = f.confrelid JOIN pg_catalog.pg_namespace pn ON pn.oid = p.relnamespace
		WHERE f.contype = 'f' AND f.conparentid = 0 AND (f.conrelid IN (`+list+`) OR f.confrelid IN (`+list+`)) ORDER BY f.oid`)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(f *foreign) bool { return !f.changes(tables) }), nil
}

// changes reports whether one of its columns changes. Copies that the conversion has made are on second columns.
func (f *foreign) changes(tables []*table) bool {
	of := func(oid string, columns []string) bool {
		return slices.ContainsFunc(tables, func(t *table) bool {
			return t.oid == oid && slices.ContainsFunc(t.Columns, func(c *plan.Column) bool { return slices.Contains(columns, c.Name) })
		})
	}
	return of(f.Child, f.Columns) || of(f.Parent, f.RefColumns)
}

// renaming returns the names of second columns.
func renaming(tables []*table) (func(oid, column string) string, error) {
	names := map[[2]string]string{}
	for _, t := range tables {
		pairs, err := t.pairs()
		if err != nil {
			return nil, err
		}
		for _, p := range pairs {
			names[[2]string{t.oid, p.live.Name}] = p.spare
		}
	}
	return func(oid, column string) string {
		if spare := names[[2]string{oid, column}]; spare != "" {
			return spare
		}
		return column
	}, nil
}

// addForeignKeys makes copies of the foreign keys of a group on its second columns, and proves them.
func addForeignKeys(group []*plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		tables, err := lookup(ctx, r.DB, group)
		if err != nil || tables[0].isSwapped() || tables[0].isWide() {
			return err
		}
		return ensureForeignKeys(ctx, r, tables)
	}
}

func ensureForeignKeys(ctx context.Context, r *job.Run, tables []*table) error {
	rename, err := renaming(tables)
	if err != nil {
		return err
	}
	keys, err := foreignKeys(ctx, r.DB, tables)
	if err != nil {
		return err
	}
	for _, f := range keys {
		err := briefly(ctx, r, []string{f.ChildTable, f.ParentTable}, func(tx *sql.Tx) error {
			if state, err := f.copied(ctx, tx); err != nil || state != "" {
				return err
			}
			if err := lock(ctx, tx, "SHARE ROW EXCLUSIVE", distinct(f.child(), f.parent())); err != nil {
				return err
			}
			return execute(ctx, tx, fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s %s NOT VALID", f.child(), quote(copyName(f.Name)), f.definition(rename)))
		})
		if err == nil && f.Valid {
			err = validate(ctx, r, f.child(), copyName(f.Name))
		}
		if err != nil {
			return fmt.Errorf("convert: foreign key %q of table %q: %w", f.Name, f.ChildTable, err)
		}
	}
	return nil
}

// copied says whether the copy is valid: true or false, and empty if it does not exist.
func (f *foreign) copied(ctx context.Context, q querier) (string, error) {
	return one(ctx, q, "SELECT convalidated FROM pg_catalog.pg_constraint WHERE conrelid = "+f.Child+" AND contype = 'f' AND conname = "+literal(copyName(f.Name)))
}

// verifyForeignKeys looks whether all copies are there, and as valid as the originals.
func verifyForeignKeys(group []*plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		tables, err := lookup(ctx, r.DB, group)
		if err != nil || tables[0].isSwapped() || tables[0].isWide() {
			return err
		}
		keys, err := foreignKeys(ctx, r.DB, tables)
		if err != nil {
			return err
		}
		return missingKeys(ctx, r.DB, keys)
	}
}

func missingKeys(ctx context.Context, q querier, keys []*foreign) error {
	for _, f := range keys {
		switch state, err := f.copied(ctx, q); {
		case err != nil:
			return err
		case state == "" || f.Valid && state != "true":
			return &Fault{f.ChildTable, fmt.Sprintf("foreign key %q has no valid copy", f.Name)}
		}
	}
	return nil
}

// dropForeignKeys takes the copies back.
func dropForeignKeys(group []*plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		tables, err := lookup(ctx, r.DB, group)
		if err != nil {
			return err
		}
		keys, err := foreignKeys(ctx, r.DB, tables)
		if err != nil {
			return err
		}
		for _, f := range keys {
			if err := briefly(ctx, r, []string{f.ChildTable, f.ParentTable}, func(tx *sql.Tx) error {
				if err := lock(ctx, tx, "ACCESS EXCLUSIVE", distinct(f.child(), f.parent())); err != nil {
					return err
				}
				return execute(ctx, tx, "ALTER TABLE "+f.child()+" DROP CONSTRAINT IF EXISTS "+quote(copyName(f.Name)))
			}); err != nil {
				return err
			}
		}
		return nil
	}
}

// distinct returns the names, each once.
func distinct(names ...string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
