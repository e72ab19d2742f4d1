package phases

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A foreignKey is one of the target, by the tables and columns of the plan.
type foreignKey struct {
	columns []*plan.Column
	parent  *plan.Table
	refers  []*plan.Column
}

// foreignKey returns nil for a foreign key of the target that is between other columns than the plan has, whose
// columns hold other ids than those that they refer to, or one of whose columns has other values in the target for
// what the plan does to rows.
func (p *preflight) foreignKey(t *plan.Table, k *plan.ForeignKey) *foreignKey {
	at := slices.IndexFunc(p.Plan.Tables, func(t *plan.Table) bool { return strings.EqualFold(t.Name, k.Table) })
	if at < 0 || len(k.Columns) != len(k.Refers) {
		return nil
	}
	of := &foreignKey{parent: p.Plan.Tables[at]}
	for i, name := range k.Columns {
		c, r := catalog.ColumnLike(t, name), catalog.ColumnLike(of.parent, k.Refers[i])
		if c == nil || r == nil || p.changes(t, c) || !of.parent.Skip && (t.IDsOf(c.Name) != of.parent.IDsOf(r.Name) || p.changes(of.parent, r)) {
			return nil
		}
		of.columns, of.refers = append(of.columns, c), append(of.refers, r)
	}
	return of
}

// changes reports whether rows may get other values in a column: new names, what is set with them, or what is combined.
func (p *preflight) changes(t *plan.Table, c *plan.Column) bool {
	return c.Combine != plan.CombineKeep || t.SetByRenames(c) || slices.ContainsFunc(t.Unique, func(u *plan.Unique) bool { return u.Rule == plan.RuleSuffix && t.RenameColumn(u, p.Engine.Kind) == c })
}

// foreignKeys returns those that the target checks, and that rows of the source may not satisfy although their
// references are right. A column that the source does not have is NULL.
func (f *tableForecast) foreignKeys() (all []*foreignKey) {
	t := f.of.Table
	target := f.before.target.TableLike(t.Name)
	if target == nil || f.Unchecked {
		return nil
	}
	for _, found := range target.ForeignKeys {
		k := f.before.foreignKey(t, found)
		if k == nil || f.before.target.TableLike(k.parent.Name) == nil || slices.ContainsFunc(k.columns, func(c *plan.Column) bool { return f.of.Position(c.Name) < 0 }) {
			continue
		}
		if c := k.columns[0]; len(k.columns) > 1 || t.IDsOf(c.Name) == "" || len(c.None) > 0 {
			all = append(all, k)
		}
	}
	return all
}

// foreign looks for rows whose values in a foreign key will be those of no row of the target.
func (f *tableForecast) foreign(ctx context.Context, rows [][]any, verdicts []rekey.Verdict) error {
	for _, k := range f.keys {
		tuples, same := map[int][]any{}, map[string][]int{}
		for i, values := range rows {
			tuple := f.tuple(k, values, verdicts[i])
			if tuple == nil {
				continue
			}
			text := sqlvalue.FormatKey(tuple)
			if same[text] = append(same[text], i); len(same[text]) == 1 {
				tuples[i] = tuple
			}
		}
		for _, place := range append([]string{f.of.Source, ""}, f.Plan.SourcesOf(k.parent)...) {
			asked := maps.Clone(tuples)
			maps.DeleteFunc(asked, func(_ int, tuple []any) bool { return !f.meets(k, tuple, place) })
			found, err := f.conflicts.Existing(ctx, k.parent, k.refers, place, asked)
			if err != nil {
				return err
			}
			maps.DeleteFunc(tuples, func(i int, _ []any) bool { return found[i] })
		}
		for _, i := range slices.Sorted(maps.Keys(tuples)) {
			for _, row := range same[sqlvalue.FormatKey(tuples[i])] {
				f.unfit[row] = true
				f.refuse(rows[row], k.columns[0].Name, fmt.Errorf("the target has a foreign key to table %q, of which no row has %s", k.parent.Name, sqlvalue.FormatKey(tuples[i])))
			}
		}
	}
	return nil
}

// tuple returns the values of a row in a foreign key, with old ids. It returns nil if the target will not look at
// them, or if they are references that were looked at already.
func (f *tableForecast) tuple(k *foreignKey, values []any, verdict rekey.Verdict) (tuple []any) {
	if verdict.Merged {
		return nil
	}
	for _, c := range k.columns {
		at := f.of.Position(c.Name)
		v := values[at]
		for _, r := range verdict.Renames {
			if r.Column == c {
				v = r.After
			}
		}
		text := sqlvalue.Text(v)
		id := f.of.Table.IDsOf(c.Name) != "" && !slices.Contains(c.None, text)
		if v == nil || f.gone[gone{at, 0, text}] || id && len(k.columns) == 1 {
			return nil
		}
		tuple = append(tuple, v)
	}
	return tuple
}

// meets reports whether the row of a source with a tuple, or that of the target, which has no name, is the one that
// the foreign key of the row leads to: old ids are those of the row's own source, and what stands for no row stays
// as it is.
func (f *tableForecast) meets(k *foreignKey, tuple []any, place string) bool {
	if place != "" && (k.parent.Skip || !k.parent.In(place)) {
		return false
	}
	for i, v := range tuple {
		r := k.refers[i]
		if place != "" && !r.In(place) {
			return false
		}
		stays := f.stays(f.of.Table, k.columns[i], v, f.of.Source)
		there := place == "" || f.stays(k.parent, r, v, place)
		if stays != there || !stays && place != f.of.Source {
			return false
		}
	}
	return true
}

