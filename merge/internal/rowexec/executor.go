package rowexec

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/phases"
	"github.com/shardsnow/snow/merge/internal/rekey"
)

// An Executor reads the rows of a source table, and writes those of the target.
type Executor struct {
	*minter
	*copier
	*verifier
	*linker
}

// New returns the executor for a work.
func New(ctx context.Context, w phases.Work) (phases.Executor, error) {
	source, err := w.Conns.Source(ctx, w.Table.Source)
	if err != nil {
		return nil, err
	}
	rewriter := rekey.NewRewriter(w.Codecs, w.Run.Of(w.Table.Source), w.Conns.Target, source)
	rewriter.IDs = rewriter.IDs.Remember(w.Pages)
	rewriter.Merged = rekey.Merged{Plan: w.Plan, Run: w.Run, Conns: w.Conns}
	hasher := chunk.NewHasher(w.Table.Columns, w.Blobs())
	c := &copier{Work: w, rewriter: rewriter, hasher: hasher, insert: chunk.NewInserter(w.Conns.Target, w.Table.Table.Name, w.Table.Columns)}
	all := w.Table.WithComputed()
	var keys []chunk.Form
	for _, at := range w.Table.Primary {
		keys = append(keys, chunk.FormOf(w.Table.Columns[at]))
	}
	return &Executor{
		&minter{Work: w, rewriter: rewriter, writer: ledger.NewMapWriter(w.Conns.Target)}, c,
		&verifier{Work: w, rewriter: rewriter, hasher: chunk.NewHasher(all.Columns, w.Blobs()), all: all, target: &rekey.Checker{Engine: w.Conns.Target.Engine, Q: w.Conns.Target}, keys: keys}, newLinker(c),
	}, nil
}

// Close ends prepared statements.
func (x *Executor) Close() {
	x.writer.Close()
	x.insert.Close()
}
