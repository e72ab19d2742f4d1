package merge

import (
	"context"
	"database/sql"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// Lookup returns the id that the row with oldID in a table of a source has in the target: a new one, the same one, or that
// of the row that it was merged into. It reads what runs have stored in the target, so it needs no plan, and writes
// nothing. With several databases, a table is named as in the plan, such as auth.account. It returns a [*report.LeftOutError] if the
// row was left out, and [report.ErrNotFound] if there is no such row. In a table whose rows kept their ids, Lookup takes any
// row with oldID in the target for the source's.
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
	number, text, facts, err := ledger.Ledger{Engine: e, Q: target}.Merged(ctx, source, table)
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
	found, err := rekey.Resolve(ctx, ledger.IDMap{Ledger: ledger.Ledger{Engine: e, Q: target}}, &rekey.Checker{Engine: e.In(facts.Databases), Q: target}, of, []int64{oldID})
	if err != nil {
		return 0, err
	}
	switch after := found[oldID]; after.Fate {
	case ledger.Missing:
		return 0, report.ErrNotFound
	case ledger.Dropped:
		return 0, leftOut(ctx, ledger.Ledger{Engine: e, Q: target}, of, oldID)
	default:
		return after.ID, nil
	}
}

// leftOut returns why a row was left out.
func leftOut(ctx context.Context, l ledger.Ledger, t *ledger.SourceTable, oldID int64) error {
	if t.Table.Empty {
		return &report.LeftOutError{Reason: "the table is left empty"}
	}
	changes, err := l.Changes(ctx, t, []string{sqlvalue.FormatRow([]any{oldID})})
	if err != nil {
		return err
	}
	for _, c := range changes {
		if reason, ok := c.After.(string); ok && c.Kind == ledger.ChangeDropped {
			return &report.LeftOutError{Reason: reason}
		}
	}
	return &report.LeftOutError{Reason: "it referred to no row"} // of a run that did not write down to which
}

// Export writes the map from old to new ids as CSV with a header: source, table, old_id, new_id. Sources and tables are in
// the order in which they were merged, their rows in that of old_id. A row that was merged into another one has its id, a
// row that was dropped has none, and rows that kept their ids have no line. Export holds one list of ids at a time in
// memory, a few thousand at most.
func Export(ctx context.Context, d sqlsnow.Dialect, target *sql.DB, w io.Writer) error {
	e, err := dialect.Of(d)
	if err == nil {
		err = export(ctx, e, target, csv.NewWriter(w))
	}
	if err != nil {
		return fmt.Errorf("merge: export: %w", err)
	}
	return nil
}

func export(ctx context.Context, e *dialect.Dialect, target chunk.Queryer, w *csv.Writer) error {
	tables, err := ledger.Ledger{Engine: e, Q: target}.SourceTables(ctx)
	if err != nil {
		return err
	}
	if err := w.Write([]string{"source", "table", "old_id", "new_id"}); err != nil {
		return err
	}
	for _, t := range tables {
		err := ledger.IDMap{Ledger: ledger.Ledger{Engine: e, Q: target}}.Each(ctx, t, func(old int64, after ledger.Successor) error {
			line := []string{t.Source, t.Table.Name, strconv.FormatInt(old, 10), ""}
			if after.Fate != ledger.Dropped {
				line[3] = strconv.FormatInt(after.ID, 10)
			}
			return w.Write(line)
		})
		if err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}
