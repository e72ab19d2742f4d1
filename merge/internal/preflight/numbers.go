package preflight

import (
	"context"
	"errors"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/numbers"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// chooseNumbers chooses the numbers of all tables whose new ids are numbers, and returns why there are none for
// some. The run chooses again, in the transaction that writes them down.
func chooseNumbers(ctx context.Context, p *Check) (errs []error, err error) {
	tables := numbers.Tables(p.Job)
	if len(tables) == 0 {
		return nil, nil
	}
	var left map[string][]ledger.Numbers
	l := ledger.Of(p.Conns.Target)
	if _, missing := l.Load(ctx, p.ID, p.Plan); missing == nil { // there is no ledger before the first run
		if left, err = l.Left(ctx); err != nil {
			return nil, err
		}
	}
	for _, t := range tables {
		n, err := numbers.Choose(ctx, p.Job, p.Conns, t, p.KeyOf(t), left[t.Name])
		if errors.As(err, new(*report.FitError)) || errors.As(err, new(*plan.Error)) {
			errs = append(errs, err)
		} else if err != nil {
			return nil, err
		} else {
			p.Numbers[t.Name] = n
		}
	}
	for _, t := range p.Order {
		if t.IDs.AreNumbers() {
			if err := numbers.CheckCounters(ctx, p.Conns.Target, t, p.Target.TableLike(t.Name)); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errs, ctx.Err()
}
