package phases

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// Forecast is a dry run.
func Forecast(ctx context.Context, j *Job) (_ *report.Forecast, err error) {
	began := time.Now()
	d := &dryRun{Job: j, forecast: &report.Forecast{Sources: j.Plan.Sources}, merged: rekey.NewRememberedIdentities(), all: NewFindings(), throttle: chunk.NewThrottle(j.Throttle)}
	if err := d.prepare(ctx); err != nil {
		return nil, err
	}
	if d.conns, err = j.connect(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.conns.Close()) }()
	if j.Writers > 1 && d.throttle == nil && !j.Engine.Within { // a pooler may have one connection only
		if d.ahead, err = j.connect(ctx); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, d.ahead.Close()) }()
	}
	d.before.conns = d.conns
	d.next = map[*plan.Table]uint64{}
	d.conflicts = rekey.NewConflicts(j.Plan, d.conns, d.merged)
	if d.forecast.Problems == 0 { // otherwise there may be tables that can't be counted
		if d.totals, err = j.countRows(ctx, d.conns, d.allSourceTables()); err != nil {
			return nil, err
		}
	}
	j.tell(report.Event{Kind: report.EventPhase, Phase: phaseDryRun, Total: sumOf(d.totals)})
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
		d.joined = joinedRows{}
		if err := d.try(ctx, t, d.before, func(x *trial) error {
			for _, source := range order {
				if err := d.table(ctx, d.sourceTable(source, t), before, x); err != nil {
					return err
				}
			}
			d.forecastNumbers(t)
			return d.combine(ctx, t)
		}); err != nil {
			return nil, err
		}
	}
	d.forecast.Open = append(d.forecast.Open, j.emptyPaths(d.all)...)
	d.forecast.Took, d.forecast.Waited = time.Since(began), d.throttle.Waited()
	d.forecast.Estimate = runPerDryRun * (d.forecast.Took - d.forecast.Waited)
	return d.forecast, nil
}

// prepare looks at the databases before rows are read. It takes connections of its own, for the registry may be the
// target, whose pool may have only one.
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
	} else if r != nil && !ledger.Deciding(r.Phase) {
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
	for _, c := range s.Table.ConditionsOf(s.Source) {
		d.forecast.Conditions = append(d.forecast.Conditions, report.ConditionForecast{Table: s.Table.Name, Source: s.Source, Reason: reasonOf(s.Table, c), Where: c.Where})
	}
	rows := d.forecast.Conditions
	return d.chosen(ctx, d.conns, s, d.throttle, func(c *plan.Condition, keys [][]any) error {
		for i := range rows {
			if row := &rows[i]; row.Table == s.Table.Name && row.Source == s.Source && row.Reason == reasonOf(s.Table, c) {
				row.Rows += int64(len(keys))
			}
		}
		for _, key := range keys {
			d.merged.Drop(s.Source, s.Table, key, rekey.Chosen)
		}
		return nil
	})
}

// follow finds the rows of a source table that are left out because of what they refer to.
func (d *dryRun) follow(ctx context.Context, s *ledger.SourceTable) error {
	if !slices.ContainsFunc(s.Columns, (*plan.Column).DropsRows) {
		return nil
	}
	f := &tableForecast{dryRun: d, of: s.Only((*plan.Column).DropsRows), row: &report.TableForecast{}, samples: NewFindings(), silent: true}
	if err := f.refer(ctx); err != nil {
		return err
	}
	return f.each(ctx, func(rows [][]any) error {
		lost, err := f.references(ctx, rows)
		for i, values := range rows {
			if err == nil && lost[i] {
				d.merged.Drop(s.Source, s.Table, f.of.RowKey(values), rekey.Follows)
			}
		}
		return err
	})
}

