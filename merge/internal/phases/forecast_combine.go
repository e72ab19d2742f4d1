package phases

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// combine looks for rows of a table whose values, with those of the rows that are merged into them, would not fit.
func (d *dryRun) combine(ctx context.Context, t *plan.Table) error {
	if !t.Combines() || t.Empty {
		return nil
	}
	var columns []*plan.Column
	for _, c := range t.Columns {
		if c.Combine != plan.CombineKeep {
			columns = append(columns, c)
		}
	}
	order, err := d.Plan.Precedence(t)
	if err != nil {
		return err
	}
	for _, winner := range order {
		merged := d.merged.Merged(winner, t) // by source, what is merged into which row
		if len(merged) == 0 {
			continue
		}
		var ids []int64
		for _, into := range merged {
			ids = append(ids, slices.Collect(maps.Values(into))...)
		}
		own, err := rekey.ReadMerged(ctx, d.conns, t, winner, columns, slices.Compact(slices.Sorted(slices.Values(ids))))
		if err != nil {
			return err
		}
		values := map[int64][][]any{}
		for id, row := range own {
			values[id] = append(values[id], row)
		}
		for _, source := range order {
			into := merged[source]
			read, err := rekey.ReadMerged(ctx, d.conns, t, source, columns, slices.Sorted(maps.Keys(into)))
			if err != nil {
				return err
			}
			for _, old := range slices.Sorted(maps.Keys(read)) {
				values[into[old]] = append(values[into[old]], read[old])
			}
		}
		if err := d.fitCombined(ctx, t, winner, columns, values); err != nil {
			return err
		}
	}
	return nil
}

// fitCombined tells of rows of a source that have values which do not fit together. rows are by the id of the row that stays.
func (d *dryRun) fitCombined(ctx context.Context, t *plan.Table, source string, columns []*plan.Column, rows map[int64][][]any) error {
	q, err := d.conns.Source(ctx, source)
	if err != nil {
		return err
	}
	ids := slices.Sorted(maps.Keys(rows))
	for n, c := range columns {
		lists := make([][]any, len(ids))
		for k, id := range ids {
			for _, row := range rows[id] {
				lists[k] = append(lists[k], row[n])
			}
		}
		results, bad, err := rekey.Combine(ctx, q, c, lists)
		if err != nil {
			return dialect.OfSource(source, err)
		}
		for k, id := range ids {
			err := bad[k]
			if reason := misfit(d.Engine.Kind, d.inTarget(t, c), results[k]); err == nil && reason != "" {
				err = errors.New("combined: " + reason)
			}
			if err != nil {
				key := sqlvalue.FormatKey([]any{id})
				d.forecast.AddMisfit(t.Name, source, c.Name, "row "+key+": "+err.Error())
				d.forecast.AddProblem(&report.RowError{Source: source, Table: t.Name, Row: key, Err: rekey.ColumnError(c.Name, err)})
			}
		}
	}
	return nil
}
