package merge

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
)

// A rowExecutor reads the rows of a source table, and writes those of the target.
type rowExecutor struct {
	*rowMinter
	*rowCopier
	*rowVerifier
}

func newRowExecutor(ctx context.Context, w work) (*rowExecutor, error) {
	source, err := w.conns.Source(ctx, w.table.Source)
	if err != nil {
		return nil, err
	}
	rewriter := rekey.NewRewriter(w.run.Of(w.table.Source), w.conns.Target, source)
	hasher := chunk.NewHasher(w.table.Columns, w.blobs())
	return &rowExecutor{
		&rowMinter{work: w, rewriter: rewriter, writer: ledger.MapWriter{S: w.conns.Target}},
		&rowCopier{work: w, rewriter: rewriter, hasher: hasher},
		&rowVerifier{work: w, rewriter: rewriter, hasher: hasher, target: &rekey.Checker{Engine: w.engine, Q: w.conns.Target}},
	}, nil
}

func (x *rowExecutor) Joins() bool { return false }

func (x *rowExecutor) Close() {
	x.writer.Close()
	if x.insert != nil {
		x.insert.Close()
	}
}
