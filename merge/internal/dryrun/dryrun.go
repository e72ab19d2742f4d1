package dryrun

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/clash"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/numbers"
	"github.com/shardsnow/snow/merge/internal/preflight"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/settle"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// Forecast is a dry run.
func Forecast(ctx context.Context, j *work.Job) (_ *report.Forecast, err error) {
	began := time.Now()
	d := &dryRun{Job: j, forecast: &report.Forecast{Run: j.ID, Sources: j.Plan.Sources}, merged: clash.NewRememberedIdentities(), renamed: settle.Renamed{}, all: work.NewSeen(), throttle: chunk.NewThrottle(j.Throttle)}
	if err := d.prepare(ctx); err != nil {
		return nil, err
	}
	if d.conns, err = j.Connect(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.conns.Close()) }()
	d.before.Conns = d.conns
	d.next = map[*plan.Table]uint64{}
	d.conflicts = clash.New(j.Plan, d.conns, d.merged)
	if d.forecast.Problems == 0 { // otherwise there may be tables that can't be counted
		if d.totals, err = work.CountRows(ctx, j, d.conns, d.allSourceTables()); err != nil {
			return nil, err
		}
	}
	j.Tell(report.Event{Kind: report.EventPhase, Phase: work.PhaseDryRun, Total: d.totals.Sum()})
	if err := d.leaveOut(ctx); err != nil {
		return nil, err
	}
	for _, t := range j.Order {
		before, err := d.count(ctx, t)
		if err != nil {
			return nil, err
		}
		order, err := j.Plan.Precedence(t)
		if err != nil {
			return nil, err
		}
		d.winners = settle.Winners{}
		if err := try(ctx, d, t, func(x trier) error {
			for _, source := range order {
				if err := d.table(ctx, d.sourceTable(source, t), before, x); err != nil {
					return err
				}
			}
			forecastNumbers(d, t)
			return combine(ctx, d, t)
		}); err != nil {
			return nil, err
		}
	}
	if err := oldNames(ctx, d); err != nil {
		return nil, err
	}
	d.forecast.Open = work.InOrder(append(d.forecast.Open, j.EmptyPaths(d.all)...))
	d.forecast.Took, d.forecast.Waited = time.Since(began), d.throttle.Waited()
	d.forecast.Estimate = runPerDryRun * (d.forecast.Took - d.forecast.Waited)
	return d.forecast, nil
}

// prepare looks at the databases before rows are read. It takes connections of its own, for the registry may be the
// target, whose pool may have only one.
func (d *dryRun) prepare(ctx context.Context) (err error) {
	c, err := d.Connect(ctx)
	if err != nil {
		return err
	}
	open := true
	defer func() {
		if open {
			err = errors.Join(err, c.Close())
		}
	}()
	d.before = preflight.New(d.Job, c)
	if r, _, err := d.before.Run(ctx); err != nil {
		return err
	} else if r != nil && !ledger.Deciding(r.Phase) {
		return errBegun
	}
	if err := d.before.Databases(ctx); err != nil {
		return err
	}
	stops, err := d.before.Stops(ctx)
	if err != nil {
		return err
	}
	triggers, err := d.before.Running(ctx)
	if err != nil {
		return err
	}
	holders, err := preflight.Holders(ctx, d.before)
	if err != nil {
		return err
	}
	open = false
	if err := c.Close(); err != nil {
		return err
	}
	if d.epoch, err = preflight.Reservable(ctx, d.Job, holders); err != nil {
		stops = append(stops, err)
	}
	for _, err := range stops {
		d.forecast.AddStop(err)
	}
	d.forecast.Open = slices.Concat(d.OpenInPlan(), d.before.Computed(), numbers.Uncounted(d.Job, d.before.Target), triggers)
	return nil
}

var errBegun = errors.New("the plan's run has copied rows already")

// runPerDryRun is about how many times as long as a dry run a run takes.
const runPerDryRun = 7

