package phases

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A dryRun goes through the tables of the sources.
type dryRun struct {
	*Job
	conns     *chunk.Conns
	ahead     *chunk.Conns // reads rows ahead; nil if nothing does
	forecast  *report.Forecast
	conflicts *rekey.Conflicts
	merged    *rekey.RememberedIdentities
	before    *preflight             // what it found
	epoch     time.Time              // no id has an earlier time
	all       *Findings              // of all tables
	next      map[*plan.Table]uint64 // the first dense id of the next source
	totals    map[rowsOf]int64       // of the sources, if anybody listens
	throttle  *chunk.Throttle        // nil if there is none
	joined    joinedRows             // of the table that is looked at
}

// A tableForecast is what a dry run finds in one table of one source.
type tableForecast struct {
	*dryRun
	of      *ledger.SourceTable
	row     *report.TableForecast
	columns []*rekey.IDColumn
	sound   map[*rekey.IDColumn]bool // references of which all are known to be ids of rows of the source
	rooms   []*room                  // for each column what it must fit in the target
	keys    []*foreignKey
	highest map[*ledger.SourceTable]int64 // see highestOf
	source  *rekey.Checker
	ids     *rekey.NewIDs // nil if no ids are made, or no numbers
	made    []int64       // the numbers of the rows that are looked at, or 0
	dates   *rekey.Dates  // nil if no ids are made, or none are dated
	now     time.Time
	latest  time.Time
	found   report.DateForecast
	trial   *trial        // nil if the table needs none
	copies  *copiesTrial  // of rows without a key; nil before the first
	unfit   []bool        // which of the rows that are looked at have values that do not fit
	gone    map[gone]bool // what the rows that are looked at refer to, and is no row
	samples *Findings
	silent  bool // only which rows are left out is looked for
}

// A gone is an id of no row, in the column at an index.
type gone struct {
	at, ref int
	text    string
}

