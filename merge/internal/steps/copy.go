package steps

import (
	"context"
	"fmt"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A copier copies rows of a source table, and sets the references that were
// NULL at first.
type copier struct {
	*work.Writer
	table    *ledger.SourceTable
	deferred []*plan.Column // columns that are NULL until phase link
	last     int64          // the number of the last chunk of the table
	rewriter *rekey.Rewriter
	hasher   *chunk.Hasher
	insert   *chunk.Inserter
}

// newCopier returns one for a goroutine, which remembers pages of the map.
func newCopier(ctx context.Context, w *work.Writer, t *ledger.SourceTable, pages *ledger.Pages) (*copier, error) {
	rewriter, err := work.NewRewriter(ctx, w.Job, w.Run, w.Conns, t, pages)
	if err != nil {
		return nil, err
	}
	return &copier{Writer: w, table: t, rewriter: rewriter, hasher: chunk.NewHasher(t.Columns, w.Blobs()), insert: chunk.NewInserter(w.Conns.Target, t.Table.Name, t.Columns)}, nil
}

// copy copies the rows of chunks that follow on each other, in one transaction, and returns about how many bytes
// the rows have.
func (c *copier) copy(ctx context.Context, chunks []ledger.Chunk) (bytes int, err error) {
	values, rows, err := c.rows(ctx, c.table, chunks)
	if err != nil {
		return 0, err
	}
	done, err := c.account(chunks, rows)
	if err != nil {
		return 0, err
	}
	return chunk.SizeOf(values...), c.write(ctx, rows, done)
}

// rows returns the source's rows in some chunks, and what they become.
func (c *copier) rows(ctx context.Context, t *ledger.SourceTable, chunks []ledger.Chunk) ([][]any, []rekey.Row, error) {
	values, err := c.read(ctx, t, chunks)
	if err != nil {
		return nil, nil, err
	}
	rows, err := c.rewriter.Rewrite(ctx, t, values)
	return values, rows, err
}

// read returns the source's rows in some chunks. There must be as many as there
// were.
func (c *copier) read(ctx context.Context, t *ledger.SourceTable, chunks []ledger.Chunk) ([][]any, error) {
	first, last, want := chunks[0], chunks[len(chunks)-1], 0
	for _, each := range chunks {
		want += int(each.Read)
	}
	upto := last.Hi
	if last.Seq == c.last {
		upto = nil // nothing may have come after it
	}
	values, err := t.Read(ctx, c.Conns, first.Lo, upto, want+1)
	if err != nil {
		return nil, err
	}
	if len(values) > want {
		return nil, c.changed(last.Hi, fmt.Sprintf("there were %d rows up to it, and now there are more", want))
	}
	if len(values) < want {
		return nil, c.changed(last.Hi, fmt.Sprintf("there were %d rows up to it, and now there are %d", want, len(values)))
	}
	at := -1
	for _, each := range chunks {
		at += int(each.Read)
		if got := sqlvalue.FormatKey(t.RowKey(values[at])); got != sqlvalue.FormatKey(each.Hi) {
			return nil, c.changed(each.Hi, "row "+got+" is in its place")
		}
	}
	return values, nil
}

func (c *copier) changed(key []any, reason string) error {
	return &report.ChangedError{Source: c.table.Source, Table: c.table.Table.Name, Row: sqlvalue.FormatKey(key), Reason: reason}
}

// account returns what the ledger is to say of the chunks, if their rows become
// what phase mint decided.
func (c *copier) account(chunks []ledger.Chunk, rows []rekey.Row) ([]ledger.Chunk, error) {
	done := make([]ledger.Chunk, len(chunks))
	for i, minted := range chunks {
		d := minted.In(ledger.PhaseCopy)
		for _, row := range rows[:minted.Read] {
			d.Hash.Add(c.hasher.Row(row.Old[:len(c.table.Columns)]))
			if row.Fate == ledger.Missing {
				return nil, c.changed(row.Key, "the row is new")
			}
			d.Take(row.Fate)
		}
		if d.Counts != minted.Counts {
			return nil, c.changed(minted.Hi, fmt.Sprintf("of the rows up to it %d, %d and %d had a new id, were merged and were dropped, and now it would be %d, %d and %d",
				minted.Rekeyed, minted.Merged, minted.Dropped, d.Rekeyed, d.Merged, d.Dropped))
		}
		d.Written = d.Read - d.Merged - d.Dropped
		rows, done[i] = rows[minted.Read:], d
	}
	return done, nil
}

func (c *copier) write(ctx context.Context, rows []rekey.Row, done []ledger.Chunk) error {
	var deferred []int
	for _, column := range c.deferred {
		if at := c.table.Position(column.Name); at >= 0 {
			deferred = append(deferred, at)
		}
	}
	var values [][]any
	var keys [][]any
	for _, r := range rows {
		if r.New == nil {
			continue
		}
		for _, at := range deferred {
			r.New[at] = nil
		}
		values, keys = append(values, r.New[:len(c.table.Columns)]), append(keys, r.Key)
	}
	var refused error
	err := c.Lease.Transaction(ctx, c.Conns.Target, func() error {
		if refused = c.insert.Write(ctx, values); refused != nil {
			return refused
		}
		return ledger.Of(c.Conns.Target).InsertChunks(ctx, done)
	})
	if err != nil && refused != nil && ctx.Err() == nil && !c.Engine.IsBusy(err) {
		at, cause := c.insert.Blame(ctx, values, err)
		return c.table.RowError(keys[at], c.Engine.Failed("insert", cause))
	}
	return c.Engine.Failed("copy table "+strconv.Quote(c.table.Table.Name), err)
}
