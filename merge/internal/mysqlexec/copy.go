package mysqlexec

import (
	"context"
	"errors"
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

// newCopier returns nil if rows must go through this process.
func newCopier(ctx context.Context, w phases.Work, database string) (*copier, error) {
	if w.Table.Changed {
		return nil, nil
	}
	s, err := newSelection(ctx, w, database)
	if err != nil || s == nil {
		return nil, err
	}
	return &copier{w, s}, nil
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
		done[i] = ledger.Chunk{
			SourceTable: m.SourceTable, Phase: ledger.PhaseCopy, Seq: m.Seq, Lo: m.Lo, Hi: m.Hi, Read: m.Read, Written: m.Read - m.Merged - m.Dropped,
			Rekeyed: m.Rekeyed, Merged: m.Merged, Dropped: m.Dropped,
		}
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
	heads, err := ledger.MapOf(target).PackHeads(ctx, c.Table, chunks)
	if err != nil {
		return 0, err
	}
	if len(heads) > 0 {
		return c.insertPacked(ctx, chunks, heads)
	}
	conditions := append([]string{where}, c.checks...)
	if c.alive != "" {
		conditions = append(conditions, c.alive)
	}
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
	return "INSERT INTO " + e.Quote(c.Table.Table.Name) + " (" + e.QuoteAll(names) + ") SELECT STRAIGHT_JOIN ", values
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
		for i, name := range c.Table.Table.PrimaryKey {
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