func (f *tableForecast) begin(ctx context.Context) error {
	err := f.refer(ctx)
	if err != nil {
		return err
	}
	s := f.of
	f.highest = map[*ledger.SourceTable]int64{}
	for _, c := range s.Columns {
		f.rooms = append(f.rooms, roomOf(f.Engine.Kind, f.inTarget(s.Table, c)))
	}
	f.keys = f.foreignKeys()
	for _, column := range f.columns {
		for _, parent := range column.Parents {
			if f.highest[parent], err = f.highestOf(ctx, parent); err != nil {
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
	left, err := f.leftovers(ctx, f.conns, f.of, f.samples)
	f.forecast.Open = append(f.forecast.Open, left...)
	return err
}

// look goes through some rows.
func (f *tableForecast) look(ctx context.Context, rows [][]any) error {
	all := int64(len(rows))
	f.row.Rows += all
	f.SampleRows(f.samples, f.of, rows)
	rows = slices.DeleteFunc(slices.Clone(rows), func(values []any) bool {
		return f.merged.Left(f.of.Source, f.of.Table, f.of.RowKey(values)) == rekey.Chosen
	})
	lost, err := f.references(ctx, rows)
	if err != nil {
		return err
	}
	var alive [][]any
	for i, values := range rows {
		if !lost[i] {
			alive = append(alive, values)
		}
	}
	f.row.Dropped += all - int64(len(alive))
	verdicts, err := f.conflicts.Decide(ctx, f.of.Table, f.of.Source, f.of.Columns, alive)
	if err != nil {
		return err
	}
	f.unfit, f.made = make([]bool, len(alive)), make([]int64, len(alive))
	for i, values := range alive {
		v := verdicts[i]
		for n, c := range v.Clashes {
			f.forecast.AddClash(uniqueOf(f.of.Table, c.Unique), c, v.Failed == c && n == len(v.Clashes)-1)
		}
		fits := true
		for _, r := range v.Renames {
			if !r.Set {
				f.row.Renamed++
			}
			if !r.Set && !f.of.Table.Renumbers(f.Engine.Kind, r.Column) {
				continue
			}
			if reason := f.rooms[f.of.Position(r.Column.Name)].misfit(rekey.Stored(f.Engine, r.Column, r.After)); reason != "" {
				fits = false
				f.refuse(values, r.Column.Name, errors.New("its new value: "+reason))
			}
		}
		if v.Merged {
			f.row.Merged++
			if id, ok := f.id(values); ok {
				f.merged.Add(f.of.Source, f.of.Table, id, v.Winner)
			}
			if f.of.Table.Combines() {
				place, key := v.Into(f.of.Table)
				f.joined.add(place, key, rekey.Loser{Source: f.of.Source, Key: f.of.RowKey(values)})
			}
			continue
		}
		if f.of.Rekeys {
			f.row.Rekeyed++
			f.date(values)
			f.made[i] = f.number(values)
		}
		f.unfit[i] = !f.fits(values, f.made[i]) || !fits
	}
	if err := f.foreign(ctx, alive, verdicts); err != nil {
		return err
	}
	if f.trial != nil {
		return f.trial.rows(ctx, f, alive, verdicts)
	}
	return nil
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

// fits looks for values that the target's columns do not take, and reports whether there are none. The id of the
// row will be another one if that is not 0.
func (f *tableForecast) fits(values []any, id int64) bool {
	fits := true
	for n, c := range f.of.Columns {
		v := values[n]
		if n == f.of.Key && id != 0 {
			v = id
		}
		if i := slices.IndexFunc(f.columns, func(column *rekey.IDColumn) bool { return column.At == n }); i >= 0 && v != nil {
			var err error
			if v, err = f.longest(f.columns[i], values); err != nil {
				fits = false
				f.refuse(values, c.Name, err)
				continue
			}
		}
		reason := f.rooms[n].misfit(v)
		if _, ok := v.(int64); reason == "" && n == f.of.Key && f.of.Mapped && !ok {
			reason = rekey.ErrKey.Error()
		}
		if reason != "" {
			fits = false
			f.refuse(values, c.Name, errors.New(reason))
		}
	}
	return fits
}

// refuse notes a value that the target does not take.
func (f *tableForecast) refuse(values []any, column string, reason error) {
	key := f.of.Describe(values)
	f.forecast.AddMisfit(f.of.Table.Name, f.of.Source, column, "row "+key+": "+reason.Error())
	f.forecast.AddProblem(&report.RowError{Source: f.of.Source, Table: f.of.Table.Name, Row: key, Err: rekey.ColumnError(column, reason)})
}

// longest returns a value with ids of the most digits in the place of those that are new, and without those of no
// row where they become NULL. It is an error if such an id has no room in a packed value, or one of the fewest
// digits would not be found there again. What is no value of the column's format is told of with its references.
func (f *tableForecast) longest(column *rekey.IDColumn, values []any) (v any, err error) {
	if id, ok := column.Integer(values); ok && len(f.gone) == 0 {
		parent := column.Parents[0]
		switch highest := f.highest[parent]; {
		case highest == 0 || id >= highest && !parent.Rekeys:
			return id, nil
		case parent.Rekeys && parent.Ids.IDs == plan.IDsOffset:
			return id + parent.Ids.Offset, nil
		default:
			return max(1, highest), nil
		}
	}
	row := &rekey.Row{Key: f.of.RowKey(values), Old: values}
	with := func(most bool) func(int, string) (string, bool) {
		given := map[string]string{} // names must differ where ids do
		return func(ref int, text string) (string, bool) {
			if column.Column.BecomesNull() && f.gone[gone{column.At, ref, text}] {
				return "", false
			}
			parent := column.Parents[ref]
			highest := f.highest[parent]
			if id, _ := sqlvalue.ParseID(text); highest == 0 || most && id >= highest && !parent.Rekeys {
				return text, true
			}
			if id, ok := sqlvalue.ParseID(text); ok && parent.Rekeys && parent.Ids.IDs == plan.IDsOffset {
				return strconv.FormatInt(id+parent.Ids.Offset, 10), true
			}
			key := parent.Table.Name + " " + text
			if given[key] == "" {
				id := 1 + int64(len(given))
				if most {
					id = max(1, highest+1-id)
				}
				given[key] = strconv.FormatInt(id, 10)
			}
			return given[key], true
		}
	}
	same := func(_ int, text string) (string, bool) { return text, true }
	if _, _, bad := column.Edit(row, same); bad != nil {
		return values[column.At], nil
	}
	if column.Column.Role == plan.RolePacked {
		_, _, err = column.Edit(row, with(false))
	}
	if err == nil {
		v, _, err = column.Edit(row, with(true))
	}
	var at *report.RowError
	if errors.As(err, &at) {
		err = errors.Unwrap(at.Err) // the row and the column are named by the caller
	}
	return v, err
}
