package phases

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// joinedRows are the rows of a table that get values of others which are merged into them: by their source, empty for the target, and
// [sqlvalue.FormatKey] of what tells them apart there.
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

// of returns those of a place, in the order of the texts of their keys, with losers in the order in which they are combined.
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
