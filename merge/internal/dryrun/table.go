package dryrun

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/preflight"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/settle"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A dryRun goes through the tables of the sources.
type dryRun struct {
	*work.Job
	conns     *chunk.Conns
	ahead     *chunk.Conns // reads rows ahead; nil if nothing does
	forecast  *report.Forecast
	conflicts *rekey.Conflicts
	merged    *rekey.RememberedIdentities
	before    *preflight.Check       // what it found
	epoch     time.Time              // no id has an earlier time
	all       *work.Seen             // of all tables
	next      map[*plan.Table]uint64 // the first dense id of the next source
	totals    work.Totals            // of the sources, if anybody listens
	throttle  *chunk.Throttle        // nil if there is none
	winners   settle.Winners         // of the table that is looked at
}

// A tableForecast is what a dry run finds in one table of one source.
type tableForecast struct {
	*dryRun
	of         *ledger.SourceTable
	row        *report.TableForecast
	rewriter   *rekey.Rewriter
	columns    []*rekey.IDColumn
	successors rekey.Successors // of what the rows that are looked at refer to
	rooms      []*settle.Room   // for each column what it must fit in the target
	keys       []*preflight.ForeignKey
	highest    map[*ledger.SourceTable]int64 // see highestOf
	ids        *rekey.NewIDs                 // nil if no ids are made, or no numbers
	made       []int64                       // the numbers of the rows that are looked at, or 0
	dates      *rekey.Dates                  // nil if no ids are made, or none are dated
	now        time.Time
	latest     time.Time
	found      report.DateForecast
	trial      *trial       // nil if the table needs none
	copies     *copiesTrial // of rows without a key; nil before the first
	unfit      []bool       // which of the rows that are looked at have values that do not fit
	samples    *work.Seen
}

func (f *tableForecast) begin(ctx context.Context) error {
	err := f.refer(ctx)
	if err != nil {
		return err
	}
	s := f.of
	f.highest = map[*ledger.SourceTable]int64{}
	for _, c := range s.Columns {
		f.rooms = append(f.rooms, settle.RoomOf(f.Engine.Kind, f.inTarget(s.Table, c)))
	}
	f.keys = foreignKeys(f)
	for _, column := range f.columns {
		for _, parent := range column.Parents {
			if f.highest[parent], err = highestOf(ctx, f.dryRun, parent); err != nil {
				return err
			}
		}
	}
	if s.Rekeys && s.Ids.IDs.AreNumbers() {
		formula := rekey.NewFormula(s.Ids, 0)
		f.ids = &rekey.NewIDs{Formula: formula, Place: formula.Start()}
	}
	if s.Rekeys && s.Created() != "" {
		f.now = time.Now()
		f.found = report.DateForecast{Table: s.Table.Name, Source: s.Source, Column: s.Table.Created}
		f.dates, err = rekey.NewDates(f.Engine.Kind, s)
	}
	return err
}

func (f *tableForecast) end(ctx context.Context) error {
	if f.found.Undated+f.found.Early+f.found.Future+f.found.Inversions > 0 {
		f.forecast.Dates = append(f.forecast.Dates, f.found)
	}
	for _, column := range f.columns {
		f.all.Reach(f.of.Source, column)
	}
	if f.copies != nil {
		if err := f.copies.compare(ctx, f.trial, f); err != nil {
			return err
		}
	}
	left, err := f.Leftovers(ctx, f.conns, f.of, f.samples)
	f.forecast.Open = append(f.forecast.Open, left...)
	return err
}

// look goes through some rows.
func (f *tableForecast) look(ctx context.Context, all [][]any) error {
	f.row.Rows += int64(len(all))
	f.SampleRows(f.samples, f.of, all)
	var rows []rekey.Row
	for _, values := range all {
		if f.merged.Left(f.of.Source, f.of.Table, f.of.RowKey(values)) != rekey.Chosen {
			rows = append(rows, newRow(f.of, values))
		}
	}
	if err := f.references(ctx, rows); err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(r rekey.Row) bool {
		if r.New == nil {
			f.lacks(&r)
		}
		return r.New == nil
	})
	f.row.Dropped += int64(len(all) - len(rows))
	f.shortest(rows)
	alive := make([][]any, len(rows))
	for i, r := range rows {
		alive[i] = r.Old
	}
	verdicts, err := f.conflicts.Decide(ctx, f.of.Table, f.of.Source, f.of.Columns, alive)
	if err != nil {
		return err
	}
	f.unfit, f.made = make([]bool, len(rows)), make([]int64, len(rows))
	for i := range rows {
		r, v := &rows[i], verdicts[i]
		for n, c := range v.Clashes {
			f.forecast.AddClash(uniqueOf(f.of.Table, c.Unique), c, v.Failed == c && n == len(v.Clashes)-1)
		}
		fits := true
		for _, rename := range v.Renames {
			if !rename.Set {
				f.row.Renamed++
			}
			if !rename.Set && !f.of.Table.Renumbers(f.Engine.Kind, rename.Column) {
				continue
			}
			if reason := f.rooms[f.of.Position(rename.Column.Name)].Misfit(rekey.Stored(f.Engine, rename.Column, rename.After)); reason != "" {
				fits = false
				f.misfit(r, rename.Column.Name, errors.New("its new value: "+reason))
			}
		}
		if v.Merged {
			f.row.Merged++
			if id, ok := f.id(r.Old); ok {
				f.merged.Add(f.of.Source, f.of.Table, id, v.Winner)
			}
			if f.of.Table.Combines() {
				database, key := v.Into(f.of.Table)
				f.winners.Add(database, key, rekey.Loser{Source: f.of.Source, Key: r.Key})
			}
			continue
		}
		f.lacks(r)
		if f.of.Rekeys {
			f.row.Rekeyed++
			f.date(r.Old)
			f.made[i] = number(f, r.Old)
		}
		f.unfit[i] = !f.fits(r, f.made[i]) || !fits
	}
	if err := foreign(ctx, f, rows, verdicts); err != nil {
		return err
	}
	if f.trial != nil {
		return f.trial.rows(ctx, f, rows, verdicts)
	}
	return nil
}

// inTarget returns a column as the target has it or, if it is missing there, as Schema makes it.
func (d *dryRun) inTarget(t *plan.Table, c *plan.Column) *plan.Column {
	if table := d.before.Target.TableLike(t.Name); table != nil {
		if there := catalog.ColumnLike(table.Table, c.Name); there != nil {
			return there
		}
	}
	made := *c
	made.Type = d.Plan.TargetType(t, c)
	return &made
}

// id returns the value of the column of Role key, where there is one.
func (f *tableForecast) id(values []any) (int64, bool) {
	if f.of.Key < 0 {
		return 0, false
	}
	return sqlvalue.ID(values[f.of.Key])
}

func uniqueOf(t *plan.Table, columns []string) *plan.Unique {
	for _, u := range t.Unique {
		if slices.Equal(u.Columns, columns) {
			return u
		}
	}
	return &plan.Unique{Columns: columns, Rule: plan.RuleFail} // the primary key
}

// date looks at what dates a new id.
func (f *tableForecast) date(values []any) {
	if f.dates == nil {
		return
	}
	at, ok := f.dates.Of(values)
	switch {
	case !ok:
		f.found.Undated++
	case at.After(f.now):
		f.found.Future++
	case at.Before(f.epoch):
		f.found.Early++
	case at.Before(f.latest):
		f.found.Inversions++
		f.found.Largest = max(f.found.Largest, f.latest.Sub(at))
	default:
		f.latest = at
	}
}
