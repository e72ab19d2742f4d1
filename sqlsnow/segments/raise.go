package segments

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/names"
	"github.com/shardsnow/snow/sqlsnow"
)

// Raise moves the row of a tag in one database beyond every id up to above. If the row had gone back, processes may
// take numbers from it again. Call Raise for a database that was restored or lost history, with an id that is at
// least as high as all numbers that any process took. Running processes have numbers at hand that are not in your
// tables yet; if no process is running, pass the highest id in the tables. Raise never moves a row back, and can be
// called again.
//
// It returns the errors of [Open]; if there is no row, [ErrMismatch].
func Raise(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, tag string, above snow.ID) error {
	if err := raise(ctx, db, d, tag, above); err != nil {
		return fmt.Errorf("segments: raise tag %q: %w", tag, err)
	}
	return nil
}

func raise(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, tag string, above snow.ID) error {
	e, err := dbserver.SegmentsFor(d)
	if err != nil {
		return err
	}
	if err := names.Check("tag", tag); err != nil {
		return err
	}
	if above < 0 || above > highestID {
		return &snow.FieldError{Field: "above", Value: above.String(), Bound: "want 0 to " + snow.ID(highestID).String()}
	}
	t := newTable(db, e, tag, nil)
	if err := t.placeToWrite(ctx); err != nil {
		return t.failed(ctx, err).err
	}
	s := t.engine.Compile(updateRaise)
	n, err := t.change(ctx, s, map[string]any{"tag": tag, "next": int64(above) + 1})
	if err == nil && n == 0 {
		var info dbserver.Info
		if info, err = t.engine.Info(ctx, db); err == nil {
			if err := info.Check(0); err != nil {
				return err
			}
			var row record
			if row, err = t.read(ctx); err == nil {
				return fmt.Errorf("%w: the row has modulus %d", ErrMismatch, row.modulus)
			}
		}
	}
	if err != nil {
		return t.failed(ctx, err).err
	}
	return nil
}
