package settle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Winner is a row that gets values of the rows that are merged into it.
type Winner struct {
	Key    []any // what tells it apart in its database
	Losers []rekey.Loser
}

// Winners are the rows of a table that get values of others: by their database, which is the name of a source or empty
// for the target, and by [sqlvalue.FormatKey] of their keys.
type Winners map[string]map[string]*Winner

// Add adds a row that is merged into another one.
func (w Winners) Add(database string, key []any, loser rekey.Loser) {
	text := sqlvalue.FormatKey(key)
	if w[database] == nil {
		w[database] = map[string]*Winner{}
	}
	if w[database][text] == nil {
		w[database][text] = &Winner{Key: key}
	}
	w[database][text].Losers = append(w[database][text].Losers, loser)
}

// In returns the winners in a database, in the order of the texts of their keys. Their losers are in the order in
// which values are combined.
func (w Winners) In(database string, order []string) []*Winner {
	var all []*Winner
	for _, text := range slices.Sorted(maps.Keys(w[database])) {
		row := w[database][text]
		rekey.SortLosers(row.Losers, order)
		all = append(all, row)
	}
	return all
}

// WinnersInTarget returns the rows of a table that the target had before the run and that rows of sources are merged
// into. It holds all of them in memory.
func WinnersInTarget(ctx context.Context, l ledger.Ledger, run *ledger.Run, t *plan.Table, order []string) ([]*Winner, error) {
	winners := Winners{}
	for _, source := range order {
		err := l.EachJoined(ctx, run.Table(source, t.Name), func(c ledger.Change) error {
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

// ReadDecisions returns what was decided on some winners in the target, by [sqlvalue.FormatKey] of their keys.
func ReadDecisions(ctx context.Context, l ledger.Ledger, run *ledger.Run, t *plan.Table, rows []*Winner) (map[string]*Decision, error) {
	columns := rekey.CombinedColumns(t)
	found := map[string]*Decision{}
	under := map[string][]*Winner{}
	for _, row := range rows {
		under[row.Losers[0].Source] = append(under[row.Losers[0].Source], row)
	}
	for source, rows := range under {
		by, names := map[string]string{}, make([]string, len(rows))
		for i, row := range rows {
			names[i] = ledger.JoinedRow(row.Key)
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

// A Combined is what winners were, and what they become.
type Combined struct {
	Own, Results [][]any
	Bad          []error // why values can't be combined
}

// Combine computes what winners in a database become. Without own, it reads what they are now.
func Combine(ctx context.Context, conns *chunk.Conns, t *plan.Table, database string, rows []*Winner, own [][]any) (*Combined, error) {
	columns, q := rekey.CombinedColumns(t), conns.Target
	if database != "" {
		var err error
		if q, err = conns.Source(ctx, database); err != nil {
			return nil, err
		}
	}
	if own == nil {
		keys := make([][]any, len(rows))
		for i, row := range rows {
			keys[i] = row.Key
		}
		values, err := rekey.ReadRows(ctx, conns, t, database, columns, keys)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			found := values[sqlvalue.FormatKey(row.Key)]
			if found == nil {
				return nil, fmt.Errorf("table %q: row %s, which others are merged into, is gone", t.Name, sqlvalue.FormatKey(row.Key))
			}
			own = append(own, found)
		}
	}
	all := make([]rekey.Combination, len(rows))
	for i, row := range rows {
		all[i] = rekey.Combination{Own: own[i], Losers: row.Losers}
	}
	results, bad, err := rekey.CombineAll(ctx, conns, q, t, columns, all)
	if err != nil && database != "" {
		err = dialect.OfSource(database, err)
	}
	return &Combined{own, results, bad}, err
}

// CheckCombined returns why the target does not take values of the columns that are combined.
func CheckCombined(d sqlsnow.Dialect, t *plan.Table, into func(*plan.Column) *plan.Column, values []any) error {
	for n, c := range rekey.CombinedColumns(t) {
		if reason := RoomOf(d, into(c)).Misfit(values[n]); reason != "" {
			return rekey.ColumnError(c.Name, errors.New("combined: "+reason))
		}
	}
	return nil
}
