package work

import (
	"context"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
)

// Rows is a [Feed] of the rows of a source table, in the order of what tells them apart.
type Rows struct {
	Table *ledger.SourceTable
	Conns *chunk.Conns
	Pace  *chunk.Pace
	After []any // what tells the last row apart that is done; nil before the first row

	Throttle *chunk.Throttle // nil if there is none
	Progress *Progress       // nil if nobody is told
	Multiple int             // a batch has a multiple of so many rows, if it has more; Default: 1

	// Read reads rows that follow on others. Default: all rows of the source table.
	Read func(ctx context.Context, conns *chunk.Conns, after []any, limit int) (Page, error)

	ended bool
}

// A Page is what one read returns.
type Page struct {
	Rows [][]any
	Seen int   // how many rows were looked at
	Last []any // what tells the last one of them apart
}

// Each calls do with the rows, one batch after another.
func (r *Rows) Each(ctx context.Context, j *Job, do func(ctx context.Context, rows [][]any) (bytes int, err error)) error {
	return Loop(ctx, j, r, func(ctx context.Context, p Page) (int, error) { return do(ctx, p.Rows) })
}

// Next reads the next rows.
func (r *Rows) Next(ctx context.Context) (Page, bool, error) {
	if r.ended {
		return Page{}, false, nil
	}
	limit := r.Pace.Size()
	if r.Table.Content == nil { // without a key, each read goes through the whole table
		limit = r.Throttle.Most(limit)
		if limit > r.Multiple && r.Multiple > 0 {
			limit -= limit % r.Multiple
		}
	}
	p, err := r.read(ctx, limit)
	r.ended = p.Seen < limit
	return p, p.Seen > 0, err
}

func (r *Rows) read(ctx context.Context, limit int) (Page, error) {
	if r.Read != nil {
		return r.Read(ctx, r.Conns, r.After, limit)
	}
	rows, err := r.Table.Read(ctx, r.Conns, r.After, nil, limit)
	return PageOf(r.Table, rows), err
}

// PageOf returns the page of rows that all are wanted.
func PageOf(t *ledger.SourceTable, rows [][]any) Page {
	p := Page{Rows: rows, Seen: len(rows)}
	if len(rows) > 0 {
		p.Last = t.RowKey(rows[len(rows)-1])
	}
	return p
}

// Done goes on after the rows, when the throttle allows it.
func (r *Rows) Done(ctx context.Context, p Page, bytes int, took time.Duration) error {
	r.After = p.Last
	r.Pace.Observe(len(p.Rows), bytes, took)
	r.Progress.Chunk(len(p.Rows), took)
	if r.Throttle == nil {
		return nil
	}
	if err := r.Conns.Rest(ctx); err != nil { // no transaction that has read anything waits
		return err
	}
	return r.Throttle.Wait(ctx, p.Seen, time.Now().Add(-took))
}
