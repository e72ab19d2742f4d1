package merge

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// Lookup returns the id in the target of the row that had oldID in a table of a
// source, whether that is a new one, the same, or that of the row that it was
// merged into. It goes by what runs left in the target, whose plans need not be
// at hand, and writes nothing. It returns [report.ErrNotFound] where there is no such row.
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
		return 0, fmt.Errorf("%w: the table was not merged", report.ErrNotFound)
	}
	if err != nil {
		return 0, e.failed("read the ledger", err)
	}
	p, err := plan.Read(strings.NewReader(text))
	if err != nil {
		return 0, fmt.Errorf("the run's plan: %w", err)
	}
	t := p.Table(table)
	if t == nil || t.Key() == nil {
		return 0, fmt.Errorf("%w: the table has no column of ids", report.ErrNotFound)
	}
	ids := &mapped{e: e, ledger: target, scope: func(string, string) (int64, bool) { return scope, true }}
	found, err := ids.identify(ctx, source, t, []int64{oldID})
	if err != nil {
		return 0, err
	}
	id, ok := found[oldID]
	if !ok {
		return 0, report.ErrNotFound
	}
	if id.key == oldID { // nothing says yet that the source had it
		key := e.quote(t.Key().Name)
		err := target.QueryRowContext(ctx, e.sql("SELECT "+key+" FROM "+e.quote(table)+" WHERE "+key+" = ?"), oldID).Scan(new(int64))
		if errors.Is(err, sql.ErrNoRows) {
			return 0, report.ErrNotFound
		}
		if err != nil {
			return 0, e.failed("look for the row", err)
		}
	}
	return id.key, nil
}
