package settle

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/clash"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// Winners are the rows of a table that get values of others: by their database, which is the name of a source or empty
// for the target, and by [sqlvalue.FormatKey] of their keys.
type Winners map[string]map[string]*rekey.Winner

// Add adds a row that is merged into another one.
func (w Winners) Add(database string, key []any, loser rekey.Loser) {
	text := sqlvalue.FormatKey(key)
	if w[database] == nil {
		w[database] = map[string]*rekey.Winner{}
	}
	if w[database][text] == nil {
		w[database][text] = &rekey.Winner{Key: key}
	}
	w[database][text].Losers = append(w[database][text].Losers, loser)
}

// In returns the winners in a database, in the order of the texts of their keys. Their losers are in the order in
// which values are combined.
func (w Winners) In(database string, order []string) []*rekey.Winner {
	var all []*rekey.Winner
	for _, text := range slices.Sorted(maps.Keys(w[database])) {
		row := w[database][text]
		rekey.SortLosers(row.Losers, order)
		all = append(all, row)
	}
	return all
}

// EachWinner calls do with the rows of a table that the target had before the run and that get values of rows which are
// merged into them, in batches, and with what was decided on them. It holds all of them in memory.
func EachWinner(
	ctx context.Context, j *work.Job, l ledger.Ledger, run *ledger.Run, t *plan.Table,
	do func(ctx context.Context, rows []*rekey.Winner, decided map[string]*Decision) error,
) error {
	if len(clash.CombinedColumns(t)) == 0 || t.Empty {
		return nil
	}
	order, err := j.Plan.Precedence(t)
	if err != nil {
		return err
	}
	all, err := winnersInTarget(ctx, l, run, t, order)
	if err != nil {
		return err
	}
	return work.Loop(ctx, j, &work.Parts[*rekey.Winner]{All: all, Most: chunk.MaxIn}, func(ctx context.Context, rows []*rekey.Winner) (int, error) {
		decided, err := readDecisions(ctx, l, run, t, rows)
		if err != nil {
			return 0, err
		}
		return 0, do(ctx, rows, decided)
	})
}

func winnersInTarget(ctx context.Context, l ledger.Ledger, run *ledger.Run, t *plan.Table, order []string) ([]*rekey.Winner, error) {
	winners := Winners{}
	for _, source := range order {
		err := l.EachIntoTarget(ctx, run.Table(source, t.Name), func(c ledger.Change) error {
			loser, _ := c.Before.(string)
			winner, _ := c.After.(string)
			from, err := sqlvalue.ParseKey(loser)
			if err != nil {
				return err
			}
			into, err := sqlvalue.ParseKey(winner)
			winners.Add("", into, rekey.Loser{Source: source, Key: from})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return winners.In("", order), nil
}

// A Decision is the values that a winner in the target had before the run, and the values that it gets.
type Decision struct{ Before, After []any }

// readDecisions returns what was decided on some winners in the target, by [sqlvalue.FormatKey] of their keys.
func readDecisions(ctx context.Context, l ledger.Ledger, run *ledger.Run, t *plan.Table, rows []*rekey.Winner) (map[string]*Decision, error) {
	columns := clash.CombinedColumns(t)
	found := map[string]*Decision{}
	under := map[string][]*rekey.Winner{}
	for _, row := range rows {
		under[row.Losers[0].Source] = append(under[row.Losers[0].Source], row)
	}
	for source, rows := range under {
		by, names := map[string]string{}, make([]string, len(rows))
		for i, row := range rows {
			names[i] = ledger.TargetRow(row.Key)
			by[names[i]] = sqlvalue.FormatKey(row.Key)
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
				values = &Decision{make([]any, len(columns)), make([]any, len(columns))}
				found[by[c.Row]] = values
			}
			if values.Before[at], err = rekey.ValueOf(l.Engine, columns[at], c.Before); err == nil {
				values.After[at], err = rekey.ValueOf(l.Engine, columns[at], c.After)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// CheckCombined returns why the target does not take values of the columns that are combined.
func CheckCombined(d sqlsnow.Dialect, t *plan.Table, into func(*plan.Column) *plan.Column, values []any) error {
	for n, c := range clash.CombinedColumns(t) {
		if reason := RoomOf(d, into(c)).Misfit(values[n]); reason != "" {
			return rekey.ColumnError(c.Name, errors.New("combined: "+reason))
		}
	}
	return nil
}
