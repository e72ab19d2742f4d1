package audit

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/idcolumn"
)

// sample is how many of the latest ids of a table are read for each layout.
const sample = 1000

// young is how long after the epoch of a layout ids are told apart from counted numbers.
const young = 24 * time.Hour

// readIDs reads the smallest and the largest value of the first column of the key, and the latest ids, which its
// index has at hand.
func (a *audit) readIDs(ctx context.Context, t *table) error {
	if len(t.key) == 0 {
		return nil
	}
	c, ok := t.column(t.key[0])
	if !ok || c.Kind != idcolumn.Integer {
		return nil
	}
	column, from := a.dialect.Quote(c.Name), a.from(t)
	var smallest, largest string
	if err := a.db.QueryRowContext(ctx, idcolumn.Bounds(column, from)).Scan(&smallest, &largest); err != nil {
		return err
	}
	var err error
	if t.least, t.largest, err = idcolumn.ParseBounds(smallest, largest); err != nil || c.Size < 64 {
		return err
	}
	seen := make(map[uint64]bool)
	now := time.Now()
	for _, l := range a.layouts {
		begin, end := span(l, now)
		if t.largest < begin {
			continue
		}
		query := fmt.Sprintf("SELECT %s FROM %s WHERE %s >= %d AND %s < %d ORDER BY %s DESC LIMIT %d", column, from, column, begin, column, end, column, sample)
		err := a.each(ctx, query, func(rows *sql.Rows) error {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return err
			}
			if !seen[uint64(id)] {
				seen[uint64(id)] = true
				t.latest = append(t.latest, uint64(id))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// from returns the name of a table for a statement.
func (a *audit) from(t *table) string {
	if t.schema == "" {
		return a.dialect.Quote(t.name)
	}
	return a.dialect.Quote(t.schema) + "." + a.dialect.Quote(t.name)
}

// span returns the ids of a layout that were made until now and are told apart from counted numbers.
func span(l snow.Layout, now time.Time) (begin, end uint64) {
	for first := range l.Between(l.Epoch().Add(young), now) {
		begin = uint64(first)
		break
	}
	return begin, uint64(idcolumn.End(l, now))
}

// bounds finds a key that is negative, and one that is above all ids that can be made now.
func (a *audit) bounds(t *table, now time.Time) {
	problem, fits := "", len(a.layouts) == 0 || t.largest == 0
	for _, l := range a.layouts {
		begin, end := span(l, now)
		t.hasIDs = t.hasIDs || t.largest >= begin && t.largest < end
		problem = idcolumn.Ahead(t.largest, l, now)
		fits = fits || problem == ""
	}
	if !fits {
		a.find(t, t.key[0], Error, problem, idcolumn.AheadRemedy)
	}
	if problem := idcolumn.Negative(t.least); problem != "" {
		severity := Warning
		if t.hasIDs {
			severity = Error
		}
		a.find(t, t.key[0], severity, problem, idcolumn.NegativeRemedy)
	}
}
