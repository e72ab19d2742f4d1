package phases

import (
	"context"
	"fmt"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// choose is phase choose: it writes down which rows the conditions of the plan leave out. Phase mint goes by what is written down, so
// that conditions which depend on the time have one answer. Rows of an earlier attempt that did not end are of another time.
func (w *writing) choose(ctx context.Context) error {
	target := w.conns.Target
	l := ledger.Of(target)
	w.tell(report.Event{Kind: report.EventPhase, Phase: ledger.PhaseChoose, Total: -1})
	if err := w.lease.Transaction(ctx, target, func() error { return l.ForgetChanges(ctx, w.run.ID) }); err != nil {
		return w.Engine.Failed("forget which rows go", err)
	}
	for _, t := range w.run.Tables {
		if len(t.Table.ConditionsOf(t.Source)) == 0 {
			continue
		}
		progress := w.progress(ledger.PhaseChoose, t, 0, -1)
		progress.begin()
		err := w.chosen(ctx, w.conns, t, nil, func(c *plan.Condition, keys [][]any) error {
			changes := make([]ledger.Change, len(keys))
			for i, key := range keys {
				changes[i] = ledger.Change{Row: sqlvalue.FormatRow(key), Kind: ledger.ChangeDropped, Before: sqlvalue.FormatKey(key), After: reasonOf(t.Table, c)}
			}
			err := w.lease.Transaction(ctx, target, func() error { return l.InsertChanges(ctx, t, changes) })
			progress.Chunk(len(keys), 0)
			return w.Engine.Failed("write down which rows go", err)
		})
		if err != nil {
			return err
		}
		progress.end()
	}
	return nil
}

// reasonOf returns why a row is left out of which a condition is true: its number in the table.
func reasonOf(t *plan.Table, c *plan.Condition) string {
	for i, other := range t.WithoutRows {
		if other == c {
			return fmt.Sprintf("without_rows %d", i+1)
		}
	}
	return ""
}

// chosen calls do with what tells the rows apart that the conditions of the plan choose in a source table, some at a time. A row of
// several conditions is of the first. With a throttle, a statement looks at no more rows than that allows, whichever of them are chosen.
func (j *Job) chosen(ctx context.Context, conns *chunk.Conns, t *ledger.SourceTable, throttle *chunk.Throttle, do func(c *plan.Condition, keys [][]any) error) error {
	part := t.Only(func(*plan.Column) bool { return false })
	pace := j.PaceOf(part)
	var before string // none of the conditions before is true
	for _, c := range t.Table.ConditionsOf(t.Source) {
		where := before + c.SQL()
		before += "CASE WHEN " + c.SQL() + " THEN 0 ELSE 1 END = 1 AND "
		var after []any
		for {
			if err := j.Pause(ctx); err != nil {
				return err
			}
			start, limit := time.Now(), pace.Size()
			var upto []any // the last row that is looked at
			var seen int
			if throttle != nil && part.Content == nil {
				limit = throttle.Most(limit)
				between, err := part.Read(ctx, conns, after, nil, limit)
				if err != nil {
					return err
				}
				if seen = len(between); seen == 0 {
					break
				}
				upto = part.RowKey(between[seen-1])
			}
			rows, err := part.ReadWhere(ctx, conns, where, after, upto, limit)
			if err != nil {
				return fmt.Errorf("without_rows of table %q: %w", t.Table.Name, err)
			}
			if upto == nil {
				seen = len(rows)
			}
			if err := wait(ctx, throttle, conns, seen, start); err != nil {
				return err
			}
			if seen == 0 {
				break
			}
			pace.Observe(len(rows), chunk.SizeOf(rows...), time.Since(start))
			keys := make([][]any, len(rows))
			for i, row := range rows {
				keys[i] = part.RowKey(row)
			}
			if err := do(c, keys); err != nil {
				return err
			}
			if after = upto; upto == nil {
				after = keys[len(keys)-1]
			}
			if seen < limit {
				break
			}
		}
	}
	return nil
}
