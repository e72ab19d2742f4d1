package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A refChecker tells which ids are those of rows in one database. It remembers rows
// that it has found. It is used by one goroutine at a time.
type refChecker struct {
	engine *dialect.Dialect
	q      chunk.Queryer
	known  map[*plan.Table]map[int64]bool
	size   int
}

// rows returns a set that has those of ids that are the ids of rows of a table.
func (c *refChecker) rows(ctx context.Context, t *plan.Table, ids []int64) (map[int64]bool, error) {
	if c.size > remembered {
		c.known, c.size = nil, 0
	}
	if c.known == nil {
		c.known = map[*plan.Table]map[int64]bool{}
	}
	known := c.known[t]
	if known == nil {
		known = map[int64]bool{}
		c.known[t] = known
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	ask := slices.DeleteFunc(ids, func(id int64) bool { return known[id] })
	key := t.Key()
	for part := range slices.Chunk(ask, ledger.MaxIDs) {
		condition, args := chunk.AnyOf(c.engine, c.engine.Quote(key.Name), part)
		text := "SELECT " + c.engine.Quote(key.Name) + " FROM " + c.engine.Quote(t.Name) + " WHERE " + condition
		rows, err := chunk.ReadAll(ctx, c.engine, c.q, text, []*plan.Column{key}, args)
		if err != nil {
			return nil, c.engine.Failed(fmt.Sprintf("look for rows of table %q", t.Name), err)
		}
		for _, row := range rows {
			if id, ok := sqlvalue.ID(row[0]); ok {
				known[id] = true
				c.size++
			}
		}
	}
	return known, nil
}

// A heldRef is a reference that a row holds.
type heldRef struct {
	row   int    // its index
	ref   int    // which of the column's references it is
	text  string // the id as it is written
	id    int64
	valid bool // it is an id
}

// orphans calls visit for each reference in one column of some rows, in their
// order, and says whether the row that it refers to is missing. parents are the
// tables of the column's references; nil has no rows. A value in which there is
// no id is a [*report.RowError] that fail may take.
func (c *refChecker) orphans(
	ctx context.Context, f *finder, rows [][]any, parents []*plan.Table, fail func(row int, err *report.RowError), visit func(h heldRef, missing bool) error,
) error {
	var all []heldRef
	wanted := map[*plan.Table][]int64{}
	for i, values := range rows {
		_, _, err := f.edit(&row{key: f.table.PrimaryKey(values), old: values}, func(ref int, text string) (string, bool) {
			h := heldRef{row: i, ref: ref, text: text}
			if h.id, h.valid = sqlvalue.ParseID(text); h.valid && parents[ref] != nil {
				wanted[parents[ref]] = append(wanted[parents[ref]], h.id)
			}
			all = append(all, h)
			return text, true
		})
		var bad *report.RowError
		if errors.As(err, &bad) {
			fail(i, bad)
		} else if err != nil {
			return err
		}
	}
	exists := map[*plan.Table]map[int64]bool{}
	for parent, ids := range wanted {
		var err error
		if exists[parent], err = c.rows(ctx, parent, ids); err != nil {
			return err
		}
	}
	for _, h := range all {
		if err := visit(h, !h.valid || !exists[parents[h.ref]][h.id]); err != nil {
			return err
		}
	}
	return nil
}
