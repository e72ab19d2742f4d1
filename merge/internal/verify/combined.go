package verify

import (
	"context"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/clash"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/settle"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// compareCombined computes again what rows that the target had before must have got of rows that were merged into them.
func compareCombined(ctx context.Context, v *verifying) error {
	conns := v.others[0]
	for _, t := range v.Order {
		err := settle.EachWinner(ctx, v.Job, ledger.Of(conns.Target), v.run, t, func(ctx context.Context, rows []*rekey.Winner, known map[string]*settle.Decision) error {
			return compareWinners(ctx, v, conns, t, rows, known)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func compareWinners(ctx context.Context, v *verifying, conns *chunk.Conns, t *plan.Table, rows []*rekey.Winner, known map[string]*settle.Decision) error {
	columns := clash.CombinedColumns(t)
	fail := func(row *rekey.Winner, check report.Check, column, reason string, args ...any) {
		f := v.run.Table(row.Losers[0].Source, t.Name).Failure(check, row.Losers[0].Key, reason, args...)
		f.Column, f.Target = column, sqlvalue.FormatKey(row.Key)
		v.report.Add(f)
	}
	var keys [][]any
	rows = slices.DeleteFunc(rows, func(row *rekey.Winner) bool {
		values := known[sqlvalue.FormatKey(row.Key)]
		if values == nil {
			fail(row, report.CheckComplete, "", "the ledger has lost what the row of the target was that it is merged into")
			return true
		}
		row.Own, keys = values.Before, append(keys, row.Key)
		return false
	})
	want, bad, err := rekey.Combine(ctx, conns, t, columns, "", rows)
	if err != nil {
		return err
	}
	got, err := rekey.ReadRows(ctx, conns, t, "", columns, keys)
	if err != nil {
		return err
	}
	hasher := chunk.NewHasher(columns, v.Blobs())
	for i, row := range rows {
		values := got[sqlvalue.FormatKey(row.Key)]
		switch {
		case bad[i] != nil:
			fail(row, report.CheckSource, "", "%v", bad[i])
			continue
		case values == nil:
			fail(row, report.CheckRows, "", "the row of the target that it is merged into is missing")
			continue
		}
		for n, c := range columns {
			if !hasher.Equal(n, want[i][n], values[n]) {
				fail(row, report.CheckRows, c.Name, "want %s, got %s, in the row of the target that it is merged into", sqlvalue.Sample(want[i][n]), sqlvalue.Sample(values[n]))
			}
		}
	}
	return nil
}
