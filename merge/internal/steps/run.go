package steps

import (
	"context"
	"errors"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/earlier"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/numbers"
	"github.com/shardsnow/snow/merge/internal/preflight"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// Run goes through the phases that write, from where an earlier run ended.
func Run(ctx context.Context, j *work.Job) (err error) {
	w := &work.Writer{Job: j}
	s := &start{Job: j, reserved: map[string]sqlsnow.Reservation{}, keys: map[string]*plan.Column{}}
	if err := s.reserve(ctx); err != nil {
		return err
	}
	if w.Conns, err = j.ConnectWriter(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Conns.Close()) }()
	return leased(ctx, w, func(ctx context.Context) error {
		if w.Run, err = s.begin(ctx, w); err != nil {
			return err
		}
		return phases(ctx, w, s.before)
	})
}

// leased calls do with the lease of the target.
func leased(ctx context.Context, w *work.Writer, do func(context.Context) error) error {
	var renewer func(context.Context) (*chunk.Session, error) // nil where only one connection can write
	if w.Engine.Writers > 1 {
		renewer = func(ctx context.Context) (*chunk.Session, error) {
			return w.Target.Open(ctx, w.Engine, w.Engine.Target)
		}
	}
	ctx, lease, err := ledger.TakeLease(ctx, w.Conns.Target, renewer, w.ID, w.Holder, w.LeaseTime)
	if err != nil {
		return err
	}
	defer lease.Release()
	w.Lease = lease
	err = do(ctx)
	if cause := context.Cause(ctx); err != nil && errors.As(cause, new(*report.OvertakenError)) {
		return cause
	}
	return err
}

func phases(ctx context.Context, w *work.Writer, before *preflight.Check) error {
	for w.Run.State != ledger.StateCopied {
		var err error
		state, next := ledger.StateRunning, ""
		switch w.Run.Phase {
		case ledger.PhaseChoose:
			next, err = ledger.PhaseMint, choose(ctx, w)
		case ledger.PhaseMint:
			next, err = ledger.PhaseCopy, mint(ctx, w)
		case ledger.PhaseCopy:
			next, err = ledger.PhaseLink, fill(ctx, w)
		default:
			state, next, err = ledger.StateCopied, ledger.PhaseVerify, fill(ctx, w)
			if err == nil {
				err = updateCombined(ctx, w)
			}
			if err == nil {
				err = numbers.CountOn(ctx, w, before.Target)
			}
			if err == nil {
				err = earlier.Copy(ctx, w)
			}
		}
		if err != nil {
			return err
		}
		if err := w.Transaction(ctx, "begin a phase", func() error { return ledger.Of(w.Conns.Target).Enter(ctx, w.Run, state, next) }); err != nil {
			return err
		}
		w.Run.State, w.Run.Phase = state, next
	}
	return nil
}