// each calls do with the rows of the source table, some at a time. Meanwhile it reads those that follow, where that
// is allowed.
func (f *tableForecast) each(ctx context.Context, do func(rows [][]any) error) error {
	type read struct {
		rows  [][]any
		limit int
		err   error
	}
	pace := f.PaceOf(f.of)
	next := func(conns *chunk.Conns, after []any) (r read) {
		r.limit = pace.Size()
		if f.of.Content == nil { // without a key, each read goes through the whole table
			r.limit = f.throttle.Most(r.limit)
		}
		r.rows, r.err = f.of.Read(ctx, conns, after, nil, r.limit)
		return r
	}
	var after []any
	var ahead chan read
	for {
		start := time.Now()
		err := f.Pause(ctx)
		var r read
		if ahead != nil {
			r = <-ahead
		} else if err == nil {
			r = next(f.conns, after)
		}
		if err := cmp.Or(err, r.err); err != nil {
			return err
		}
		more := len(r.rows) == r.limit
		if ahead = nil; more {
			after = f.of.RowKey(r.rows[len(r.rows)-1])
			if f.ahead != nil && f.of.Content == nil {
				reading := make(chan read, 1)
				go func(after []any) { reading <- next(f.ahead, after) }(after)
				ahead = reading
			}
		}
		err = do(r.rows)
		if err != nil && ahead != nil {
			<-ahead
		}
		if err != nil {
			return err
		}
		pace.Observe(len(r.rows), chunk.SizeOf(r.rows...), time.Since(start))
		if err := wait(ctx, f.throttle, f.conns, len(r.rows), start); err != nil {
			return err
		}
		if !more {
			return nil
		}
	}
}

// wait waits as a throttle wants it, with no transaction that has read anything.
func wait(ctx context.Context, throttle *chunk.Throttle, conns *chunk.Conns, rows int, since time.Time) error {
	if throttle == nil {
		return nil
	}
	if err := conns.Rest(ctx); err != nil {
		return err
	}
	return throttle.Wait(ctx, rows, since)
}

// countSource counts the rows of a source table.
func (j *Job) countSource(ctx context.Context, conns *chunk.Conns, t *ledger.SourceTable) (int64, error) {
	source, err := conns.Source(ctx, t.Source)
	if err != nil {
		return 0, err
	}
	n, err := chunk.CountRows(ctx, source.Engine, source, t.Table.Name)
	return n, dialect.OfSource(t.Source, err)
}

// CountSources counts the rows of the sources' tables that a run reads.
func CountSources(ctx context.Context, j *Job) (rows int64, err error) {
	c, err := j.connect(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, t := range j.Order {
		if t.Empty {
			continue
		}
		for _, source := range j.Plan.SourcesOf(t) {
			s, err := c.Source(ctx, source)
			if err != nil {
				return 0, err
			}
			n, err := chunk.CountRows(ctx, s.Engine, s, t.Name)
			if err != nil {
				return 0, dialect.OfSource(source, err)
			}
			rows += n
		}
	}
	return rows, nil
}

// table goes through one table of one source.
func (d *dryRun) table(ctx context.Context, t *ledger.SourceTable, before int64, x *trial) error {
	d.forecast.Tables = append(d.forecast.Tables, report.TableForecast{Table: t.Table.Name, Source: t.Source, Before: before})
	f := &tableForecast{dryRun: d, of: t, row: &d.forecast.Tables[len(d.forecast.Tables)-1], trial: x, samples: NewFindings()}
	if t.Table.Empty {
		n, err := d.countSource(ctx, d.conns, t)
		f.row.Rows, f.row.Dropped = n, n
		return err
	}
	if err := f.begin(ctx); err != nil {
		return err
	}
	progress := d.progress(phaseDryRun, t, 0, totalOf(d.totals, t))
	progress.begin()
	start := time.Now()
	err := f.each(ctx, func(rows [][]any) error {
		if err := f.look(ctx, rows); err != nil {
			return err
		}
		progress.Chunk(len(rows), time.Since(start))
		start = time.Now()
		return nil
	})
	if err != nil {
		return err
	}
	progress.end()
	d.merged.Done(t.Source, t.Table)
	return f.end(ctx)
}
