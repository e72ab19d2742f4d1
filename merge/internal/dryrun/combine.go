package dryrun

import (
	"context"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/clash"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/settle"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// combine looks for rows of a table whose values, combined with the values of rows merged into them, would not fit.
func combine(ctx context.Context, d *dryRun, t *plan.Table) error {
	if len(d.winners) == 0 {
		return nil
	}
	order, err := d.Plan.Precedence(t)
	if err != nil {
		return err
	}
	for _, database := range append([]string{""}, order...) {
		for rows := range slices.Chunk(d.winners.In(database, order), chunk.MaxIn) {
			results, bad, err := rekey.Combine(ctx, d.conns, t, clash.CombinedColumns(t), database, rows)
			if err != nil {
				return err
			}
			for i, row := range rows {
				err := bad[i]
				if err == nil {
					err = settle.CheckCombined(d.Engine.Kind, t, func(c *plan.Column) *plan.Column { return d.inTarget(t, c) }, results[i])
				}
				if err == nil {
					continue
				}
				source, key := database, row.Key
				if database == "" { // rows of the target are named by what comes into them
					source, key = row.Losers[0].Source, row.Losers[0].Key
				}
				text := sqlvalue.FormatKey(key)
				d.forecast.AddMisfit(t.Name, source, "", "row "+text+": "+err.Error())
				d.forecast.AddProblem(&report.RowError{Source: source, Table: t.Name, Row: text, Err: err})
			}
		}
	}
	return nil
}
