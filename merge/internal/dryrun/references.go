package dryrun

import (
	"context"
	"fmt"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// refer prepares for a look at references.
func (f *tableForecast) refer(ctx context.Context) error {
	s := f.of
	source, err := f.conns.Source(ctx, s.Source)
	if err != nil {
		return err
	}
	tables := map[string]*ledger.SourceTable{}
	for _, t := range f.Plan.Tables {
		if !t.Skip && t.In(s.Source) {
			tables[t.Name] = f.sourceTable(s.Source, t)
		}
	}
	f.rewriter = rekey.NewForecaster(f.Codecs, tables, f.merged, source)
	if f.columns, err = f.rewriter.Columns(s, func(*plan.Column) bool { return true }); err != nil {
		return err
	}
	checker := &rekey.Checker{Engine: source.Engine, Q: source}
	for _, column := range f.columns {
		column.Exact = true
		if !f.oneStatement(column) {
			continue
		}
		sound, err := checker.AreRows(ctx, f.Plan, s.Table, column.Column)
		if err != nil {
			return dialect.OfSource(s.Source, err)
		}
		column.Exact = !sound
	}
	return nil
}

// oneStatement reports whether one statement can look for the rows that a column of the source refers to: both have
// integers there, and the source need not be spared. Without it, a dry run of 400,000 rows on MariaDB took 12 % more
// processor time.
func (f *tableForecast) oneStatement(column *rekey.IDColumn) bool {
	parent := column.Parents[0]
	if column.Column.Role != plan.RoleReference || parent == nil || f.Engine.Kind == sqlsnow.SQLite || f.throttle != nil {
		return false
	}
	integer := func(t *plan.Table, name string) bool {
		is := f.before.Sources[f.of.Source].TableLike(t.Name)
		if is == nil || catalog.ColumnLike(is.Table, name) == nil {
			return false
		}
		return sqltype.Of(f.Engine.Kind, catalog.ColumnLike(is.Table, name).Type).Kind == sqltype.Integer
	}
	return integer(f.of.Table, column.Column.Name) && integer(parent.Table, parent.Table.Key().Name)
}

// references puts the longest ids in the place of old ones, and drops the rows that go because of what they refer to.
func (f *tableForecast) references(ctx context.Context, rows []rekey.Row) error {
	found, err := f.rewriter.Resolve(ctx, f.columns, rows)
	f.successors = found
	rekey.Replace(f.columns, rows, found, f.longest())
	return err
}

// replaced returns the rows that are copied as they were read, but with stand-ins for ids in some columns.
func (f *tableForecast) replaced(columns []*rekey.IDColumn, rows []rekey.Row, stand func() rekey.StandIn) []rekey.Row {
	all := make([]rekey.Row, len(rows))
	for i, r := range rows {
		if r.New != nil {
			all[i] = rekey.NewRow(f.of, r.Old)
		}
	}
	rekey.Replace(columns, all, f.successors, stand)
	return all
}

// lacks tells of references to no row and to rows that are left out.
func (f *tableForecast) lacks(r *rekey.Row) {
	for _, l := range r.Lacks {
		rule := l.Rule()
		if r.New == nil && rule != plan.OrphansDrop {
			continue // a run does not come to it
		}
		sample := fmt.Sprintf("row %s: %q", f.of.Describe(r.Old), l.ID)
		if l.LeftOut {
			f.forecast.AddGone(f.of.Table.Name, f.of.Source, l.Column.Name, rule, sample)
		} else {
			f.forecast.AddOrphan(f.of.Table.Name, f.of.Source, l.Column.Name, rule, sample)
		}
		if rule == plan.OrphansFail {
			f.forecast.AddProblem(l.Error(f.of, r))
		}
	}
}
