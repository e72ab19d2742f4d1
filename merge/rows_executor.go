package merge

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/chunk"
)

// A rowExecutor reads the rows of a source table, and writes those of the target.
type rowExecutor struct {
	*rowMinter
	*rowCopier
	*rowVerifier
}

func newRowExecutor(ctx context.Context, w work) (*rowExecutor, error) {
	source, err := w.conns.Source(ctx, w.table.source)
	if err != nil {
		return nil, err
	}
	rewriter := newRewriter(w.run.of(w.table.source), w.conns.Target, source)
	hasher := chunk.NewHasher(w.table.columns, w.blobs())
	return &rowExecutor{
		&rowMinter{work: w, rewriter: rewriter, writer: mapWriter{s: w.conns.Target}},
		&rowCopier{work: w, rewriter: rewriter, hasher: hasher},
		&rowVerifier{work: w, rewriter: rewriter, hasher: hasher, target: &refChecker{engine: w.engine, q: w.conns.Target}},
	}, nil
}

func (x *rowExecutor) Joins() bool { return false }

func (x *rowExecutor) Close() {
	x.writer.close()
	if x.insert != nil {
		x.insert.Close()
	}
}
