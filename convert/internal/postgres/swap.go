package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
)

// swapForth exchanges the names of the columns of a group.
func swapForth(group []*plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		tables, err := lookup(ctx, r.DB, group)
		if err != nil || tables[0].isSwapped() || tables[0].isWide() {
			return err
		}
		return swap(ctx, r, tables, false)
	}
}

// swapBack exchanges them again. It is possible as long as all values fit the narrow columns.
func swapBack(group []*plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		tables, err := lookup(ctx, r.DB, group)
		if err != nil {
			return err
		}
		if err := fitBack(ctx, r, tables); err != nil || !tables[0].isSwapped() {
			return err
		}
		return swap(ctx, r, tables, true)
	}
}

// canSwapBack returns an error if the narrow columns are gone, or if a value does not fit into them.
func canSwapBack(group []*plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		tables, err := lookup(ctx, r.DB, group)
		if err != nil {
			return err
		}
		return fitBack(ctx, r, tables)
	}
}

// fitBack returns an error if the narrow columns of a table are gone, or if a value does not fit into them.
func fitBack(ctx context.Context, r *job.Run, tables []*table) error {
	for _, t := range tables {
		if !t.isSwapped() {
			if t.isWide() {
				return &Fault{t.Name, "the narrow columns are dropped: there is no way back"}
			}
			continue
		}
		pairs, err := t.pairs()
		if err != nil {
			return err
		}
		for _, p := range pairs {
			if err := fits(ctx, r, t, p.live.Name, p.to); err != nil {
				return err
			}
		}
	}
	return nil
}

// fits returns an error if a value of a column does not fit into a type.
func fits(ctx context.Context, r *job.Run, t *table, column, to string) error {
	rows, err := one(ctx, r.DB, fmt.Sprintf("SELECT count(*) FROM %s WHERE %s IS NOT NULL AND %s IS NULL", t.sql, quote(column), fitting(quote(column), to)))
	if err == nil && rows != "0" {
		err = &TooWideError{t.Name, column, rows}
	}
	return err
}

// canNarrow returns an error if a value does not fit into the old type of its column.
func canNarrow(p *plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		t, err := read(ctx, r.DB, p)
		if err != nil {
			return err
		}
		for _, c := range p.Columns {
			to := "integer" // a domain, too
			if c.Type == "smallint" {
				to = c.Type
			}
			if err := fits(ctx, r, t, c.Name, to); err != nil {
				return err
			}
		}
		return nil
	}
}

// swap makes sure that all is there that the second columns need, and exchanges names. Somebody may add an index or a
// foreign key between the two: then it begins anew.
func swap(ctx context.Context, r *job.Run, tables []*table, back bool) error {
	var names []string
	for _, t := range tables {
		names = append(names, t.Name)
	}
	for i := range rounds {
		for _, t := range tables {
			if err := ensureEqual(ctx, r, t); err != nil {
				return err
			}
			if err := ensureCopies(ctx, r, t); err != nil {
				return err
			}
		}
		if err := ensureForeignKeys(ctx, r, tables); err != nil {
			return err
		}
		var changed error
		err := briefly(ctx, r, names, func(tx *sql.Tx) error {
			err := exchange(ctx, tx, tables, back)
			if changed = nil; errors.Is(err, errAgain) {
				changed = err
				return errStop
			}
			return err
		})
		if !errors.Is(err, errStop) {
			return err
		}
		if i == rounds-1 {
			return changed
		}
	}
	return nil
}

// errStop ends a transaction that would not get on by itself.
var errStop = errors.New("something is missing on the second columns")

