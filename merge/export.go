package merge

import (
	"context"
	"database/sql"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/dialect"
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
	if err := (&exporter{ids: idMap{e, target}, out: csv.NewWriter(w)}).export(ctx, ledger{e, target}); err != nil {
		return fmt.Errorf("merge: export: %w", err)
	}
	return nil
}

type exporter struct {
	ids idMap
	out *csv.Writer
}

func (x *exporter) export(ctx context.Context, l ledger) error {
	if err := x.out.Write([]string{"source", "table", "old_id", "new_id"}); err != nil {
		return err
	}
	tables, err := l.sourceTables(ctx)
	if err != nil {
		return err
	}
	for _, t := range tables {
		err := x.ids.each(ctx, t, func(old int64, after successor) error {
			line := []string{t.source, t.table.Name, strconv.FormatInt(old, 10), ""}
			if after.fate != dropped {
				line[3] = strconv.FormatInt(after.id, 10)
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
