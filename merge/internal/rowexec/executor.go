package rowexec

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/phases"
	"github.com/shardsnow/snow/merge/internal/rekey"
)

// A Executor reads the rows of a source table, and writes those of the target.
type Executor struct {
	*minter
	*copier
	*verifier
}

// New returns the executor for a work.
func New(ctx context.Context, w phases.Work) (*Executor, error) {
	source, err := w.Conns.Source(ctx, w.Table.Source)
	if err != nil {
		return nil, err
	}
	rewriter := rekey.NewRewriter(w.Run.Of(w.Table.Source), w.Conns.Target, source)
	hasher := chunk.NewHasher(w.Table.Columns, w.Blobs())
	return &Executor{
		&minter{Work: w, rewriter: rewriter, writer: ledger.NewMapWriter(w.Conns.Target)},
		&copier{Work: w, rewriter: rewriter, hasher: hasher},
		&verifier{Work: w, rewriter: rewriter, hasher: hasher, target: &rekey.Checker{Engine: w.Engine, Q: w.Conns.Target}},
	}, nil
}

// Joins is as [phases.Executor] says: chunks are compared one by one.
func (x *Executor) Joins() bool { return false }

// Close ends prepared statements.
func (x *Executor) Close() {
	x.writer.Close()
	if x.insert != nil {
		x.insert.Close()
	}
}