// exchange is the transaction of a swap. It reads and writes the catalogue only, however large the tables are.
func exchange(ctx context.Context, tx *sql.Tx, tables []*table, back bool) error {
	keys, err := foreignKeys(ctx, tx, tables)
	if err != nil {
		return err
	}
	var locked []string
	for _, t := range tables {
		locked = append(locked, t.sql)
	}
	for _, f := range keys {
		locked = append(locked, f.child(), f.parent())
	}
	if err := lock(ctx, tx, "ACCESS EXCLUSIVE", distinct(locked...)); err != nil {
		return err
	}
	// What was read before may have changed until the locks were there.
	if err := readAgain(ctx, tx, tables); err != nil {
		return err
	}
	if tables[0].isSwapped() != back {
		return nil
	}
	if keys, err = foreignKeys(ctx, tx, tables); err != nil {
		return err
	}
	if err := missingKeys(ctx, tx, keys); err != nil {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	shapes := make([]*shape, len(tables))
	for i, t := range tables {
		if shapes[i], err = complete(ctx, tx, t); err != nil {
			return err
		}
	}
	others, err := dependents(ctx, tx, tables)
	if err != nil {
		return err
	}
	if err := dropDependents(ctx, tx, others); err != nil {
		return err
	}
	for _, f := range keys {
		if err := execute(ctx, tx, "ALTER TABLE "+f.child()+" DROP CONSTRAINT "+quote(f.Name)); err != nil {
			return err
		}
	}
	for i, t := range tables {
		if err := rename(ctx, tx, t, shapes[i]); err != nil {
			return fmt.Errorf("convert: table %q: %w", t.Name, err)
		}
	}
	for _, f := range keys {
		if err := execute(ctx, tx, fmt.Sprintf("ALTER TABLE %s RENAME CONSTRAINT %s TO %s", f.child(), quote(copyName(f.Name)), quote(f.Name)),
			remark("CONSTRAINT "+quote(f.Name)+" ON "+f.child(), f.Comment)); err != nil {
			return err
		}
	}
	for _, t := range tables {
		if err := t.refresh(ctx, tx); err != nil {
			return err
		}
		pairs, err := t.pairs()
		if err != nil {
			return err
		}
		if err := makeTrigger(ctx, tx, t, pairs, !back); err != nil {
			return err
		}
	}
	return createDependents(ctx, tx, others)
}

// complete reads a table's indexes and checks, and fails if one has no valid copy.
func complete(ctx context.Context, tx *sql.Tx, t *table) (*shape, error) {
	if state, err := constraint(ctx, tx, t, equalName(t.name)); err != nil || state != "true" {
		return nil, or(err, fmt.Errorf("%w: no check %q", errAgain, equalName(t.name)))
	}
	pairs, err := t.pairs()
	if err != nil {
		return nil, err
	}
	s, err := shapeIn(ctx, tx, t, pairs)
	if err != nil {
		return nil, err
	}
	if err := execute(ctx, tx, "DROP TABLE "+scratchName); err != nil {
		return nil, err
	}
	missing, err := missingCopies(ctx, tx, t, s)
	if err != nil || missing != "" {
		return nil, or(err, fmt.Errorf("%w: %s", errAgain, missing))
	}
	return s, nil
}

// remark is a statement for a comment; empty if there is none.
func remark(object, text string) string {
	if text == "" {
		return ""
	}
	return "COMMENT ON " + object + " IS " + literal(text)
}

// verifySwap looks whether columns are wide and nothing is left of the copies.
func verifySwap(group []*plan.Table) func(context.Context, *job.Run) error {
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
			if state, err := f.copied(ctx, r.DB); err != nil || state != "" {
				return or(err, &Fault{f.ChildTable, fmt.Sprintf("foreign key %q has a copy still", f.Name)})
			}
		}
		for _, t := range tables {
			if err := t.verifyWide(ctx, r.DB); err != nil {
				return err
			}
			if !t.isSwapped() {
				continue
			}
			if fires, err := hasTrigger(ctx, r.DB, t); err != nil || !fires {
				return or(err, &Fault{t.Name, fmt.Sprintf("trigger %q is not there, or does not fire for all sessions", triggerName)})
			}
		}
		return nil
	}
}

// verifyWide looks whether all columns are wide, and references are what the server has checked.
func (t *table) verifyWide(ctx context.Context, q querier) error {
	for _, c := range t.Columns {
		switch a := t.column(c.Name); {
		case a == nil:
			return &Fault{t.Name, fmt.Sprintf("it has no column %q", c.Name)}
		case a.Type != wideType:
			return &Fault{t.Name, fmt.Sprintf("column %q is still %s", c.Name, a.Type)}
		}
	}
	broken, err := one(ctx, q, `SELECT string_agg(c.relname, ', ') FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class c ON c.oid = x.indexrelid
		WHERE x.indrelid = `+t.oid+` AND (NOT x.indisvalid OR c.relname LIKE '\_snow\_copy\_%')`)
	if err != nil || broken != "" {
		return or(err, &Fault{t.Name, fmt.Sprintf("indexes %q are not valid, or copies that were left", broken)})
	}
	return nil
}
