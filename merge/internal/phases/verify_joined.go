package phases

import (
	"context"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// joined computes again what rows that the target had before must have got of rows that were merged into them.
func (v *verifying) joined(ctx context.Context) error {
	conns := v.others[0]
	for _, t := range v.Order {
		if !t.Combines() || t.Empty {
			continue
		}
		order, err := v.Plan.Precedence(t)
		if err != nil {
			return err
		}
		all, err := joinedInTarget(ctx, ledger.Of(conns.Target), v.run, t, order)
		if err != nil {
			return err
		}
		for rows := range slices.Chunk(all, chunk.MaxIn) {
			if err := v.joinedRows(ctx, conns, t, rows); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *verifying) joinedRows(ctx context.Context, conns *chunk.Conns, t *plan.Table, rows []*joinedRow) error {
	columns := t.CombinedColumns()
	known, err := readDecided(ctx, ledger.Of(conns.Target), v.run, t, rows)
	if err != nil {
		return err
	}
	fail := func(row *joinedRow, check report.Check, column, reason string, args ...any) {
		f := v.run.Table(row.losers[0].Source, t.Name).Failure(check, row.losers[0].Key, reason, args...)
		f.Column, f.Target = column, sqlvalue.FormatKey(row.key)
		v.report.Add(f)
	}
	var own, keys [][]any
	rows = slices.DeleteFunc(slices.Clone(rows), func(row *joinedRow) bool {
		values := known[sqlvalue.FormatKey(row.key)]
		if values == nil {
			fail(row, report.CheckComplete, "", "the ledger has lost what the row of the target was that it is merged into")
			return true
		}
		own, keys = append(own, values.before), append(keys, row.key)
		return false
	})
	want, err := combineRows(ctx, conns, t, "", rows, own)
	if err != nil {
		return err
	}
	got, err := rekey.ReadRows(ctx, conns, t, "", columns, keys)
	if err != nil {
		return err
	}
	hasher := chunk.NewHasher(columns, v.Blobs())
	for i, row := range rows {
		values := got[sqlvalue.FormatKey(row.key)]
		switch {
		case want.bad[i] != nil:
			fail(row, report.CheckSource, "", "%v", want.bad[i])
			continue
		case values == nil:
			fail(row, report.CheckRows, "", "the row of the target that it is merged into is missing")
			continue
		}
		for n, c := range columns {
			if !hasher.Equal(n, want.results[i][n], values[n]) {
				fail(row, report.CheckRows, c.Name, "want %s, got %s, in the row of the target that it is merged into", sqlvalue.Sample(want.results[i][n]), sqlvalue.Sample(values[n]))
			}
		}
	}
	return nil
}
