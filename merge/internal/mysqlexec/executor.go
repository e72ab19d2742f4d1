package mysqlexec

import (
	"context"
	"errors"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/phases"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// An Executor lets one MySQL server, which has the source and the target,
// do the work by statements. What a statement does not do as it should is undone
// and left to rows: they say what is wrong with which row, or do it nonetheless.
type Executor struct {
	phases.Work
	phases.Executor         // of rows
	minter          *minter // nil where rows must be seen: they may clash, or be dropped
	copier          *copier // nil where the server can't copy and compare all columns
	broken          bool    // the copier's statements had an error
}

// New returns nil if the server can't do the work.
func New(ctx context.Context, w phases.Work, rows phases.Executor) (phases.Executor, error) {
	source, err := onTarget(ctx, w.Conns, w.Table.Source)
	if err != nil || source == nil {
		return nil, err
	}
	x := &Executor{Work: w, Executor: rows}
	if w.Conflicts != nil {
		x.minter, err = newMinter(ctx, w, source)
	} else if unknown := func(c *plan.Column) bool { return c.HoldsReferences() && !w.Sound[c] }; !w.Table.Changed && (w.Sound == nil || !slices.ContainsFunc(w.Table.Columns, unknown)) {
		var s *selection
		if s, err = newSelection(ctx, w, source); s != nil {
			x.copier = &copier{w, s}
		}
	}
	if err != nil || x.minter == nil && x.copier == nil {
		return nil, err
	}
	return x, nil
}

// Mint is as [phases.Executor] says.
func (x *Executor) Mint(ctx context.Context) error {
	if x.minter == nil {
		return x.Executor.Mint(ctx)
	}
	err := x.minter.mint(ctx)
	if err == nil || isFinal(ctx, err) {
		return err
	}
	// The ledger says how far the server came.
	if rows := x.Executor.Mint(ctx); rows != nil {
		if errors.Is(err, errUnlike) {
			return rows
		}
		return errors.Join(x.Engine.Failed("mint", err), rows) // it may be what follows from the first
	}
	return nil
}

// Copy is as [phases.Executor] says.
func (x *Executor) Copy(ctx context.Context, chunks []ledger.Chunk) (bytes int, err error) {
	if x.copier != nil && !x.broken {
		bytes, err = x.copier.copy(ctx, chunks)
		if err == nil || isFinal(ctx, err) {
			return bytes, x.Engine.Failed("copy", err)
		}
		x.broken = true
	}
	return x.Executor.Copy(ctx, chunks)
}

// Compare is as [phases.Executor] says.
func (x *Executor) Compare(ctx context.Context, tasks []phases.Task) (*phases.Findings, error) {
	if x.copier != nil && !x.broken && tasks[0].Copied.Hash == (chunk.Sum{}) {
		found, err := x.copier.compare(ctx, tasks)
		if found != nil || isFinal(ctx, err) {
			return found, err
		}
		x.broken = err != nil
	}
	return x.Executor.Compare(ctx, tasks)
}

// isFinal reports whether a run ends with an error, whoever does the work.
func isFinal(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.As(err, new(*report.OvertakenError))
}
