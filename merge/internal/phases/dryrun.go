package phases

import (
	"context"
	"errors"
	"slices"
	"time"

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
	d := &dryRun{Job: j, forecast: &report.Forecast{Sources: j.Plan.Sources}, merged: rekey.NewRememberedIdentities(), all: NewFindings()}
	if err := d.prepare(ctx); err != nil {
		return nil, err
	}
	if d.conns, err = j.connect(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.conns.Close()) }()
	d.before.conns = d.conns
	d.next = map[*plan.Table]uint64{}
	d.conflicts = rekey.NewConflicts(j.Plan, d.conns, d.merged)
	j.tell(report.Event{Kind: report.EventPhase, Phase: phaseDryRun, Total: -1})
	if err := d.drop(ctx); err != nil {
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
		if err := d.try(ctx, t, d.before, func(x *trial) error {
			for _, source := range order {
				if err := d.table(ctx, d.sourceTable(source, t), before, x); err != nil {
					return err
				}
			}
			d.forecastNumbers(t)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	d.forecast.Open = append(d.forecast.Open, j.emptyPaths(d.all)...)
	d.forecast.Took = time.Since(began)
	d.forecast.Estimate = runPerDryRun * d.forecast.Took
	return d.forecast, nil
}

// prepare looks at the databases before rows are read. It takes connections of its own, for the registry may be the target,
// whose pool may have only one.
func (d *dryRun) prepare(ctx context.Context) (err error) {
	c, err := d.connect(ctx)
	if err != nil {
		return err
	}
	open := true
	defer func() {
		if open {
			err = errors.Join(err, c.Close())
		}
	}()
	d.before = d.newPreflight(c)
	if r, _, err := d.before.run(ctx); err != nil {
		return err
	} else if r != nil && r.Phase != ledger.PhaseMint {
		return errBegun
	}
	if err := d.before.check(ctx); err != nil {
		return err
	}
	stops, err := d.before.stops(ctx)
	if err != nil {
		return err
	}
	triggers, err := d.before.running(ctx)
	if err != nil {
		return err
	}
	holders, err := d.before.holders(ctx)
	if err != nil {
		return err
	}
	open = false
	if err := c.Close(); err != nil {
		return err
	}
	if d.epoch, err = d.reservable(ctx, holders); err != nil {
		stops = append(stops, err)
	}
	for _, err := range stops {
		d.forecast.AddStop(err)
	}
	d.forecast.Open = slices.Concat(d.openInPlan(), d.before.computed(), numberCheck{d.before}.uncounted(), triggers)
	return nil
}

var errBegun = errors.New("the plan's run has copied rows already")

// runPerDryRun is about how many times as long as a dry run a run takes.
const runPerDryRun = 6

// count counts the rows that the target has of a table.
func (d *dryRun) count(ctx context.Context, t *plan.Table) (int64, error) {
	n, err := chunk.CountRows(ctx, d.conns.Target.Engine, d.conns.Target, t.Name)
	if err != nil && (ctx.Err() != nil || d.forecast.Problems == 0) { // otherwise preflight has told of it
		return 0, err
	}
	d.conflicts.Empty[t.Name] = n == 0
	return n, nil
}

// table goes through one table of one source.
func (d *dryRun) table(ctx context.Context, t *ledger.SourceTable, before int64, x *trial) error {
	d.forecast.Tables = append(d.forecast.Tables, report.TableForecast{Table: t.Table.Name, Source: t.Source, Before: before})
	f := &tableForecast{dryRun: d, of: t, row: &d.forecast.Tables[len(d.forecast.Tables)-1], trial: x, samples: NewFindings()}
	if err := f.begin(ctx); err != nil {
		return err
	}
	progress := d.progress(phaseDryRun, t, 0, -1)
	progress.begin()
	err := d.read(ctx, t, func(rows [][]any) error {
		start := time.Now()
		if err := f.look(ctx, rows); err != nil {
			return err
		}
		progress.Chunk(len(rows), time.Since(start))
		return nil
	})
	if err != nil {
		return err
	}
	progress.end()
	return f.end(ctx)
}

// read calls look with the rows of a table of a source, some at a time.
func (d *dryRun) read(ctx context.Context, t *ledger.SourceTable, look func(rows [][]any) error) error {
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
		if err := look(rows); err != nil {
			return err
		}
		pace.Observe(len(rows), chunk.SizeOf(rows...), time.Since(start))
		if len(rows) < limit {
			return nil
		}
		after = t.RowKey(rows[len(rows)-1])
	}
}

// drop remembers which rows with an id are dropped, before anything that may refer to them is looked at.
func (d *dryRun) drop(ctx context.Context) error {
	for _, t := range d.Order { // each after those that decide which of its rows are dropped
		if t.Key() == nil || !slices.ContainsFunc(t.Columns, (*plan.Column).DropsRows) {
			continue
		}
		for _, source := range d.Plan.SourcesOf(t) {
			f := &tableForecast{dryRun: d, of: ledger.NewSourceTable(0, source, t).Only((*plan.Column).DropsRows)}
			if err := f.refer(ctx); err != nil {
				return err
			}
			if err := d.read(ctx, f.of, func(rows [][]any) error {
				for _, column := range f.columns {
					if !column.Column.DropsRows() { // the other half of one that does
						continue
					}
					orphans, _, err := f.orphans(ctx, column, rows)
					if err != nil {
						return err
					}
					for _, h := range orphans {
						if id, ok := f.id(rows[h.Row]); ok {
							d.merged.Drop(source, t, id)
						}
					}
				}
				return nil
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// inTarget returns a column as the target has it or, if it is missing there, as Schema makes it.
func (d *dryRun) inTarget(t *plan.Table, c *plan.Column) *plan.Column {
	if table := tableOf(d.before.target, t.Name); table != nil {
		if there := columnOf(table.Table, c.Name); there != nil {
			return there
		}
	}
	made := *c
	made.Type = d.Plan.TargetType(t, c)
	return &made
}
