package merge

import (
	"context"
	"database/sql"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/sqlsnow"
)

// Export writes the map from old to new ids as CSV with a header: source,
// table, old_id, new_id, ordered by source and table as they were merged, then
// by old_id. A row that was merged into another one has that one's id, a row
// that was dropped has none, and rows that kept their id have no line. It holds
// one pack of ids at a time in memory, a few thousand at most.
func Export(ctx context.Context, d sqlsnow.Dialect, target *sql.DB, w io.Writer) error {
	e, err := dialect.Of(d)
	if err != nil {
		return err
	}
	if err := (&exporter{ids: ledger.IDMap{Ledger: ledger.Ledger{Engine: e, Q: target}}, out: csv.NewWriter(w)}).export(ctx, ledger.Ledger{Engine: e, Q: target}); err != nil {
		return fmt.Errorf("merge: export: %w", err)
	}
	return nil
}

type exporter struct {
	ids ledger.IDMap
	out *csv.Writer
}

func (x *exporter) export(ctx context.Context, l ledger.Ledger) error {
	if err := x.out.Write([]string{"source", "table", "old_id", "new_id"}); err != nil {
		return err
	}
	tables, err := l.SourceTables(ctx)
	if err != nil {
		return err
	}
	for _, t := range tables {
		err := x.ids.Each(ctx, t, func(old int64, after ledger.Successor) error {
			line := []string{t.Source, t.Table.Name, strconv.FormatInt(old, 10), ""}
			if after.Fate != ledger.Dropped {
				line[3] = strconv.FormatInt(after.ID, 10)
			}
			return x.out.Write(line)
		})
		if err != nil {
			return err
		}
	}
	x.out.Flush()
	return x.out.Error()
}
