package segments

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Counter is the row of a tag in one database.
type Counter struct {
	Tag       string
	Next      snow.ID // the next number that a process takes; processes may still have lower ones at hand
	Databases int64   // how many databases give numbers of the tag
	Residue   int64   // the numbers of this database have this residue modulo Databases
	New       bool    // not compared with the rows of the other databases yet: it gives no numbers
	Regressed bool    // it went back, and gives no numbers until Raise
}

// Counters returns the rows of all tags in one database, by tag. It takes no lock and may be called at any time.
// It returns the errors of [Open].
func Counters(ctx context.Context, db *sql.DB, d sqlsnow.Dialect) ([]Counter, error) {
	all, err := counters(ctx, db, d)
	if err != nil {
		return nil, fmt.Errorf("segments: counters: %w", err)
	}
	return all, nil
}

func counters(ctx context.Context, db *sql.DB, d sqlsnow.Dialect) (all []Counter, err error) {
	e, err := dbserver.SegmentsFor(d)
	if err != nil {
		return nil, err
	}
	t := newTable(db, e, "", nil)
	if err := t.place(ctx); err != nil {
		return nil, t.failed(ctx, err).err
	}
	rows, err := db.QueryContext(ctx, t.engine.Compile(selectCounters).Text)
	if err != nil {
		return nil, t.failed(ctx, err).err
	}
	defer rows.Close()
	for rows.Next() {
		var c Counter
		var state int64
		if err := rows.Scan(&c.Tag, &c.Next, &c.Databases, &c.Residue, &state); err != nil {
			return nil, databaseError(e, "read the counters", err)
		}
		c.New, c.Regressed = state == stateNew, state == stateFenced
		all = append(all, c)
	}
	if err := rows.Err(); err != nil {
		return nil, databaseError(e, "read the counters", err)
	}
	return all, nil
}
