package postgres

import (
	"context"
	"database/sql"
	"fmt"
)

// rename puts the second columns of a table into the place of the others. The caller has dropped what depends on the
// old columns in other ways, and holds the lock.
func rename(ctx context.Context, tx *sql.Tx, t *table, s *shape) error {
	pairs, err := t.pairs()
	if err != nil {
		return err
	}
	if err := dropTrigger(ctx, tx, t); err != nil {
		return err
	}
	alter := "ALTER TABLE " + t.sql + " "
	notNulls, err := notNullNames(ctx, tx, t)
	if err != nil {
		return err
	}
	// The check says that no value is NULL, which saves the scan. So it goes after that.
	for _, p := range pairs {
		if p.live.NotNull {
			if err := execute(ctx, tx, alter+"ALTER COLUMN "+quote(p.spare)+" SET NOT NULL"); err != nil {
				return err
			}
		}
	}
	statements := []string{alter + "DROP CONSTRAINT " + quote(equalName(t.name))}
	for _, c := range s.checks {
		statements = append(statements, alter+"DROP CONSTRAINT "+quote(c.Name))
	}
	for _, i := range s.indexes {
		if i.Constraint != "" {
			statements = append(statements, alter+"DROP CONSTRAINT "+quote(i.Constraint))
		} else {
			statements = append(statements, "DROP INDEX "+quote(t.schema)+"."+quote(i.Name))
		}
	}
	if err := execute(ctx, tx, statements...); err != nil {
		return err
	}
	for _, p := range pairs {
		if err := moveCounter(ctx, tx, t, p); err != nil {
			return err
		}
		if err := copyAttributes(ctx, tx, t, p.live.Name, p.spare); err != nil {
			return err
		}
		if err := execute(ctx, tx, alter+"ALTER COLUMN "+quote(p.live.Name)+" DROP NOT NULL",
			alter+"RENAME COLUMN "+quote(p.live.Name)+" TO "+quote(p.after),
			alter+"RENAME COLUMN "+quote(p.spare)+" TO "+quote(p.live.Name)); err != nil {
			return err
		}
	}
	if err := renameNotNulls(ctx, tx, t, notNulls); err != nil {
		return err
	}
	for _, c := range s.checks {
		if err := execute(ctx, tx, alter+"RENAME CONSTRAINT "+quote(copyName(c.Name))+" TO "+quote(c.Name),
			remark("CONSTRAINT "+quote(c.Name)+" ON "+t.sql, c.Comment)); err != nil {
			return err
		}
	}
	for _, i := range s.indexes {
		if err := renameIndex(ctx, tx, t, i); err != nil {
			return err
		}
	}
	return nil
}

// renameIndex puts the copy of an index into its place.
func renameIndex(ctx context.Context, tx *sql.Tx, t *table, i index) error {
	alter := "ALTER TABLE " + t.sql + " "
	name := quote(t.schema) + "." + quote(i.Name)
	put := "ALTER INDEX " + quote(t.schema) + "." + quote(copyName(i.Name)) + " RENAME TO " + quote(i.Name)
	if i.Constraint != "" {
		kind := "UNIQUE"
		if i.Primary {
			kind = "PRIMARY KEY"
		}
		put = fmt.Sprintf("%sADD CONSTRAINT %s %s USING INDEX %s", alter, quote(i.Constraint), kind, quote(copyName(i.Name)))
	}
	statements := []string{put, remark("INDEX "+name, i.Comment)}
	if i.Constraint != "" {
		statements = append(statements, remark("CONSTRAINT "+quote(i.Constraint)+" ON "+t.sql, i.ConComment))
	}
	if i.Ident {
		statements = append(statements, alter+"REPLICA IDENTITY USING INDEX "+quote(i.Name))
	}
	if i.Clustered {
		statements = append(statements, alter+"CLUSTER ON "+quote(i.Name))
	}
	return execute(ctx, tx, statements...)
}

// A notNull is a NOT NULL constraint, which has a name from PostgreSQL 18 on.
type notNull struct{ Name, Column string }

func notNullNames(ctx context.Context, q querier, t *table) ([]notNull, error) {
	return query[notNull](ctx, q, `SELECT c.conname AS "Name", a.attname AS "Column" FROM pg_catalog.pg_constraint c
		JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] WHERE c.contype = 'n' AND c.conrelid = `+t.oid)
}

// renameNotNulls gives the constraints of columns the names that they had before.
func renameNotNulls(ctx context.Context, tx *sql.Tx, t *table, before []notNull) error {
	now, err := notNullNames(ctx, tx, t)
	if err != nil {
		return err
	}
	for _, b := range before {
		for _, n := range now {
			if n.Column == b.Column && n.Name != b.Name {
				if err := execute(ctx, tx, "ALTER TABLE "+t.sql+" RENAME CONSTRAINT "+quote(n.Name)+" TO "+quote(b.Name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
