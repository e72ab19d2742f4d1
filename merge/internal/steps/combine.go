package steps

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/clash"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/settle"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// decideCombined decides what values rows of the target get of rows that are merged into them, and writes it down
// with what they have now. The rows themselves are changed when nothing is decided any more.
func decideCombined(ctx context.Context, w *work.Writer, t *plan.Table) error {
	l := ledger.Of(w.Conns.Target)
	return settle.EachWinner(ctx, w.Job, l, w.Run, t, func(ctx context.Context, rows []*rekey.Winner, known map[string]*settle.Decision) error {
		rows = slices.DeleteFunc(rows, func(row *rekey.Winner) bool { return known[sqlvalue.FormatKey(row.Key)] != nil })
		changes, err := combined(ctx, w, t, rows)
		if err != nil {
			return err
		}
		return w.Transaction(ctx, "write down what rows become that others are merged into", func() error {
			for _, source := range slices.Sorted(maps.Keys(changes)) {
				if err := l.InsertChanges(ctx, w.Run.Table(source, t.Name), changes[source]); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// combined returns what becomes of rows of the target, by the source of the first row that is merged into each.
func combined(ctx context.Context, w *work.Writer, t *plan.Table, rows []*rekey.Winner) (map[string][]ledger.Change, error) {
	results, bad, err := rekey.Combine(ctx, w.Conns, t, clash.CombinedColumns(t), "", rows)
	if err != nil {
		return nil, err
	}
	into := func(c *plan.Column) *plan.Column {
		made := *c
		made.Type = w.Plan.TargetType(t, c)
		return &made
	}
	text := func(v any) any {
		if v == nil {
			return nil
		}
		return sqlvalue.Text(v)
	}
	changes := map[string][]ledger.Change{}
	for i, row := range rows {
		first, err := row.Losers[0], bad[i]
		if err == nil {
			err = settle.CheckCombined(w.Engine.Kind, t, into, results[i])
		}
		if err != nil {
			return nil, w.Run.Table(first.Source, t.Name).RowError(first.Key, err)
		}
		for n, c := range clash.CombinedColumns(t) {
			changes[first.Source] = append(changes[first.Source], ledger.Change{
				Row: ledger.TargetRow(row.Key), Column: c.Name, Kind: ledger.ChangeCombined, Before: text(row.Own[n]), After: text(results[i][n]),
			})
		}
	}
	return changes, nil
}

// updateCombined gives rows of the target the values that were decided on. It may be done again.
func updateCombined(ctx context.Context, w *work.Writer) error {
	for _, t := range w.Order {
		err := settle.EachWinner(ctx, w.Job, ledger.Of(w.Conns.Target), w.Run, t, func(ctx context.Context, rows []*rekey.Winner, values map[string]*settle.Decision) error {
			what := fmt.Sprintf("update rows of table %q that others are merged into", t.Name)
			return w.Transaction(ctx, what, func() error { return updateRows(ctx, w, t, rows, values) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func updateRows(ctx context.Context, w *work.Writer, t *plan.Table, rows []*rekey.Winner, values map[string]*settle.Decision) error {
	e, target, columns := w.Engine, w.Conns.Target, clash.CombinedColumns(t)
	var set, match []string
	for n, c := range columns {
		set = append(set, e.Quote(c.Name)+" = "+e.Placeholder(n+1))
	}
	for _, c := range t.Columns { // ON UPDATE must not change other columns
		if typ := sqltype.Word(c.Type); e.Kind == sqlsnow.MySQL && c.Generated == "" && c.Combine == plan.CombineKeep && (typ == "timestamp" || typ == "datetime") {
			set = append(set, e.Quote(c.Name)+" = "+e.Quote(c.Name))
		}
	}
	by := chunk.ColumnsOf(t, t.RowKey())
	for n, c := range by {
		match = append(match, e.Quote(c.Name)+" = "+e.Placeholder(len(columns)+n+1))
	}
	update, err := target.PrepareContext(ctx, "UPDATE "+target.Engine.Table(t.Name)+" SET "+strings.Join(set, ", ")+" WHERE "+strings.Join(match, " AND "))
	if err != nil {
		return err
	}
	defer update.Close()
	for _, row := range rows {
		becomes := values[sqlvalue.FormatKey(row.Key)]
		if becomes == nil {
			return fmt.Errorf("table %q: nothing was decided on row %s of the target", t.Name, sqlvalue.FormatKey(row.Key))
		}
		args := slices.Clone(becomes.After)
		for n, v := range row.Key {
			args = append(args, chunk.FitValue(e, v, by[n]))
		}
		if _, err := update.ExecContext(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}
