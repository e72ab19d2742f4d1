package dryrun

import (
	"context"
	"slices"
	"time"

	"github.com/shardsnow/snow/merge/internal/clash"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/settle"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

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
	if f.packets, err = newPacketTrial(ctx, f.dryRun, s.Table.Name, s.Columns); err != nil {
		return err
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
	if f.trial != nil {
		if err := f.trial.end(ctx, f); err != nil {
			return err
		}
	}
	left, err := f.Leftovers(ctx, f.conns, f.of, f.samples)
	f.forecast.Open = append(f.forecast.Open, left...)
	return err
}

// look goes through some rows.
func (f *tableForecast) look(ctx context.Context, all [][]any) error {
	rows := make([]rekey.Row, len(all))
	for i, values := range all {
		rows[i] = rekey.NewRow(f.of, values)
		if f.merged.Left(f.of.Source, f.of.Table, rows[i].Key) == clash.Chosen {
			rows[i].New, rows[i].Fate = nil, ledger.Dropped
		}
	}
	if err := f.references(ctx, rows); err != nil {
		return err
	}
	verdicts, err := rekey.Decide(ctx, f.conflicts, f.of, rows)
	if err != nil {
		return err
	}
	f.shortest(rows)
	counts := ledger.Counts{Read: int64(len(rows))}
	f.unfit, f.made = make([]bool, len(rows)), make([]int64, len(rows))
	for i := range rows {
		r, v := &rows[i], verdicts[i]
		counts.Take(r.Fate)
		f.lacks(r)
		for n, c := range v.Clashes {
			f.forecast.AddClash(uniqueOf(f.of.Table, c.Unique), c, v.Failed == c && n == len(v.Clashes)-1)
		}
		switch {
		case v.Merged:
			f.merge(r, v)
		case r.New != nil:
			if r.Fate == ledger.Rekeyed {
				f.date(r.Old)
				f.made[i] = number(f, r.Old)
			}
			renames := f.renames(r, v)
			f.unfit[i] = !f.fits(r, f.made[i]) || !renames
			if f.unfit[i] {
				continue
			}
			packet, err := f.packets.judge(ctx, r)
			if err != nil {
				return err
			}
			if f.unfit[i] = packet != nil; f.unfit[i] {
				f.refuse(f.of.Describe(r.Old), f.packets.longest(r.New), packet.Error(), packet)
			}
		}
	}
	var copied [][]any
	for i := range rows {
		if rows[i].New != nil {
			copied = append(copied, rows[i].Old)
		}
	}
	f.SampleRows(f.samples, f.of, copied)
	f.row.Rows, f.row.Rekeyed = f.row.Rows+counts.Read, f.row.Rekeyed+counts.Rekeyed
	f.row.Merged, f.row.Dropped = f.row.Merged+counts.Merged, f.row.Dropped+counts.Dropped
	if err := foreign(ctx, f, rows, verdicts); err != nil {
		return err
	}
	if f.trial != nil {
		return f.trial.rows(ctx, f, rows, verdicts)
	}
	return nil
}

// merge notes a row that is merged into another one.
func (f *tableForecast) merge(r *rekey.Row, v clash.Verdict) {
	if id, ok := f.id(r.Old); ok {
		f.merged.Add(f.of.Source, f.of.Table, id, v.Winner)
	}
	if len(clash.CombinedColumns(f.of.Table)) > 0 {
		database, key := v.Into(f.of.Table)
		f.winners.Add(database, key, rekey.Loser{Source: f.of.Source, Key: r.Key})
	}
}

// renames counts the new names of a row, and reports whether the other values that come with them fit.
func (f *tableForecast) renames(r *rekey.Row, v clash.Verdict) bool {
	fit := true
	for _, rename := range v.Renames {
		if !rename.Set {
			f.row.Renamed++
		}
		if !rename.Set && !f.renumbers(rename.Column) {
			f.renamed.Add(f.Engine.Kind, f.of.Source, f.of.Table, rename.Column, rename.Before, rename.After)
		}
		if !rename.Set && !f.renumbers(rename.Column) {
			continue
		}
		if reason := f.rooms[f.of.Position(rename.Column.Name)].Misfit(rekey.Stored(f.Engine, rename.Column, rename.After)); reason != "" {
			fit = false
			f.misfit(r, rename.Column.Name, "its new value: "+reason)
		}
	}
	return fit
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

// renumbers reports whether rows may get another number in a column, by plan.RuleRenumber.
func (f *tableForecast) renumbers(column *plan.Column) bool {
	return slices.ContainsFunc(f.of.Table.Unique, func(u *plan.Unique) bool {
		return u.Rule == plan.RuleRenumber && f.of.Table.RenameColumn(u, f.Engine.Kind) == column
	})
}
