package mysqlexec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/phases"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
)

// A copier copies rows of a source table, and compares them, by statements
// of the server.
type copier struct {
	phases.Work
	*selection
}

// copy copies the rows of some chunks. If it returns an error that is none of a
// lost lease or of ctx, nothing has happened, and to read the rows tells what is
// the matter.
func (c *copier) copy(ctx context.Context, chunks []ledger.Chunk) (bytes int, err error) {
	where, ok := c.within(chunks[0].Lo, chunks[len(chunks)-1].Hi)
	if !ok {
		return 0, errUnlike
	}
	target := c.Conns.Target
	var want int64
	done := make([]ledger.Chunk, len(chunks))
	for i, m := range chunks {
		done[i] = m.In(ledger.PhaseCopy)
		done[i].Counts = m.Counts
		done[i].Written = m.Read - m.Merged - m.Dropped
		want += done[i].Written
		bytes += int(m.Read) * c.bytes
	}
	err = c.Lease.Transaction(ctx, target, func() error {
		if n, err := c.insert(ctx, chunks, where); err != nil || n != want {
			return errors.Join(errUnlike, err)
		}
		if err := c.count(ctx, chunks); err != nil {
			return err
		}
		return ledger.Of(target).InsertChunks(ctx, done)
	})
	return bytes, err
}

// insert copies rows, and returns how many.
func (c *copier) insert(ctx context.Context, chunks []ledger.Chunk, where string) (int64, error) {
	target := c.Conns.Target
	heads, err := ledger.PackHeads(ctx, ledger.Of(target), c.Table, chunks)
	if err != nil {
		return 0, err
	}
	if len(heads) > 0 {
		var all int64
		for i, h := range heads {
			rows, err := c.insertPack(ctx, chunks[i], h)
			if err != nil {
				return 0, err
			}
			all += rows
		}
		return all, nil
	}
	conditions := append([]string{where, c.alive}, c.checks...)
	into, values := c.insertInto()
	result, err := target.ExecContext(ctx, into+strings.Join(values, ", ")+c.joined()+" WHERE "+strings.Join(conditions, " AND "))
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// insertInto returns how a statement begins that copies rows, and the values that
// it selects. A row that something is wrong with is to be left out, and missed then.
func (c *copier) insertInto() (into string, values []string) {
	names := make([]string, len(c.values))
	values = slices.Clone(c.values)
	for i, column := range c.Table.Columns {
		if names[i] = column.Name; slices.Contains(c.Deferred, column) {
			values[i] = "NULL"
		}
	}
	e := c.engine
	return "INSERT INTO " + c.into + " (" + e.QuoteAll(names) + ") SELECT STRAIGHT_JOIN ", values
}

// insertPack copies the rows of a chunk, makes their ids on the way, and puts them
// into its pack. It returns how many rows they were.
func (c *copier) insertPack(ctx context.Context, m ledger.Chunk, h ledger.PackHead) (int64, error) {
	where, ok := c.within(m.Lo, m.Hi)
	if !ok || c.texts == nil || !h.Empty {
		return 0, ledger.ErrPacks
	}
	target, key := c.Conns.Target, c.engine.Quote(c.Table.Columns[c.Table.Key].Name)
	if err := setPlace(ctx, target, h.Begins); err != nil {
		return 0, err
	}
	into, values := c.insertInto()
	values[c.Table.Key] = c.ids.LateExpression("s."+key, c.ids.tick)
	text := into + strings.Join(values, ", ") + c.unmapped() + " WHERE " + strings.Join(append([]string{where}, c.checks...), " AND ") + " ORDER BY s." + key
	result, err := target.ExecContext(ctx, text)
	if err != nil {
		return 0, err
	}
	rows, err := result.RowsAffected()
	if err != nil {
		return 0, err
	}
	if h.First, h.Last, err = c.ids.between(h.Begins, m.Place); err != nil {
		return 0, err
	}
	olds := "(SELECT GROUP_CONCAT(s." + key + ") FROM " + c.from + " AS s FORCE INDEX (PRIMARY) WHERE " + where + ")"
	if consecutive([]ledger.Chunk{m}) {
		olds = "''"
	}
	pack := fmt.Sprintf("WHERE source_table = %d AND seq = %d", c.Table.ID, h.Seq)
	text = fmt.Sprintf("UPDATE snow_merge_packs SET old_ids = %s, new_ids = (SELECT GROUP_CONCAT(t.%s)%s) %s", olds, key, c.ofPacks([]ledger.PackHead{h}), pack)
	if _, err := target.ExecContext(ctx, text); err != nil {
		return 0, err
	}
	var place, late int64
	var whole bool
	err = target.QueryRowContext(ctx, "SELECT @snow_merge_place, @snow_merge_late, "+wholePack+" FROM snow_merge_packs "+pack).Scan(&place, &late, &whole)
	if err != nil || !whole || rows != h.Size || place > m.Place {
		return 0, errors.Join(errUnlike, err)
	}
	return rows, ledger.Of(target).SetLate(ctx, m, c.ids.Ahead(late))
}

// count sees to it that there are as many rows as there were in each chunk, of
// which the last one is the same, and none after the table's last chunk.
func (c *copier) count(ctx context.Context, chunks []ledger.Chunk) error {
	last := chunks[len(chunks)-1]
	counts := func(where string) string { return "(SELECT COUNT(*) FROM " + c.from + " AS s WHERE " + where + ")" }
	var parts []string
	var want []int64
	if consecutive(chunks) && c.single {
		chunks = nil // as many rows as there can be were copied
	}
	for _, m := range chunks {
		all, ok := c.within(m.Lo, m.Hi)
		if !ok {
			return errUnlike
		}
		var same []string
		for i, name := range c.Table.Table.RowKey() {
			same = append(same, "s."+c.engine.Quote(name)+" = "+sqlvalue.Text(m.Hi[i]))
		}
		parts = append(parts, counts(all), counts(strings.Join(same, " AND ")))
		want = append(want, m.Read, 1)
	}
	if last.Seq == c.Last {
		beyond, ok := c.within(last.Hi, nil)
		if !ok {
			return errUnlike
		}
		parts, want = append(parts, "EXISTS (SELECT 1 FROM "+c.from+" AS s WHERE "+beyond+")"), append(want, 0)
	}
	if len(want) == 0 {
		return nil
	}
	got, into := scanned(len(want))
	if err := c.Conns.Target.QueryRowContext(ctx, "SELECT "+strings.Join(parts, ", ")).Scan(into...); err != nil {
		return err
	}
	if !slices.Equal(got, want) {
		return errUnlike
	}
	return nil
}

// scanned returns n numbers, and the same as what a row is scanned into.
func scanned(n int) (numbers []int64, into []any) {
	numbers = make([]int64, n)
	for i := range numbers {
		into = append(into, &numbers[i])
	}
	return numbers, into
}
