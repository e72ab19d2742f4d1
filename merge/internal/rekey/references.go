package rekey

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A Checker tells which ids have a row in one database.
type Checker struct {
	Engine *dialect.Dialect
	Q      chunk.Queryer
}

// rows returns the ids among ids that have a row in a table.
func (c *Checker) rows(ctx context.Context, t *plan.Table, ids []int64) (map[int64]bool, error) {
	found := map[int64]bool{}
	key := t.Key()
	name := c.Engine.Quote(key.Name)
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	err := chunk.Runs(c.Engine, name, ids, func(condition string, args []any) error {
		text := "SELECT " + name + " FROM " + c.Engine.Table(t.Name) + " WHERE " + condition
		return chunk.ReadEach(ctx, c.Engine, c.Q, text, []*plan.Column{key}, args, func(row []any) {
			id, ok := sqlvalue.ID(row[0])
			if _, wanted := slices.BinarySearch(ids, id); ok && wanted {
				found[id] = true
			}
		})
	})
	return found, c.Engine.Failed(fmt.Sprintf("look for rows of table %q", t.Name), err)
}

// Count returns how many of ids are the ids of rows of a table, and the highest id that a row has.
func (c *Checker) Count(ctx context.Context, t *plan.Table, ids []int64) (n int, highest int64, err error) {
	found, err := c.rows(ctx, t, ids)
	if err != nil {
		return 0, 0, err
	}
	var most any
	name := c.Engine.Quote(t.Key().Name)
	if err := c.Q.QueryRowContext(ctx, "SELECT MAX("+name+") FROM "+c.Engine.Table(t.Name)).Scan(&most); err != nil {
		return 0, 0, c.Engine.Failed(fmt.Sprintf("look for the highest id of table %q", t.Name), err)
	}
	highest, _ = sqlvalue.ParseID(sqlvalue.Text(most))
	return len(found), highest, nil
}

// AreRows reports whether a column of integers refers to rows that exist, in all rows of a table.
func (c *Checker) AreRows(ctx context.Context, p *plan.Plan, t *plan.Table, of *plan.Column) (bool, error) {
	e, parent := c.Engine, p.Table(of.Refers[0].Table)
	key, column := e.Quote(parent.Key().Name), e.Quote(of.Name)
	text := "SELECT COUNT(*) FROM (SELECT 1 FROM " + e.Table(t.Name) + " AS t LEFT JOIN " + e.Table(parent.Name) + " AS p ON p." + key + " = t." + column +
		" WHERE t." + column + " IS NOT NULL AND p." + key + " IS NULL"
	var args []any
	if none := NoneIDs(of); len(none) > 0 {
		var condition string
		condition, args = chunk.AnyOf(e, "t."+column, none)
		text += " AND NOT (" + condition + ")"
	}
	var orphans int
	err := c.Q.QueryRowContext(ctx, text+" LIMIT 1) AS orphans", args...).Scan(&orphans)
	return err == nil && orphans == 0, e.Failed("look for orphans of "+strconv.Quote(t.Name+"."+of.Name), err)
}

// IDs know what has become of rows of sources: in a run the [ledger.IDMap], in a dry run the
// [clash.RememberedIdentities].
type IDs interface {
	// Find returns the successors that are known.
	Find(ctx context.Context, t *ledger.SourceTable, olds []int64) (map[int64]ledger.Successor, error)

	// HasAll reports whether Find returns all rows that have new ids.
	HasAll() bool
}

// Resolve returns the successors of rows of a source table. A nil table has no
// rows. Whether a row that m does not know exists at all is asked of
// source, which may be nil where that does not matter: such rows are then kept.
func Resolve(ctx context.Context, m IDs, source *Checker, t *ledger.SourceTable, ids []int64) (map[int64]ledger.Successor, error) {
	all, err := resolve(ctx, m, source, t, ids)
	if err != nil {
		return nil, err
	}
	found := make(map[int64]ledger.Successor, len(ids))
	for _, id := range ids {
		if after := all.of(id); after.Fate != ledger.Missing {
			found[id] = after
		}
	}
	return found, nil
}

// answers are what has become of some rows of a table.
type answers struct {
	known map[int64]ledger.Successor
	keeps bool // the other rows keep their ids
}

func (a answers) of(id int64) ledger.Successor {
	if after, ok := a.known[id]; ok || !a.keeps {
		return after
	}
	return ledger.Successor{ID: id, Fate: ledger.Kept}
}

func resolve(ctx context.Context, m IDs, source *Checker, t *ledger.SourceTable, ids []int64) (answers, error) {
	if t == nil {
		return answers{}, nil
	}
	known := map[int64]ledger.Successor{}
	if t.Table.Empty {
		for _, id := range ids {
			known[id] = ledger.Successor{Fate: ledger.Dropped}
		}
		return answers{known: known}, nil
	}
	if t.Mapped {
		var err error
		if known, err = m.Find(ctx, t, ids); err != nil || t.Rekeys && m.HasAll() {
			return answers{known: known}, err
		}
	}
	if source == nil {
		return answers{known, true}, nil
	}
	there, err := source.rows(ctx, t.Table, slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { _, ok := known[id]; return ok }))
	if err != nil {
		return answers{}, err
	}
	for id := range there {
		known[id] = ledger.Successor{ID: id, Fate: ledger.Kept}
	}
	return answers{known: known}, nil
}

// A Held is a reference that a row holds.
type Held struct {
	Row     int    // its index
	Ref     int    // which of the column's references it is
	Text    string // the id as it is written
	ID      int64
	Valid   bool // it is an id
	Missing bool // there is no row with the id in the database
}

// References returns the references in one column of some rows, in their order.
// parents are the tables of the column's references; nil has no rows. bad are the
// values without an id.
func (c *Checker) References(ctx context.Context, column *IDColumn, rows [][]any, parents []*plan.Table) (all []Held, bad []*report.RowError, err error) {
	wanted := map[*plan.Table][]int64{}
	for i, values := range rows {
		row := &Row{Key: column.table.RowKey(values), Old: values}
		err := column.each(row, func(ref int, text string, id int64, valid bool) {
			if text == "" && valid {
				text = strconv.FormatInt(id, 10)
			}
			if valid && parents[ref] != nil {
				wanted[parents[ref]] = append(wanted[parents[ref]], id)
			}
			all = append(all, Held{Row: i, Ref: ref, Text: text, ID: id, Valid: valid, Missing: true})
		})
		var none *report.RowError
		if errors.As(err, &none) {
			bad = append(bad, none)
		} else if err != nil {
			return nil, nil, err
		}
	}
	for parent, ids := range wanted {
		exists, err := c.rows(ctx, parent, ids)
		if err != nil {
			return nil, nil, err
		}
		for i := range all {
			if h := &all[i]; parents[h.Ref] == parent && h.Valid {
				h.Missing = !exists[h.ID]
			}
		}
	}
	return all, bad, nil
}

// NoneIDs returns the numbers that stand for no row.
func NoneIDs(c *plan.Column) (ids []int64) {
	for _, text := range c.None {
		if id, ok := sqlvalue.ParseID(text); ok {
			ids = append(ids, id)
		}
	}
	return ids
}
