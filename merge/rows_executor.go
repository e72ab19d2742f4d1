package merge

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/phases"
	"github.com/shardsnow/snow/merge/internal/rekey"
)

// A rowExecutor reads the rows of a source table, and writes those of the target.
type rowExecutor struct {
	*rowMinter
	*rowCopier
	*rowVerifier
}

func newRowExecutor(ctx context.Context, w phases.Work) (*rowExecutor, error) {
	source, err := w.Conns.Source(ctx, w.Table.Source)
	if err != nil {
		return nil, err
	}
	rewriter := rekey.NewRewriter(w.Run.Of(w.Table.Source), w.Conns.Target, source)
	hasher := chunk.NewHasher(w.Table.Columns, w.Blobs())
	return &rowExecutor{
		&rowMinter{Work: w, rewriter: rewriter, writer: ledger.MapWriter{S: w.Conns.Target}},
		&rowCopier{Work: w, rewriter: rewriter, hasher: hasher},
		&rowVerifier{Work: w, rewriter: rewriter, hasher: hasher, target: &rekey.Checker{Engine: w.Engine, Q: w.Conns.Target}},
	}, nil
}

func (x *rowExecutor) Joins() bool { return false }

func (x *rowExecutor) Close() {
	x.writer.Close()
	if x.insert != nil {
		x.insert.Close()
	}
}
