package dryrun

import (
	"context"
	"math"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/plan"
)

// sourceTable returns one without a number in the ledger, with the numbers that its rows would get if their ids are
// such.
func (d *dryRun) sourceTable(source string, t *plan.Table) *ledger.SourceTable {
	s := ledger.NewSourceTable(0, source, t)
	if n := d.before.Numbers[t.Name]; n != nil && s.Rekeys {
		s.Ids = n.Ranges[source]
		if next := d.next[t]; next > 0 && s.Ids.IDs == plan.IDsDense {
			s.Ids.First = next
		}
	}
	return s
}

// allSourceTables returns the source tables of all tables.
func (d *dryRun) allSourceTables() (all []*ledger.SourceTable) {
	for _, t := range d.Order {
		for _, source := range d.Plan.SourcesOf(t) {
			all = append(all, ledger.NewSourceTable(0, source, t))
		}
	}
	return all
}

// number returns the number that a row gets, or 0 if it gets none: because ids are others, or because none is left.
func number(f *tableForecast, values []any) int64 {
	old, ok := f.id(values)
	if f.ids == nil || !ok {
		return 0
	}
	id, err := f.ids.Make(old, f.now, false)
	if err != nil {
		return 0
	}
	f.next[f.of.Table] = max(f.next[f.of.Table], uint64(id)+1)
	return int64(id)
}

// highestID returns the highest id that a row of a table may get.
func highestID(d *dryRun, t *plan.Table) int64 {
	switch n := d.before.Numbers[t.Name]; {
	case n != nil:
		return n.Highest
	case t.IDs.AreNumbers():
		return 1 // there is no room, which is told of already
	}
	return math.MaxInt64
}

// forecastNumbers tells how far the numbers of a table go when the rows of all sources were looked at.
func forecastNumbers(d *dryRun, t *plan.Table) {
	n := d.before.Numbers[t.Name]
	if n == nil || len(n.Ranges) == 0 {
		return
	}
	var rows int64
	for _, f := range d.forecast.Tables {
		if f.Table == t.Name {
			rows += f.Rekeyed
		}
	}
	row, err := n.Forecast(rows)
	if err != nil {
		d.forecast.AddStop(err)
	}
	d.forecast.Numbers = append(d.forecast.Numbers, row)
}

// highestOf returns the highest id that may take the place of one of a row, or 0 if none does: rows may be merged
// into others.
func highestOf(ctx context.Context, d *dryRun, t *ledger.SourceTable) (highest int64, err error) {
	switch {
	case t == nil || !t.Rekeys && !t.Table.Merges(d.Plan.Sources):
		return 0, nil
	case len(t.Table.NewIDs) > 0:
		return highestID(d, t.Table), nil
	}
	look := func(s *chunk.Session) error {
		_, most, err := (&rekey.Checker{Engine: s.Engine, Q: s}).Count(ctx, t.Table, nil)
		highest = max(highest, most)
		return err
	}
	if d.before.Target.TableLike(t.Table.Name) != nil {
		if err := look(d.conns.Target); err != nil {
			return 0, err
		}
	}
	for _, source := range d.Plan.SourcesOf(t.Table) {
		if source == t.Source {
			continue
		}
		s, err := d.conns.Source(ctx, source)
		if err == nil {
			err = look(s)
		}
		if err != nil {
			return 0, err
		}
	}
	return highest, nil
}
