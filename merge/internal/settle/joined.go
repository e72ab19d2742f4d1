package phases

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// joinedInTarget returns the rows of a table that the target had before the run and that rows of sources are merged
// into. It holds all of them in memory.
func joinedInTarget(ctx context.Context, l ledger.Ledger, run *ledger.Run, t *plan.Table, order []string) ([]*joinedRow, error) {
	joined := joinedRows{}
	for _, source := range order {
		err := l.EachJoined(ctx, run.Table(source, t.Name), func(c ledger.Change) error {
			loser, _ := c.Before.(string)
			winner, _ := c.After.(string)
			from, err := sqlvalue.ParseKey(loser)
			if err != nil {
				return err
			}
			into, err := sqlvalue.ParseKey(winner)
			joined.add("", into, rekey.Loser{Source: source, Key: from})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return joined.of("", order), nil
}

// A decided is the values that a row of the target had, and those that it gets.
type decided struct{ before, after []any }

// readDecided returns what was decided on some rows of the target, by [sqlvalue.FormatKey] of their keys.
func readDecided(ctx context.Context, l ledger.Ledger, run *ledger.Run, t *plan.Table, rows []*joinedRow) (map[string]*decided, error) {
	columns := t.CombinedColumns()
	found := map[string]*decided{}
	under := map[string][]*joinedRow{}
	for _, row := range rows {
		under[row.losers[0].Source] = append(under[row.losers[0].Source], row)
	}
	for source, rows := range under {
		by, names := map[string]string{}, make([]string, len(rows))
		for i, row := range rows {
			names[i] = ledger.JoinedRow(row.key)
			by[names[i]] = sqlvalue.FormatKey(row.key)
		}
		changes, err := l.Changes(ctx, run.Table(source, t.Name), names)
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			at := slices.IndexFunc(columns, func(column *plan.Column) bool { return column.Name == c.Column })
			if c.Kind != ledger.ChangeCombined || at < 0 {
				continue
			}
			values := found[by[c.Row]]
			if values == nil {
				values = &decided{make([]any, len(columns)), make([]any, len(columns))}
				found[by[c.Row]] = values
			}
			if values.before[at], err = rekey.ValueOf(l.Engine, columns[at], c.Before); err == nil {
				values.after[at], err = rekey.ValueOf(l.Engine, columns[at], c.After)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// join decides what values rows of the target get of rows that are merged into them, and writes it down with what
// they have now. The rows themselves are changed when nothing is decided any more.
func (w *writing) join(ctx context.Context, t *plan.Table, order []string) error {
	if !t.Combines() || t.Empty {
		return nil
	}
	l := ledger.Of(w.conns.Target)
	all, err := joinedInTarget(ctx, l, w.run, t, order)
	if err != nil {
		return err
	}
	for rows := range slices.Chunk(all, chunk.MaxIn) {
		if err := w.Pause(ctx); err != nil {
			return err
		}
		known, err := readDecided(ctx, l, w.run, t, rows)
		if err != nil {
			return err
		}
		rows = slices.DeleteFunc(slices.Clone(rows), func(row *joinedRow) bool { return known[sqlvalue.FormatKey(row.key)] != nil })
		changes, err := w.joinRows(ctx, t, rows)
		if err != nil {
			return err
		}
		err = w.lease.Transaction(ctx, w.conns.Target, func() error {
			for _, source := range order {
				if err := l.InsertChanges(ctx, w.run.Table(source, t.Name), changes[source]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return w.Engine.Failed("write down what rows become that others are merged into", err)
		}
	}
	return nil
}

// joinRows returns what becomes of rows of the target, by the source of the first row that is merged into each.
func (w *writing) joinRows(ctx context.Context, t *plan.Table, rows []*joinedRow) (map[string][]ledger.Change, error) {
	made, err := combineRows(ctx, w.conns, t, "", rows, nil)
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
		first, err := row.losers[0], made.bad[i]
		if err == nil {
			err = unfit(w.Engine.Kind, t, into, made.results[i])
		}
		if err != nil {
			return nil, w.run.Table(first.Source, t.Name).RowError(first.Key, err)
		}
		for n, c := range t.CombinedColumns() {
			changes[first.Source] = append(changes[first.Source], ledger.Change{
				Row: ledger.JoinedRow(row.key), Column: c.Name, Kind: ledger.ChangeCombined, Before: text(made.own[i][n]), After: text(made.results[i][n]),
			})
		}
	}
	return changes, nil
}

// updateJoined gives rows of the target the values that were decided on. It may be done again.
func (w *writing) updateJoined(ctx context.Context) error {
	target := w.conns.Target
	l := ledger.Of(target)
	for _, t := range w.Order {
		if !t.Combines() || t.Empty {
			continue
		}
		order, err := w.Plan.Precedence(t)
		if err != nil {
			return err
		}
		all, err := joinedInTarget(ctx, l, w.run, t, order)
		if err != nil {
			return err
		}
		for rows := range slices.Chunk(all, chunk.MaxIn) {
			if err := w.Pause(ctx); err != nil {
				return err
			}
			values, err := readDecided(ctx, l, w.run, t, rows)
			if err != nil {
				return err
			}
			err = w.lease.Transaction(ctx, target, func() error { return w.updateRows(ctx, t, rows, values) })
			if err != nil {
				return w.Engine.Failed(fmt.Sprintf("update rows of table %q that others are merged into", t.Name), err)
			}
		}
	}
	return nil
}

func (w *writing) updateRows(ctx context.Context, t *plan.Table, rows []*joinedRow, values map[string]*decided) error {
	e, target, columns := w.Engine, w.conns.Target, t.CombinedColumns()
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
		becomes := values[sqlvalue.FormatKey(row.key)]
		if becomes == nil {
			return fmt.Errorf("table %q: nothing was decided on row %s of the target", t.Name, sqlvalue.FormatKey(row.key))
		}
		args := slices.Clone(becomes.after)
		for n, v := range row.key {
			args = append(args, chunk.FitValue(e, v, by[n]))
		}
		if _, err := update.ExecContext(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

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
