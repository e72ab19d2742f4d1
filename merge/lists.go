package merge

import (
	"context"
	"database/sql"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/sqlsnow"
)

// ExportLeftOut writes the rows that were left out, because of a condition of the plan or of what they refer to, as
// CSV with a header: source, table, row, reason. The row is its id or, in a table without ids, its key as a JSON
// array. The reason is the number of a condition in the plan's table, such as "without_rows 2", or a reference,
// such as "owner_id = 17". After them come the rows left out by merges that made sources, the ones of source
// m12/eu, say. Tables that were left empty have no lines. It holds one line at a time in memory.
func ExportLeftOut(ctx context.Context, d sqlsnow.Dialect, target *sql.DB, w io.Writer) error {
	e, err := dialect.Of(d)
	if err == nil {
		err = exportLeftOut(ctx, ledger.Ledger{Engine: e, Q: target}, csv.NewWriter(w))
	}
	if err != nil {
		return fmt.Errorf("merge: export of rows left out: %w", err)
	}
	return nil
}

func exportLeftOut(ctx context.Context, l ledger.Ledger, w *csv.Writer) error {
	c, err := newChains(ctx, l)
	if err != nil {
		return err
	}
	if err := w.Write([]string{"source", "table", "row", "reason"}); err != nil {
		return err
	}
	for _, t := range c.sourceTables() {
		err := l.EachDropped(ctx, t, func(c ledger.Change) error {
			row, _ := c.Before.(string)
			reason, _ := c.After.(string)
			return w.Write([]string{t.Source, t.Table.Name, sqlvalue.KeyText(row), reason})
		})
		if err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// ExportRenamed writes the names that were changed because of clashes as CSV with a header: source, table, row,
// new_id, column, before, after. The row is its id or, in a table without ids, its key as a JSON array. The new id
// is empty where the row kept its own. Behind them are the names that merges changed which made sources: with the
// ids that the rows have now. It holds the names of one table of a source in memory.
func ExportRenamed(ctx context.Context, d sqlsnow.Dialect, target *sql.DB, w io.Writer) error {
	e, err := dialect.Of(d)
	if err == nil {
		err = exportRenamed(ctx, ledger.Ledger{Engine: e, Q: target}, csv.NewWriter(w))
	}
	if err != nil {
		return fmt.Errorf("merge: export of new names: %w", err)
	}
	return nil
}

func exportRenamed(ctx context.Context, l ledger.Ledger, w *csv.Writer) error {
	c, err := newChains(ctx, l)
	if err != nil {
		return err
	}
	if err := w.Write([]string{"source", "table", "row", "new_id", "column", "before", "after"}); err != nil {
		return err
	}
	for _, t := range c.sourceTables() {
		names, err := l.Renames(ctx, t)
		if err != nil {
			return err
		}
		var ids []int64
		for _, c := range names {
			if id, ok := sqlvalue.KeyID(c.Row); ok {
				ids = append(ids, id)
			}
		}
		found := map[int64]outcome{}
		for part := range slices.Chunk(ids, chunk.MaxIDs) {
			now, err := c.resolve(ctx, t.ID, part)
			if err != nil {
				return err
			}
			maps.Copy(found, now)
		}
		for _, c := range names {
			id, isID := sqlvalue.KeyID(c.Row)
			now := ""
			if after, ok := found[id]; ok && isID && (after.Fate == ledger.Rekeyed || after.Fate != ledger.Dropped && after.ID != id) {
				now = strconv.FormatInt(after.ID, 10)
			}
			before, _ := c.Before.(string)
			after, _ := c.After.(string)
			if err := w.Write([]string{t.Source, t.Table.Name, sqlvalue.KeyText(c.Row), now, c.Column, before, after}); err != nil {
				return err
			}
		}
	}
	w.Flush()
	return w.Error()
}