// stays reports whether a value of a source is the same in the target, being no new id.
func (f *tableForecast) stays(t *plan.Table, c *plan.Column, v any, source string) bool {
	of := f.Plan.Table(t.IDsOf(c.Name))
	return of == nil || !of.Rekeys(source) || slices.Contains(c.None, sqlvalue.Text(v))
}

// joinedRows are the rows of a table that get values of others which are merged into them: by their source, empty
// for the target, and [sqlvalue.FormatKey] of what tells them apart there.
type joinedRows map[string]map[string]*joinedRow

type joinedRow struct {
	key    []any
	losers []rekey.Loser
}

func (j joinedRows) add(place string, key []any, loser rekey.Loser) {
	text := sqlvalue.FormatKey(key)
	if j[place] == nil {
		j[place] = map[string]*joinedRow{}
	}
	if j[place][text] == nil {
		j[place][text] = &joinedRow{key: key}
	}
	j[place][text].losers = append(j[place][text].losers, loser)
}

// of returns those of a place, in the order of the texts of their keys, with losers in the order in which they are
// combined.
func (j joinedRows) of(place string, order []string) []*joinedRow {
	var all []*joinedRow
	for _, text := range slices.Sorted(maps.Keys(j[place])) {
		row := j[place][text]
		rekey.SortLosers(row.losers, order)
		all = append(all, row)
	}
	return all
}

// A combined is what rows become that get values of others, and what they were.
type combined struct {
	own, results [][]any
	bad          []error
}

// combineRows computes what rows of a place become. Without own, it reads what they are now.
func combineRows(ctx context.Context, conns *chunk.Conns, t *plan.Table, place string, rows []*joinedRow, own [][]any) (*combined, error) {
	columns, q := t.CombinedColumns(), conns.Target
	if place != "" {
		var err error
		if q, err = conns.Source(ctx, place); err != nil {
			return nil, err
		}
	}
	if own == nil {
		keys := make([][]any, len(rows))
		for i, row := range rows {
			keys[i] = row.key
		}
		values, err := rekey.ReadRows(ctx, conns, t, place, columns, keys)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			found := values[sqlvalue.FormatKey(row.key)]
			if found == nil {
				return nil, fmt.Errorf("table %q: row %s, which others are merged into, is gone", t.Name, sqlvalue.FormatKey(row.key))
			}
			own = append(own, found)
		}
	}
	all := make([]rekey.Combination, len(rows))
	for i, row := range rows {
		all[i] = rekey.Combination{Own: own[i], Losers: row.losers}
	}
	results, bad, err := rekey.CombineAll(ctx, conns, q, t, columns, all)
	if err != nil && place != "" {
		err = dialect.OfSource(place, err)
	}
	return &combined{own, results, bad}, err
}

// combine looks for rows of a table whose values, with those of the rows that are merged into them, would not fit.
func (d *dryRun) combine(ctx context.Context, t *plan.Table) error {
	if len(d.joined) == 0 {
		return nil
	}
	order, err := d.Plan.Precedence(t)
	if err != nil {
		return err
	}
	for _, place := range append([]string{""}, order...) {
		for rows := range slices.Chunk(d.joined.of(place, order), chunk.MaxIn) {
			made, err := combineRows(ctx, d.conns, t, place, rows, nil)
			if err != nil {
				return err
			}
			for i, row := range rows {
				err := made.bad[i]
				if err == nil {
					err = unfit(d.Engine.Kind, t, func(c *plan.Column) *plan.Column { return d.inTarget(t, c) }, made.results[i])
				}
				if err == nil {
					continue
				}
				source, key := place, row.key
				if place == "" { // rows of the target are named by what comes into them
					source, key = row.losers[0].Source, row.losers[0].Key
				}
				text := sqlvalue.FormatKey(key)
				d.forecast.AddMisfit(t.Name, source, "", "row "+text+": "+err.Error())
				d.forecast.AddProblem(&report.RowError{Source: source, Table: t.Name, Row: text, Err: err})
			}
		}
	}
	return nil
}

// unfit says why the target does not take values of the columns that are combined, or returns nil.
func unfit(d sqlsnow.Dialect, t *plan.Table, into func(*plan.Column) *plan.Column, values []any) error {
	for n, c := range t.CombinedColumns() {
		if reason := misfit(d, into(c), values[n]); reason != "" {
			return rekey.ColumnError(c.Name, errors.New("combined: "+reason))
		}
	}
	return nil
}

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
		if !f.joins(column) {
			continue
		}
		if f.sound == nil {
			f.sound = map[*rekey.IDColumn]bool{}
		}
		if f.sound[column], err = isSound(ctx, source, f.Plan, s.Table, c); err != nil {
			return dialect.OfSource(s.Source, err)
		}
	}
	return nil
}

// joins reports whether one statement can look for the rows that a column of the source refers to: both have
// integers there, and the source need not be spared.
func (f *tableForecast) joins(column *rekey.IDColumn) bool {
	parent := column.Parents[0]
	if column.Column.Role != plan.RoleReference || parent == nil || f.Engine.Kind == sqlsnow.SQLite || f.throttle != nil {
		return false
	}
	integer := func(t *plan.Table, name string) bool {
		is := f.before.sources[f.of.Source].TableLike(t.Name)
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
				l.gone, l.rule = true, c.IfGone()
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
