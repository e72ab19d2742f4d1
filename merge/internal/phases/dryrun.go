package phases

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// phaseDryRun is the phase of a dry run's events.
const phaseDryRun = "dry-run"

// Forecast is a dry run.
func Forecast(ctx context.Context, j *Job) (_ *report.Forecast, err error) {
	began := time.Now()
	c, err := j.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	// Where there is no ledger, there was no run.
	if r, err := ledger.Of(c.Target).Load(ctx, j.ID, j.Plan); err == nil && r != nil && r.Phase != ledger.PhaseMint {
		return nil, errBegun
	}
	if err := (&preflight{j, c}).check(ctx); err != nil {
		return nil, err
	}
	j.tell(report.Event{Kind: report.EventPhase, Phase: phaseDryRun, Total: -1})
	merged := rekey.NewRememberedIdentities()
	d := &dryRun{
		Job: j, conns: c, forecast: &report.Forecast{Sources: j.Plan.Sources}, merged: merged,
		conflicts: rekey.NewConflicts(j.Plan, c, merged),
	}
	if d.target, err = catalog.Read(ctx, j.Engine.Kind, c.Target); err != nil {
		return nil, j.Engine.Failed("look at the target's tables", err)
	}
	for _, t := range j.Order {
		before, err := d.before(ctx, t)
		if err != nil {
			return nil, err
		}
		order, err := j.Plan.Precedence(t)
		if err != nil {
			return nil, err
		}
		for _, source := range order {
			if err := d.table(ctx, ledger.NewSourceTable(0, source, t), before); err != nil {
				return nil, err
			}
		}
	}
	d.forecast.Took = time.Since(began)
	d.forecast.Estimate = runPerDryRun * d.forecast.Took
	return d.forecast, nil
}

var errBegun = errors.New("the plan's run has copied rows already")

// runPerDryRun is about how many times as long as a dry run a run takes.
const runPerDryRun = 6

// before counts the rows that the target has of a table.
func (d *dryRun) before(ctx context.Context, t *plan.Table) (int64, error) {
	n, err := chunk.CountRows(ctx, d.Engine, d.conns.Target, t.Name)
	if err != nil {
		if ctx.Err() != nil {
			return 0, err
		}
		d.forecast.Notes = append(d.forecast.Notes, fmt.Sprintf("the target has no table %q yet, or it can't be read: %v", t.Name, err))
	}
	d.conflicts.Empty[t.Name] = n == 0
	return n, nil
}

// table goes through one table of one source.
func (d *dryRun) table(ctx context.Context, t *ledger.SourceTable, before int64) error {
	d.forecast.Tables = append(d.forecast.Tables, report.TableForecast{Table: t.Table.Name, Source: t.Source, Before: before})
	f := &tableForecast{dryRun: d, of: t, row: &d.forecast.Tables[len(d.forecast.Tables)-1]}
	if err := f.begin(ctx); err != nil {
		return err
	}
	progress := d.progress(phaseDryRun, t, 0, -1)
	progress.begin()
	pace := d.PaceOf(t)
	var after []any
	for {
		if err := d.Pause(ctx); err != nil {
			return err
		}
		start, limit := time.Now(), pace.Size()
		rows, err := t.Read(ctx, d.conns, after, nil, limit)
		if err != nil {
			return err
		}
		if err := f.look(ctx, rows); err != nil {
			return err
		}
		pace.Observe(len(rows), chunk.SizeOf(rows...), time.Since(start))
		progress.Chunk(len(rows), time.Since(start))
		if len(rows) < limit {
			break
		}
		after = t.PrimaryKey(rows[len(rows)-1])
	}
	f.end()
	progress.end()
	return nil
}
