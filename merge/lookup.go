package merge

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
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
	e, err := dialect.Of(d)
	if err != nil {
		return 0, err
	}
	id, err := lookup(ctx, e, target, source, table, oldID)
	if err != nil {
		return 0, fmt.Errorf("merge: lookup: row %d of table %q of source %q: %w", oldID, table, source, err)
	}
	return snow.ID(id), nil
}

func lookup(ctx context.Context, e *dialect.Dialect, target chunk.Queryer, source, table string, oldID int64) (int64, error) {
	number, text, err := ledger.Ledger{Engine: e, Q: target}.Merged(ctx, source, table)
	if err != nil {
		return 0, err
	}
	if number == 0 {
		return 0, fmt.Errorf("%w: the table was not merged", report.ErrNotFound)
	}
	p, err := plan.Read(strings.NewReader(text))
	if err != nil {
		return 0, fmt.Errorf("the run's plan: %w", err)
	}
	t := p.Table(table)
	if t == nil || t.Key() == nil {
		return 0, fmt.Errorf("%w: the table has no column of ids", report.ErrNotFound)
	}
	of := ledger.NewSourceTable(number, source, t)
	of.Packable = ledger.IsPackable(e.Kind, p, of)
	found, err := rekey.Resolve(ctx, ledger.IDMap{Ledger: ledger.Ledger{Engine: e, Q: target}}, &rekey.Checker{Engine: e, Q: target}, of, []int64{oldID})
	if err != nil {
		return 0, err
	}
	after := found[oldID]
	if after.Fate == ledger.Missing || after.Fate == ledger.Dropped {
		return 0, report.ErrNotFound
	}
	return after.ID, nil
}
