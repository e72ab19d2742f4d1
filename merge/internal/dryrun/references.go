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
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// refer prepares for a look at references.
func (f *tableForecast) refer(ctx context.Context) error {
	s := f.of
	source, err := f.conns.Source(ctx, s.Source)
	if err != nil {
		return err
	}
	f.source = &rekey.Checker{Engine: source.Engine, Q: source}
	tables := map[string]*ledger.SourceTable{}
	for _, t := range f.Plan.Tables {
		if !t.Skip && t.In(s.Source) {
			tables[t.Name] = f.sourceTable(s.Source, t)
		}
	}
	for at, c := range s.Columns {
		if !c.HoldsReferences() {
			continue
		}
		column, err := rekey.NewIDColumn(f.Codecs, tables, s, at)
		if err != nil {
			return err
		}
		f.columns = append(f.columns, column)
		if !f.oneStatement(column) {
			continue
		}
		if f.sound == nil {
			f.sound = map[*rekey.IDColumn]bool{}
		}
		if f.sound[column], err = f.source.AreRows(ctx, f.Plan, s.Table, c); err != nil {
			return dialect.OfSource(s.Source, err)
		}
	}
	return nil
}

// oneStatement reports whether one statement can look for the rows that a column of the source refers to: both have
// integers there, and the source need not be spared.
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

// references looks for references to no row and to rows that are left out, and returns which rows are left out for one.
func (f *tableForecast) references(ctx context.Context, rows [][]any) (lost []bool, err error) {
	type lack struct {
		rekey.Held
		column *plan.Column
		gone   bool
		rule   plan.Orphans
	}
	var lacks []lack
	lost, f.gone = make([]bool, len(rows)), map[gone]bool{}
	for _, column := range f.columns {
		c := column.Column
		parents := make([]*plan.Table, len(column.Parents)) // nil where nothing is to be looked for
		for i, parent := range column.Parents {
			if parent != nil && !f.sound[column] { // or all are rows
				parents[i] = parent.Table
			}
		}
		all, bad, err := f.source.References(ctx, column, rows, parents)
		if err != nil {
			return nil, err
		}
		for _, err := range bad {
			if f.silent {
				break
			}
			f.forecast.AddMisfit(f.of.Table.Name, f.of.Source, c.Name, "row "+err.Row+": "+err.Err.Error())
			f.forecast.AddProblem(err)
		}
		for _, h := range all {
			l := lack{h, c, false, c.Orphans}
			h.Missing = h.Missing && !f.sound[column]
			if parent := column.Parents[h.Ref]; parent != nil && h.Valid && f.merged.Left(f.of.Source, parent.Table, []any{h.ID}) != rekey.Stays {
				l.gone, l.rule = true, rekey.IfGone(c)
			}
			if h.Missing || l.gone {
				f.gone[gone{column.At, h.Ref, h.Text}] = true
				lacks = append(lacks, l)
				lost[h.Row] = lost[h.Row] || l.rule == plan.OrphansDrop
			}
		}
	}
	for _, l := range lacks {
		if f.silent || lost[l.Row] && l.rule != plan.OrphansDrop {
			continue // a run does not come to it
		}
		key := f.of.Describe(rows[l.Row])
		sample := fmt.Sprintf("row %s: %q", key, l.Text)
		if l.gone {
			f.forecast.AddGone(f.of.Table.Name, f.of.Source, l.column.Name, l.rule, sample)
		} else {
			f.forecast.AddOrphan(f.of.Table.Name, f.of.Source, l.column.Name, l.rule, sample)
		}
		if l.rule == plan.OrphansFail {
			f.forecast.AddProblem(&report.OrphanError{Source: f.of.Source, Table: f.of.Table.Name, Column: l.column.Name, Row: key, Value: l.Text, LeftOut: l.gone})
		}
	}
	return lost, nil
}
