package work

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
)

// NewRewriter returns what rewrites the rows of a source table, by sessions of one goroutine. pages is what the
// goroutine remembers of the map; it may be nil.
func NewRewriter(ctx context.Context, j *Job, r *ledger.Run, c *chunk.Conns, t *ledger.SourceTable, pages *ledger.Pages) (*rekey.Rewriter, error) {
	source, err := c.Source(ctx, t.Source)
	if err != nil {
		return nil, err
	}
	w := rekey.NewRewriter(j.Codecs, r.Of(t.Source), c.Target, source)
	w.IDs = w.IDs.Remember(pages)
	w.Merged = rekey.Merged{Plan: j.Plan, Run: r, Conns: c}
	return w, nil
}
