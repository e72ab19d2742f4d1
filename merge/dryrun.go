package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// phaseDryRun is the phase of a dry run's events.
const phaseDryRun = "dry-run"

// DryRun reads all rows of the sources, and of the target those whose unique
// keys they have, and returns what a run would do to them and what would stop
// it: see [report.Forecast.Err]. It writes nothing, so the target need not even have
// the tables yet. What it remembers of rows that would be merged or renamed is
// kept in memory.
func (m *Merge) DryRun(ctx context.Context) (*report.Forecast, error) {
	f, err := m.dryRun(ctx)
	if err != nil {
		return nil, fmt.Errorf("merge: dry run: %w", ended(ctx, err))
	}
	return f, nil
}

func (m *Merge) dryRun(ctx context.Context) (_ *report.Forecast, err error) {
	start := time.Now()
	w, err := m.newWorker(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	// Where there is no ledger, there was no run.
	if r, err := m.load(ctx, w.target); err == nil && r != nil && r.phase != phaseMint {
		return nil, errBegun
	}
	f := &report.Forecast{Sources: m.plan.Sources}
	sources := map[string]queryer{}
	for _, s := range m.sources {
		if sources[s.Name], err = w.source(ctx, s.Name); err != nil {
			return nil, err
		}
	}
	if err := m.preflight(ctx, w); err != nil {
		return nil, err
	}
	m.teller.tell(report.Event{Kind: report.EventPhase, Phase: phaseDryRun, Total: -1})
	merged := newRemembering()
	d := &dryRun{Merge: m, worker: w, forecast: f, merged: merged, clashes: newClasher(m.engine, m.plan, w.target, sources, merged)}
	for _, t := range m.minting {
		before, err := d.before(ctx, t)
		if err != nil {
			return nil, err
		}
		order, err := m.plan.Precedence(t)
		if err != nil {
			return nil, err
		}
		for _, source := range order {
			if err := d.scope(ctx, newScope(0, source, t), before); err != nil {
				return nil, err
			}
		}
	}
	f.Took = time.Since(start)
	f.Estimate = runPerDryRun * f.Took
	return f, nil
}

var errBegun = errors.New("the plan's run has copied rows already")

// runPerDryRun is about how many times as long as a dry run a run takes.
const runPerDryRun = 6

// A dryRun goes through the tables of the sources.
type dryRun struct {
	*Merge
	worker   *worker
	forecast *report.Forecast
	clashes  *clasher
	merged   *remembering
}

// before counts the rows that the target has of a table.
func (d *dryRun) before(ctx context.Context, t *plan.Table) (int64, error) {
	n, err := d.engine.count(ctx, d.worker.target, t.Name)
	if err != nil {
		if ctx.Err() != nil {
			return 0, err
		}
		d.forecast.Notes = append(d.forecast.Notes, fmt.Sprintf("the target has no table %q yet, or it can't be read: %v", t.Name, err))
	}
	d.clashes.empty[t.Name] = n == 0
	return n, nil
}

// scope goes through one table of one source.
func (d *dryRun) scope(ctx context.Context, s *scope, before int64) error {
	d.forecast.Tables = append(d.forecast.Tables, report.TableForecast{Table: s.table.Name, Source: s.source, Before: before})
	g := &glance{dryRun: d, scope: s, row: &d.forecast.Tables[len(d.forecast.Tables)-1]}
	if err := g.begin(ctx); err != nil {
		return err
	}
	event := report.Event{Kind: report.EventTable, Phase: phaseDryRun, Source: s.source, Table: s.table.Name, Total: -1}
	d.teller.tell(event)
	pace := newThrottle(d.config.BatchRows, d.config.BatchTime)
	var after []any
	for {
		if err := d.brake.wait(ctx, d.teller.tell); err != nil {
			return err
		}
		start, limit := time.Now(), pace.size()
		rows, err := d.worker.read(ctx, s, after, nil, limit)
		if err != nil {
			return err
		}
		if err := g.look(ctx, rows); err != nil {
			return err
		}
		bytes := 0
		for _, row := range rows {
			bytes += sizeOf(row)
		}
		pace.observe(len(rows), bytes, time.Since(start))
		event.Kind, event.Rows, event.Batch, event.Took = report.EventBatch, g.row.Rows, len(rows), time.Since(start)
		d.teller.tell(event)
		if len(rows) < limit {
			break
		}
		after = s.rowKey(rows[len(rows)-1])
	}
	g.end()
	event.Kind, event.Total = report.EventEnd, g.row.Rows
	d.teller.tell(event)
	return nil
}

// A glance is what a dry run does with one table of one source.
type glance struct {
	*dryRun
	scope    *scope
	row      *report.TableForecast
	finders  []*finder
	presence presence // of rows in the source
	created  int      // the column that dates ids; -1 if there is none
	zone     *time.Location
	now      time.Time
	latest   time.Time
	dates    report.DateForecast
}

func (g *glance) begin(ctx context.Context) error {
	s := g.scope
	source, err := g.worker.source(ctx, s.source)
	if err != nil {
		return err
	}
	g.presence = presence{engine: g.engine, target: source}
	scopes := map[string]*scope{}
	for _, t := range g.plan.Tables {
		if !t.Skip && t.In(s.source) {
			scopes[t.Name] = newScope(0, s.source, t)
		}
	}
	for at, c := range s.columns {
		if c.HoldsReferences() {
			f, err := newFinder(&rewriter{engine: g.engine, scopes: scopes}, s, at)
			if err != nil {
				return err
			}
			g.finders = append(g.finders, f)
		}
	}
	g.created = -1
	if s.mints && s.table.Created != "" {
		g.created, g.zone, g.now = s.position(s.table.Created), time.UTC, time.Now()
		g.dates = report.DateForecast{Table: s.table.Name, Source: s.source, Column: s.table.Created}
		if s.table.Zone != "" && g.created >= 0 && !zoned(g.engine.dialect, s.columns[g.created]) {
			g.zone, err = time.LoadLocation(s.table.Zone)
		}
	}
	return err
}

func (g *glance) end() {
	if g.dates.Undated+g.dates.Future+g.dates.Inversions > 0 {
		g.forecast.Dates = append(g.forecast.Dates, g.dates)
	}
}

// look goes through some rows.
func (g *glance) look(ctx context.Context, rows [][]any) error {
	g.row.Rows += int64(len(rows))
	lost, err := g.references(ctx, rows)
	if err != nil {
		return err
	}
	var alive [][]any
	for i, values := range rows {
		if lost[i] {
			g.row.Dropped++
			if id, ok := g.id(values); ok {
				g.merged.drop(g.scope.source, g.scope.table, id)
			}
			continue
		}
		alive = append(alive, values)
	}
	verdicts, err := g.clashes.decide(ctx, g.scope.table, g.scope.source, g.scope.columns, alive)
	if err != nil {
		return err
	}
	for i, values := range alive {
		v := verdicts[i]
		for n, c := range v.clashes {
			g.forecast.AddClash(uniqueOf(g.scope.table, c.Unique), c, v.failed == c && n == len(v.clashes)-1)
		}
		g.row.Renamed += int64(len(v.renames))
		if v.merged {
			g.row.Merged++
			if id, ok := g.id(values); ok {
				g.merged.add(g.scope.source, g.scope.table, id, v.winner)
			}
			continue
		}
		if g.scope.mints {
			g.row.Rekeyed++
			g.date(values)
		}
		g.fits(values)
	}
	return nil
}

// id returns the value of the column of Role key, where there is one.
func (g *glance) id(values []any) (int64, bool) {
	if g.scope.key < 0 {
		return 0, false
	}
	return idOf(values[g.scope.key])
}

func uniqueOf(t *plan.Table, columns []string) *plan.Unique {
	for _, u := range t.Unique {
		if slices.Equal(u.Columns, columns) {
			return u
		}
	}
	return &plan.Unique{Columns: columns, Rule: plan.RuleFail} // the primary key
}

// references looks for references to no row, and returns which rows are
// dropped for one.
func (g *glance) references(ctx context.Context, rows [][]any) (lost []bool, err error) {
	lost = make([]bool, len(rows))
	type held struct {
		row   int
		table *plan.Table // nil where the source does not have it
		id    int64
		text  string
		valid bool
	}
	for _, f := range g.finders {
		var all []held
		wanted := map[*plan.Table][]int64{}
		for i, values := range rows {
			_, _, err := f.edit(&row{key: g.scope.rowKey(values), old: values}, func(ref int, text string) (string, bool) {
				h := held{row: i, text: text}
				h.id, h.valid = parseID(text)
				if parent := f.parents[ref]; parent != nil {
					h.table = parent.table
					wanted[h.table] = append(wanted[h.table], h.id)
				}
				all = append(all, h)
				return text, true
			})
			var bad *report.RowError
			if errors.As(err, &bad) {
				g.forecast.AddMisfit(g.scope.table.Name, g.scope.source, f.column.Name, "row "+bad.Row+": "+bad.Err.Error())
				g.forecast.AddProblem(bad)
			} else if err != nil {
				return nil, err
			}
		}
		exists := map[*plan.Table]map[int64]bool{}
		for t, ids := range wanted {
			if exists[t], err = g.presence.of(ctx, t, ids); err != nil {
				return nil, err
			}
		}
		for _, h := range all {
			if h.valid && exists[h.table][h.id] {
				continue
			}
			key := keyText(g.scope.rowKey(rows[h.row]))
			g.forecast.AddOrphan(g.scope.table.Name, g.scope.source, f.column.Name, f.column.Orphans, fmt.Sprintf("row %s: %q", key, h.text))
			switch f.column.Orphans {
			case plan.OrphansDrop:
				lost[h.row] = true
			case plan.OrphansFail:
				g.forecast.AddProblem(&report.OrphanError{Source: g.scope.source, Table: g.scope.table.Name, Column: f.column.Name, Row: key, Value: h.text})
			}
		}
	}
	return lost, nil
}

// date looks at what dates a new id.
func (g *glance) date(values []any) {
	if g.created < 0 {
		return
	}
	at, ok := parseDate(values[g.created], g.zone)
	switch {
	case !ok:
		g.dates.Undated++
	case at.After(g.now):
		g.dates.Future++
	case at.Before(g.latest):
		g.dates.Inversions++
		g.dates.Largest = max(g.dates.Largest, g.latest.Sub(at))
	default:
		g.latest = at
	}
}

// fits looks for values that the target's columns do not take.
func (g *glance) fits(values []any) {
	for n, c := range g.scope.columns {
		v := values[n]
		if i := slices.IndexFunc(g.finders, func(f *finder) bool { return f.at == n }); i >= 0 && v != nil {
			v = g.longest(g.finders[i], values)
		}
		if reason := misfit(g.engine.dialect, c, v); reason != "" {
			key := keyText(g.scope.rowKey(values))
			g.forecast.AddMisfit(g.scope.table.Name, g.scope.source, c.Name, "row "+key+": "+reason)
			g.forecast.AddProblem(&report.RowError{Source: g.scope.source, Table: g.scope.table.Name, Row: key, Err: columnError(c.Name, errors.New(reason))})
		}
	}
}

// longest returns a value with ids of the most digits in the place of those
// that are minted.
func (g *glance) longest(f *finder, values []any) any {
	v, _, err := f.edit(&row{key: g.scope.rowKey(values), old: values}, func(ref int, text string) (string, bool) {
		if parent := f.parents[ref]; parent != nil && parent.mints {
			return strings.Repeat("9", sqltype.IDDigits-1), true
		}
		return text, true
	})
	if err != nil {
		return values[f.at]
	}
	return v
}
