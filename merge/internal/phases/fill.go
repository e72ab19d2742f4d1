package phases

import (
	"context"
	"errors"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// Fill goes through the phases that write, from where an earlier run ended.
func Fill(ctx context.Context, j *Job) (err error) {
	if err := j.lookFirst(ctx); err != nil {
		return err
	}
	s := &start{Job: j}
	if err := s.reserve(ctx); err != nil {
		return err
	}
	first, err := j.Writer(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, first.Close()) }()
	var renewer func(context.Context) (*chunk.Session, error)
	if j.Engine.Writers > 1 {
		renewer = func(ctx context.Context) (*chunk.Session, error) {
			return chunk.OpenSession(ctx, j.Engine, j.Target, j.Engine.Target)
		}
	}
	ctx, lease, err := ledger.TakeLease(ctx, first.Target, renewer, j.ID, j.Holder, j.LeaseTime)
	if err != nil {
		return err
	}
	defer lease.Release()
	err = j.phases(ctx, s, lease, first)
	if cause := context.Cause(ctx); err != nil && errors.As(cause, new(*report.OvertakenError)) {
		return cause
	}
	return err
}

// lookFirst does so with sessions of its own, for the registry, which is next,
// may be the target, whose pool may have only one.
func (j *Job) lookFirst(ctx context.Context) (err error) {
	c, err := j.conns(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return (&preflight{j, c}).check(ctx)
}

func (j *Job) phases(ctx context.Context, s *start, lease *ledger.Lease, first *chunk.Conns) error {
	if err := (&preflight{j, first}).fits(ctx); err != nil {
		return err
	}
	r, err := s.begin(ctx, lease, first.Target)
	if err != nil || r.State == ledger.StateCopied {
		return err
	}
	enter := func(state, phase string) error {
		err := lease.Transaction(ctx, first.Target, func() error { return ledger.Of(first.Target).Enter(ctx, r, state, phase) })
		if err != nil {
			return j.Engine.Failed("begin a phase", err)
		}
		r.State, r.Phase = state, phase
		return nil
	}
	if r.Phase == ledger.PhaseMint {
		if looksBack(j.Plan) {
			if err := ledger.Of(first.Target).IndexMap(ctx); err != nil {
				return err
			}
		}
		if err := (&minting{j, r, lease, first}).mint(ctx); err != nil {
			return err
		}
		if err := enter(ledger.StateRunning, ledger.PhaseCopy); err != nil {
			return err
		}
	}
	if r.Phase == ledger.PhaseCopy {
		if err := (&filling{Job: j, run: r, lease: lease, phase: ledger.PhaseCopy}).fill(ctx, first); err != nil {
			return err
		}
		if err := enter(ledger.StateRunning, ledger.PhaseLink); err != nil {
			return err
		}
	}
	if err := (&filling{Job: j, run: r, lease: lease, phase: ledger.PhaseLink}).fill(ctx, first); err != nil {
		return err
	}
	return enter(ledger.StateCopied, ledger.PhaseVerify)
}

// looksBack reports whether unique keys hold references to rows that may be
// merged, so that old ids must be found by new ones.
func looksBack(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Tables, func(t *plan.Table) bool {
		return !t.Skip && slices.ContainsFunc(t.Unique, func(u *plan.Unique) bool {
			return slices.ContainsFunc(u.Columns, func(name string) bool {
				return slices.ContainsFunc(t.Column(name).Refers, func(r *plan.Reference) bool {
					parent := p.Table(r.Table)
					return parent != nil && parent.Merges()
				})
			})
		})
	})
}