// count counts the rows that the target has of a table.
func (d *dryRun) count(ctx context.Context, t *plan.Table) (int64, error) {
	n, err := chunk.CountRows(ctx, d.conns.Target.Engine, d.conns.Target, t.Name)
	if err != nil && (ctx.Err() != nil || d.forecast.Problems == 0) { // otherwise preflight has told of it
		return 0, err
	}
	d.conflicts.Empty[t.Name] = n == 0
	return n, nil
}

// leaveOut finds out which rows are left out, before rows that refer to them are looked at.
func (d *dryRun) leaveOut(ctx context.Context) error {
	for _, t := range d.Order {
		if !t.LosesRows() || t.Empty {
			continue
		}
		for _, source := range d.Plan.SourcesOf(t) {
			s := ledger.NewSourceTable(0, source, t)
			if err := d.choose(ctx, s); err != nil {
				return err
			}
			if err := d.follow(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// choose finds the rows of a source table that conditions choose.
func (d *dryRun) choose(ctx context.Context, s *ledger.SourceTable) error {
	for _, c := range s.Conditions() {
		d.forecast.Conditions = append(d.forecast.Conditions, report.ConditionForecast{Table: s.Table.Name, Source: s.Source, Reason: settle.ReasonOf(s.Table, c), Where: c.Where})
	}
	rows := d.forecast.Conditions
	return settle.Choose(ctx, d.Job, d.conns, s, d.throttle, nil, func(c *plan.Condition, keys [][]any) error {
		for i := range rows {
			if row := &rows[i]; row.Table == s.Table.Name && row.Source == s.Source && row.Reason == settle.ReasonOf(s.Table, c) {
				row.Rows += int64(len(keys))
			}
		}
		for _, key := range keys {
			d.merged.Drop(s.Source, s.Table, key, clash.Chosen)
		}
		return nil
	})
}

// follow finds the rows of a source table that are left out because of what they refer to.
func (d *dryRun) follow(ctx context.Context, s *ledger.SourceTable) error {
	if !slices.ContainsFunc(s.Columns, (*plan.Column).DropsRows) {
		return nil
	}
	f := &tableForecast{dryRun: d, of: s.Only((*plan.Column).DropsRows), row: &report.TableForecast{}, samples: work.NewSeen()}
	if err := f.refer(ctx); err != nil {
		return err
	}
	return d.each(ctx, f.of, nil, func(ctx context.Context, all [][]any) error {
		rows := make([]rekey.Row, len(all))
		for i, values := range all {
			rows[i] = rekey.NewRow(f.of, values)
		}
		if err := f.references(ctx, rows); err != nil {
			return err
		}
		for _, r := range rows {
			if r.New == nil {
				d.merged.Drop(s.Source, s.Table, r.Key, clash.Follows)
			}
		}
		return nil
	})
}

// each calls do with the rows of a source table, one batch after another.
func (d *dryRun) each(ctx context.Context, t *ledger.SourceTable, progress *work.Progress, do func(ctx context.Context, rows [][]any) error) error {
	rows := work.Rows{Table: t, Conns: d.conns, Pace: d.PaceOf(t), Throttle: d.throttle, Progress: progress}
	return rows.Each(ctx, d.Job, func(ctx context.Context, rows [][]any) (int, error) {
		return chunk.SizeOf(rows...), do(ctx, rows)
	})
}

// table goes through one table of one source.
func (d *dryRun) table(ctx context.Context, t *ledger.SourceTable, before int64, x trier) error {
	d.forecast.Tables = append(d.forecast.Tables, report.TableForecast{Table: t.Table.Name, Source: t.Source, Before: before})
	f := &tableForecast{dryRun: d, of: t, row: &d.forecast.Tables[len(d.forecast.Tables)-1], trial: x, samples: work.NewSeen()}
	if t.Table.Empty {
		n, err := work.CountSource(ctx, d.conns, t)
		f.row.Rows, f.row.Dropped = n, n
		return err
	}
	if err := f.begin(ctx); err != nil {
		return err
	}
	progress := d.Progress(work.PhaseDryRun, t, 0, d.totals.Of(t))
	progress.Begin()
	if err := errors.Join(d.each(ctx, t, progress, f.look), f.packets.end()); err != nil {
		return err
	}
	progress.End()
	d.merged.Done(t.Source, t.Table)
	return f.end(ctx)
}
