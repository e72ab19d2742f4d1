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
	"strings"

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
	return writeList(ctx, d, target, w, "export of rows left out", "source,table,row,reason", func(c *chains, line func(...string) error) error {
		for _, t := range c.sourceTables() {
			if err := c.l.EachDropped(ctx, t, func(c ledger.Change) error {
				row, _ := c.Before.(string)
				reason, _ := c.After.(string)
				return line(t.Source, t.Table.Name, sqlvalue.KeyText(row), reason)
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// ExportRenamed writes the names that were changed because of clashes as CSV with a header: source, table, row,
// new_id, column, before, after. The row is its id or, in a table without ids, its key as a JSON array. The new id
// is empty where the row kept its own. Behind them are the names that merges changed which made sources: with the
// ids that the rows have now. It holds the names of one table of a source in memory.
func ExportRenamed(ctx context.Context, d sqlsnow.Dialect, target *sql.DB, w io.Writer) error {
	return writeList(ctx, d, target, w, "export of new names", "source,table,row,new_id,column,before,after", func(c *chains, line func(...string) error) error {
		for _, t := range c.sourceTables() {
			if err := c.renamed(ctx, t, line); err != nil {
				return err
			}
		}
		return nil
	})
}

// renamed writes the new names in a source table.
func (c *chains) renamed(ctx context.Context, t *ledger.SourceTable, line func(...string) error) error {
	names, err := c.l.Renames(ctx, t)
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
		if err := line(t.Source, t.Table.Name, sqlvalue.KeyText(c.Row), now, c.Column, before, after); err != nil {
			return err
		}
	}
	return nil
}

// writeList writes a list that the ledger has, as CSV with a header. what says in an error which one.
func writeList(
	ctx context.Context, d sqlsnow.Dialect, target *sql.DB, to io.Writer, what, header string, write func(c *chains, line func(...string) error) error,
) error {
	e, err := dialect.Of(d)
	if err != nil {
		return fmt.Errorf("merge: %s: %w", what, err)
	}
	c, err := newChains(ctx, ledger.Ledger{Engine: e, Q: target})
	w := csv.NewWriter(to)
	line := func(fields ...string) error { return w.Write(fields) }
	if err == nil {
		err = line(strings.Split(header, ",")...)
	}
	if err == nil {
		err = write(c, line)
	}
	if err == nil {
		w.Flush()
		err = w.Error()
	}
	if err != nil {
		return fmt.Errorf("merge: %s: %w", what, err)
	}
	return nil
}
