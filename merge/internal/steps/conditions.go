package steps

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/settle"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// choose is phase choose: it writes down which rows the conditions of the plan leave out. Phase mint goes by what
// is written down, so that conditions which depend on the time have one answer. Rows of an earlier attempt that did
// not end are of another time.
func choose(ctx context.Context, w *work.Writer) error {
	l := ledger.Of(w.Conns.Target)
	w.Tell(report.Event{Kind: report.EventPhase, Phase: ledger.PhaseChoose, Total: -1})
	if err := w.Transaction(ctx, "forget which rows go", func() error { return l.ForgetChanges(ctx, w.Run.ID) }); err != nil {
		return err
	}
	for _, t := range w.Run.Tables {
		if len(t.Conditions()) == 0 {
			continue
		}
		progress := w.Progress(ledger.PhaseChoose, t, 0, -1)
		progress.Begin()
		err := settle.Choose(ctx, w.Job, w.Conns, t, nil, progress, func(c *plan.Condition, keys [][]any) error {
			changes := make([]ledger.Change, len(keys))
			for i, key := range keys {
				changes[i] = ledger.Change{Row: sqlvalue.FormatRow(key), Kind: ledger.ChangeDropped, Before: sqlvalue.FormatKey(key), After: settle.ReasonOf(t.Table, c)}
			}
			return w.Transaction(ctx, "write down which rows go", func() error { return l.InsertChanges(ctx, t, changes) })
		})
		if err != nil {
			return err
		}
		progress.End()
	}
	return nil
}
