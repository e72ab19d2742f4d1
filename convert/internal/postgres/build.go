package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
)

// buildIndexes builds copies of indexes and checks on the second columns, while programs write.
func buildIndexes(p *plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		t, err := read(ctx, r.DB, p)
		if err != nil || t.isSwapped() || t.isWide() {
			return err
		}
		return ensureCopies(ctx, r, t)
	}
}

// ensureCopies builds the copies that are missing.
func ensureCopies(ctx context.Context, r *job.Run, t *table) error {
	pairs, err := t.pairs()
	if err != nil {
		return err
	}
	s, err := shapeOf(ctx, r.DB, t, pairs)
	if err != nil {
		return err
	}
	built := false
	for _, i := range s.indexes {
		isNew, err := buildIndex(ctx, r, t, i)
		if err != nil {
			return fmt.Errorf("convert: index %q of table %q: %w", i.Name, t.Name, err)
		}
		built = built || isNew
	}
	for _, c := range s.checks {
		err := briefly(ctx, r, []string{t.Name}, func(tx *sql.Tx) error {
			if there, err := constraint(ctx, tx, t, copyName(c.Name)); err != nil || there != "" {
				return err
			}
			if err := lock(ctx, tx, "ACCESS EXCLUSIVE", []string{t.sql}); err != nil {
				return err
			}
			return execute(ctx, tx, fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s %s NOT VALID", t.sql, quote(copyName(c.Name)), c.Copy))
		})
		if err == nil && c.Valid {
			err = validate(ctx, r, t.sql, copyName(c.Name))
		}
		if err != nil {
			return fmt.Errorf("convert: check %q of table %q: %w", c.Name, t.Name, err)
		}
	}
	if !built {
		return nil
	}
	return analyze(ctx, r, t)
}

// buildIndex builds one copy. It waits for transactions that were open before, and they for nothing. An index that a
// kill has left behind is not valid, and goes. It reports whether it has built one.
func buildIndex(ctx context.Context, r *job.Run, t *table, i index) (built bool, err error) {
	name := quote(t.schema) + "." + quote(copyName(i.Name))
	state := func(q querier) (string, error) {
		return one(ctx, q, `SELECT x.indisvalid FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class c ON c.oid = x.indexrelid
			JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = `+literal(t.schema)+" AND c.relname = "+literal(copyName(i.Name))+" AND x.indrelid = "+t.oid)
	}
	if valid, err := state(r.DB); err != nil || valid == "true" {
		return false, err
	}
	// The server goes on building for a client that was killed: whoever has this lock is the only one who builds.
	var valid string
	if err := gently(ctx, r, []string{t.Name}, func(tx *sql.Tx) error {
		err := execute(ctx, tx, "LOCK TABLE "+t.sql+" IN SHARE UPDATE EXCLUSIVE MODE")
		if err != nil {
			return err
		}
		valid, err = state(tx)
		return err
	}); err != nil || valid == "true" {
		return false, err
	}
	conn, err := r.DB.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() {
		// The settings of the session must not stay.
		_, reset := conn.ExecContext(context.WithoutCancel(ctx), "RESET lock_timeout")
		_, again := conn.ExecContext(context.WithoutCancel(ctx), "RESET statement_timeout")
		_, space := conn.ExecContext(context.WithoutCancel(ctx), "RESET default_tablespace")
		if err == nil {
			err = errors.Join(reset, again, space)
		}
		conn.Close()
	}()
	if err := execute(ctx, conn, "SET lock_timeout = 0", "SET statement_timeout = 0", "SET default_tablespace = "+literal(i.Space)); err != nil {
		return false, err
	}
	if valid != "" {
		if err := execute(ctx, conn, "DROP INDEX CONCURRENTLY IF EXISTS "+name); err != nil {
			return false, err
		}
	}
	if err := r.Check(ctx); err != nil {
		return false, err
	}
	unique := ""
	if i.Unique {
		unique = "UNIQUE "
	}
	return true, execute(ctx, conn, fmt.Sprintf("CREATE %sINDEX CONCURRENTLY %s ON %s %s", unique, quote(copyName(i.Name)), t.sql, i.Copy))
}

// verifyIndexes looks whether all copies are there and valid.
func verifyIndexes(p *plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		t, err := read(ctx, r.DB, p)
		if err != nil || t.isSwapped() || t.isWide() {
			return err
		}
		pairs, err := t.pairs()
		if err != nil {
			return err
		}
		s, err := shapeOf(ctx, r.DB, t, pairs)
		if err != nil {
			return err
		}
		missing, err := missingCopies(ctx, r.DB, t, s)
		if err != nil || missing == "" {
			return err
		}
		return &Fault{t.Name, missing}
	}
}

// missingCopies names the first copy that is not there, or not valid.
func missingCopies(ctx context.Context, q querier, t *table, s *shape) (string, error) {
	for _, i := range s.indexes {
		switch valid, err := one(ctx, q, `SELECT x.indisvalid FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class c ON c.oid = x.indexrelid
			WHERE x.indrelid = `+t.oid+" AND c.relname = "+literal(copyName(i.Name))); {
		case err != nil:
			return "", err
		case valid != "true":
			return fmt.Sprintf("index %q has no valid copy", i.Name), nil
		}
	}
	for _, c := range s.checks {
		switch valid, err := constraint(ctx, q, t, copyName(c.Name)); {
		case err != nil:
			return "", err
		case valid == "" || c.Valid && valid != "true":
			return fmt.Sprintf("check %q has no valid copy", c.Name), nil
		}
	}
	return "", nil
}

// dropIndexes takes the copies back.
func dropIndexes(p *plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		t, err := read(ctx, r.DB, p)
		if err != nil {
			return err
		}
		all, err := query[struct{ Name string }](ctx, r.DB, `SELECT c.relname AS "Name" FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class c ON c.oid = x.indexrelid
			WHERE x.indrelid = `+t.oid+` AND c.relname LIKE '\_snow\_copy\_%'`)
		if err != nil {
			return err
		}
		checks, err := query[struct{ Name string }](ctx, r.DB, `SELECT conname AS "Name" FROM pg_catalog.pg_constraint
			WHERE conrelid = `+t.oid+` AND contype = 'c' AND conname LIKE '\_snow\_copy\_%'`)
		if err != nil {
			return err
		}
		return alone(ctx, r, t, func(tx *sql.Tx) error {
			for _, i := range all {
				if err := execute(ctx, tx, "DROP INDEX IF EXISTS "+quote(t.schema)+"."+quote(i.Name)); err != nil {
					return err
				}
			}
			for _, c := range checks {
				if err := execute(ctx, tx, "ALTER TABLE "+t.sql+" DROP CONSTRAINT IF EXISTS "+quote(c.Name)); err != nil {
					return err
				}
			}
			return nil
		})
	}
}
