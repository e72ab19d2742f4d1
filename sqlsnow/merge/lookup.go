package merge

import (
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

// ErrNotFound is returned by [Lookup] for a row that is not in the target: the
// source had none with the id, or it was dropped, or nothing of the source or
// the table was merged. It arrives wrapped: use errors.Is.
var ErrNotFound = errors.New("no such row")

// Lookup returns the id in the target of the row that had oldID in a table of a
// source, whether that is a new one, the same, or that of the row that it was
// merged into. It goes by what runs left in the target, whose plans need not be
// at hand, and writes nothing. It returns [ErrNotFound] where there is no such row.
// In a table whose rows kept their ids, a row that has oldID in the target is
// taken for the source's.
func Lookup(ctx context.Context, d sqlsnow.Dialect, target *sql.DB, source, table string, oldID int64) (snow.ID, error) {
	e, err := engineOf(d)
	if err != nil {
		return 0, err
	}
	id, err := e.lookup(ctx, target, source, table, oldID)
	if err != nil {
		return 0, fmt.Errorf("merge: lookup: row %d of table %q of source %q: %w", oldID, table, source, err)
	}
	return snow.ID(id), nil
}

func (e *engine) lookup(ctx context.Context, target queryer, source, table string, oldID int64) (int64, error) {
	var scope int64
	var text string
	err := target.QueryRowContext(ctx, e.sql(`SELECT scopes.scope, runs.plan FROM snow_merge_scopes AS scopes
		JOIN snow_merge_runs AS runs ON runs.run = scopes.run WHERE scopes.source = ? AND scopes.tbl = ?`), source, table).Scan(&scope, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("%w: the table was not merged", ErrNotFound)
	}
	if err != nil {
		return 0, e.failed("read the ledger", err)
	}
	var p Plan
	if err := readJSON([]byte(text), &p); err != nil {
		return 0, fmt.Errorf("the run's plan: %w", err)
	}
	t := p.table(table)
	if t == nil || t.key() == nil {
		return 0, fmt.Errorf("%w: the table has no column of ids", ErrNotFound)
	}
	ids := &mapped{e: e, ledger: target, scope: func(string, string) (int64, bool) { return scope, true }}
	found, err := ids.identify(ctx, source, t, []int64{oldID})
	if err != nil {
		return 0, err
	}
	id, ok := found[oldID]
	if !ok {
		return 0, ErrNotFound
	}
	if id.key == oldID { // nothing says yet that the source had it
		key := e.quote(t.key().Name)
		err := target.QueryRowContext(ctx, e.sql("SELECT "+key+" FROM "+e.quote(table)+" WHERE "+key+" = ?"), oldID).Scan(new(int64))
		if errors.Is(err, sql.ErrNoRows) {
			return 0, ErrNotFound
		}
		if err != nil {
			return 0, e.failed("look for the row", err)
		}
	}
	return id.key, nil
}

// Export writes the map from old to new ids as CSV with a header: source,
// table, old_id, new_id, ordered by source and table as they were merged, then
// by old_id. A row that was merged into another one has that one's id, a row
// that was dropped has none, and rows that kept their id have no line. It holds
// one line at a time in memory.
func Export(ctx context.Context, d sqlsnow.Dialect, target *sql.DB, w io.Writer) error {
	e, err := engineOf(d)
	if err != nil {
		return err
	}
	if err := e.export(ctx, target, w); err != nil {
		return fmt.Errorf("merge: export: %w", err)
	}
	return nil
}

func (e *engine) export(ctx context.Context, target queryer, w io.Writer) error {
	rows, err := target.QueryContext(ctx, `SELECT scopes.source, scopes.tbl, map.old_id, map.new_id FROM snow_merge_scopes AS scopes
		JOIN snow_merge_map AS map ON map.scope = scopes.scope ORDER BY scopes.scope, map.old_id`)
	if err != nil {
		return e.failed("read the map", err)
	}
	defer rows.Close()
	out := csv.NewWriter(w)
	if err := out.Write([]string{"source", "table", "old_id", "new_id"}); err != nil {
		return err
	}
	for rows.Next() {
		var source, table string
		var oldID int64
		var newID sql.NullInt64
		if err := rows.Scan(&source, &table, &oldID, &newID); err != nil {
			return e.failed("read the map", err)
		}
		line := []string{source, table, strconv.FormatInt(oldID, 10), ""}
		if newID.Valid {
			line[3] = strconv.FormatInt(newID.Int64, 10)
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return e.failed("read the map", err)
	}
	out.Flush()
	return out.Error()
}
