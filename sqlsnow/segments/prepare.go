package segments

import (
	"context"
	"errors"
	"fmt"

	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/names"
)

// prepare makes the missing rows, compares all rows and opens the new ones. It needs every database: a row gives no
// numbers before it was compared with all others, because it could overlap with one of them.
func prepare(ctx context.Context, tables []*table) error {
	rows := make([]record, len(tables))
	var space string
	var errs []error
	for i, t := range tables {
		row, err := t.read(ctx)
		if err == nil || errors.Is(err, errNoRow) {
			var info dbserver.Info
			if info, err = t.engine.Info(ctx, t.db); err == nil {
				if err := info.Check(0); err != nil {
					return ofDatabase(i, err)
				}
			}
		}
		switch {
		case err != nil:
			errs = append(errs, ofDatabase(i, t.failed(ctx, err).err))
		case space == "":
			space = row.space
		}
		rows[i] = row
	}
	if len(errs) > 0 {
		return fmt.Errorf("the rows have to be made, which needs every database: %w", errors.Join(errs...))
	}
	for i, t := range tables {
		if rows[i].space != "" {
			continue
		}
		if space == "" {
			space = names.NewUUID()
		}
		row, err := t.read(ctx)
		if errors.Is(err, errNoRow) {
			for j, row := range rows {
				if row.state != stateNew { // so there was a row in this database too, and its numbers may be in use
					return fmt.Errorf("database %d: %w, and the row of database %d is in use", i, errNoRow, j)
				}
			}
			row, err = t.insert(ctx, space, rows)
		}
		if err != nil {
			return ofDatabase(i, err)
		}
		rows[i], space = row, row.space
	}
	if err := compare(rows); err != nil {
		return err
	}
	for i, t := range tables {
		if rows[i].state != stateNew {
			continue
		}
		s := t.engine.Compile(updateSeal)
		_, err := t.change(ctx, s, map[string]any{
			"tag": t.tag, "space": rows[i].space, "modulus": rows[i].modulus, "residue": rows[i].residue,
		})
		if err != nil {
			return ofDatabase(i, t.failed(ctx, err).err)
		}
	}
	return nil
}

// insert makes a row with a residue that no other row has, and returns the row that is there afterwards.
func (t *table) insert(ctx context.Context, space string, others []record) (record, error) {
	modulus := int64(len(others))
	taken := make([]bool, modulus)
	for _, row := range others {
		if row.space != "" && row.residue >= 0 && row.residue < modulus {
			taken[row.residue] = true
		}
	}
	residue := int64(0)
	for taken[residue] { // at least one residue is not taken
		residue++
	}
	used, err := t.highest(ctx, 1, 0)
	if err != nil {
		return record{}, err
	}
	next := used + 1
	next += ((residue-next)%modulus + modulus) % modulus
	s := t.engine.Compile(insertRow)
	failed := t.engine.Insert(ctx, t.db, dbserver.ForSegments, s, map[string]any{
		"tag": t.tag, "space": space, "modulus": modulus, "residue": residue, "next": next,
	})
	if t.engine.IsInTransaction(failed) {
		return record{}, t.failed(ctx, failed).err
	}
	// Another process may have been faster, so read the row that is there.
	row, err := t.read(ctx)
	if errors.Is(err, errNoRow) && failed != nil {
		err = failed
	}
	if err != nil {
		return row, t.failed(ctx, err).err
	}
	return row, nil
}

// compare returns an error if rows do not fit together.
func compare(rows []record) error {
	seen := map[int64]int{}
	for i, row := range rows {
		j, twice := seen[row.residue]
		switch {
		case row.modulus != int64(len(rows)) || row.residue < 0 || row.residue >= row.modulus || row.nextID < 1 || row.nextID%row.modulus != row.residue:
			return fmt.Errorf("%w: database %d has modulus %d, residue %d and next number %d, and there are %d databases",
				ErrMismatch, i, row.modulus, row.residue, row.nextID, len(rows))
		case row.space != rows[0].space:
			return fmt.Errorf("%w: database 0 is of space %q, database %d of %q", ErrMismatch, rows[0].space, i, row.space)
		case twice:
			return fmt.Errorf("%w: databases %d and %d both have residue %d modulo %d", ErrMismatch, j, i, row.residue, row.modulus)
		}
		seen[row.residue] = i
	}
	return nil
}
