package merge

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"strconv"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// Lookup returns the id that the row with oldID in a table of a source has in the target: a new one, the same one,
// or the id of the row that it was merged into. It reads what runs have stored in the target, so it needs no plan,
// and writes nothing. With several databases, a table is named as in the plan, such as auth.account. It returns a
// [*report.LeftOutError] if the row was left out, and [report.ErrNotFound] if the row does not exist. In a table
// whose rows kept their ids, Lookup takes any row with oldID in the target for the source's.
//
// If a source was itself made by merges, ids from before those are found through all of them: source may be eu of
// the merge that made source m12, whose whole name is /m12/eu; m12/eu says it too, and eu if no other source is
// called so. A name of several sources is a [*report.AmbiguousSourceError].
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
	c, err := newChains(ctx, ledger.Ledger{Engine: e, Q: target})
	if err != nil {
		return 0, err
	}
	number, err := c.number(source, table)
	if err != nil {
		return 0, err
	}
	found, err := c.resolve(ctx, number, []int64{oldID})
	if err != nil {
		return 0, err
	}
	after, ok := found[oldID]
	last, asked := c.last[number]
	switch {
	case asked && last == nil:
		return 0, fmt.Errorf("%w: the table has no column of ids", report.ErrNotFound)
	case !ok || after.Fate == ledger.Missing:
		return 0, report.ErrNotFound
	case after.Fate == ledger.Dropped:
		return 0, leftOut(ctx, c.l, after.at, after.old)
	}
	return after.ID, nil
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
	return &report.LeftOutError{Reason: "it referred to no row"} // the run did not write down which row
}

// Export writes the map from old to new ids as CSV with a header: source, table, old_id, new_id. Sources and tables
// are in the order of their merges, their rows in the order of old_id. A row that was merged into another one
// has its id, a row that was dropped has none, and rows that kept their ids have no line. After them come the rows
// of merges that made sources, such as source m12/eu: new_id is the id in the target, and empty if the row was
// deleted since. A row that kept its id in that merge has no line of it. Export holds one list of ids at a time
// in memory, a few thousand at most.
func Export(ctx context.Context, d sqlsnow.Dialect, target *sql.DB, w io.Writer) error {
	return writeList(ctx, d, target, w, "export", "source,table,old_id,new_id", func(c *chains, line func(...string) error) error {
		of := func(source, table string) func(int64, ledger.Successor) error {
			return func(old int64, after ledger.Successor) error {
				id := ""
				if after.Fate != ledger.Dropped {
					id = strconv.FormatInt(after.ID, 10)
				}
				return line(source, table, strconv.FormatInt(old, 10), id)
			}
		}
		for _, t := range c.merged {
			if err := (ledger.IDMap{Ledger: c.l}).Each(ctx, t, of(t.Source, t.Table.Name)); err != nil {
				return err
			}
		}
		for _, e := range c.earlier {
			if err := c.each(ctx, e, of(e.Path, e.Table)); err != nil {
				return err
			}
		}
		return nil
	})
}
