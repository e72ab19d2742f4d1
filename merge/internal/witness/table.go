package witness

import (
	"context"
	"fmt"

	"github.com/shardsnow/snow/merge/plan"
)

// Table compares the references of one table, of as many rows as it has: it returns the counts of each reference.
func (w *Witness) Table(ctx context.Context, t *plan.Table, rows int64) ([]Counts, error) {
	links := w.links(t)
	if len(links) == 0 || rows == 0 {
		return nil, nil
	}
	if w.led == nil {
		w.led, w.seen = map[where]map[int64]string{}, map[sample]bool{}
	}
	c := &comparison{Witness: w, table: t, links: links, shares: 1, size: rows, counts: make([]Counts, len(links))}
	for i, l := range links {
		c.counts[i].Column, c.counts[i].Ref = l.column, l.ref
		if err := w.loadContents(ctx, l.parent); err != nil {
			return nil, fmt.Errorf("contents of table %q: %w", l.parent.Name, err)
		}
	}
	if w.Rows > 0 && rows > w.Rows {
		c.shares = rows / w.Rows
	}
	for {
		if err := c.compare(ctx); err != nil {
			return nil, fmt.Errorf("references of table %q: %w", t.Name, err)
		}
		if c.read > 0 || c.shares == 1 {
			return c.counts, nil
		}
		c.shares = 1 // the rows have few contents, and none has the share
	}
}

// loadContents finds out which contents of a table are of several rows.
func (w *Witness) loadContents(ctx context.Context, t *plan.Table) error {
	known := w.Known.table(t)
	known.once.Do(func() { known.shared, known.told, known.err = w.shared(ctx, t) })
	return known.err
}
