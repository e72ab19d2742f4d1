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

	Ahead    *chunk.Conns    // reads the next rows during the work on a batch; nil if nothing does
	Throttle *chunk.Throttle // nil if there is none
	Progress *Progress       // nil if nobody is told
	Multiple int             // a batch has a multiple of so many rows, if it has more; Default: 1

	// Read reads rows that follow on others. Default: all rows of the source table.
	Read func(ctx context.Context, conns *chunk.Conns, after []any, limit int) (Page, error)

	ahead chan page // what Ahead reads
	ended bool
}

// A Page is what one read returns.
type Page struct {
	Rows [][]any
	Seen int   // how many rows were looked at
	Last []any // what tells the last one of them apart
}

type page struct {
	Page
	limit int
	err   error
}

// Each calls do with the rows, one batch after another.
func (r *Rows) Each(ctx context.Context, j *Job, do func(ctx context.Context, rows [][]any) (bytes int, err error)) error {
	defer func() {
		if r.ahead != nil {
			<-r.ahead // its session must be free
		}
	}()
	return Loop(ctx, j, r, func(ctx context.Context, p Page) (int, error) { return do(ctx, p.Rows) })
}

// Next reads the next rows.
func (r *Rows) Next(ctx context.Context) (Page, bool, error) {
	if r.ended {
		return Page{}, false, nil
	}
	var p page
	if r.ahead != nil {
		p, r.ahead = <-r.ahead, nil
	} else {
		p = r.read(ctx, r.Conns, r.After)
	}
	if p.err != nil || p.Seen == 0 {
		return Page{}, false, p.err
	}
	r.ended = p.Seen < p.limit
	if !r.ended && r.Ahead != nil && r.Table.Content == nil {
		reading := make(chan page, 1)
		go func() { reading <- r.read(ctx, r.Ahead, p.Last) }()
		r.ahead = reading
	}
	return p.Page, true, nil
}

func (r *Rows) read(ctx context.Context, conns *chunk.Conns, after []any) (p page) {
	p.limit = r.Pace.Size()
	if r.Table.Content == nil { // without a key, each read goes through the whole table
		p.limit = r.Throttle.Most(p.limit)
		if p.limit > r.Multiple && r.Multiple > 0 {
			p.limit -= p.limit % r.Multiple
		}
	}
	if r.Read != nil {
		p.Page, p.err = r.Read(ctx, conns, after, p.limit)
		return p
	}
	rows, err := r.Table.Read(ctx, conns, after, nil, p.limit)
	p.Page, p.err = PageOf(r.Table, rows), err
	return p
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
