package merge

import (
	"context"
	"fmt"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/report"
)

// A rowCopier copies rows of a source table, and sets the references that were
// NULL at first.
type rowCopier struct {
	work
	rewriter *rewriter
	hasher   *chunk.Hasher
	insert   *chunk.Inserter
}

// Copy copies the rows of some chunks.
func (c *rowCopier) Copy(ctx context.Context, chunks []Chunk) (bytes int, err error) {
	values, rows, err := c.rows(ctx, c.table, chunks)
	if err != nil {
		return 0, err
	}
	done, err := c.account(chunks, rows)
	if err != nil {
		return 0, err
	}
	for _, row := range values {
		bytes += chunk.SizeOf(row)
	}
	return bytes, c.write(ctx, rows, done)
}

// rows returns the source's rows in some chunks, and what they become.
func (c *rowCopier) rows(ctx context.Context, t *SourceTable, chunks []Chunk) ([][]any, []row, error) {
	values, err := c.read(ctx, t, chunks)
	if err != nil {
		return nil, nil, err
	}
	rows, err := c.rewriter.rewrite(ctx, t, values)
	return values, rows, err
}

// read returns the source's rows in some chunks, and sees to it that there are
// as many as there were.
func (c *rowCopier) read(ctx context.Context, t *SourceTable, chunks []Chunk) ([][]any, error) {
	first, last := chunks[0], chunks[len(chunks)-1]
	want := 0
	for _, each := range chunks {
		want += int(each.read)
	}
	upto := last.hi
	if last.seq == c.last {
		upto = nil // nothing may have come after it
	}
	rows, err := t.read(ctx, c.conns, first.lo, upto, want+1)
	if err != nil {
		return nil, err
	}
	if len(rows) != want {
		got := strconv.Itoa(len(rows))
		if len(rows) > want {
			got = "more"
		}
		return nil, c.changed(last.hi, fmt.Sprintf("there were %d rows up to it, and now there are %s", want, got))
	}
	at := 0
	for _, each := range chunks {
		at += int(each.read)
		if got := sqlvalue.FormatKey(t.primaryKey(rows[at-1])); got != sqlvalue.FormatKey(each.hi) {
			return nil, c.changed(each.hi, "row "+got+" is in its place")
		}
	}
	return rows, nil
}

func (c *rowCopier) changed(key []any, reason string) error {
	return &report.ChangedError{Source: c.table.source, Table: c.table.table.Name, Row: sqlvalue.FormatKey(key), Reason: reason}
}

// account returns what the ledger is to say of the chunks, if their rows become
// what phase mint decided.
func (c *rowCopier) account(chunks []Chunk, rows []row) ([]Chunk, error) {
	done := make([]Chunk, len(chunks))
	for i, minted := range chunks {
		d := Chunk{sourceTable: minted.sourceTable, phase: phaseCopy, seq: minted.seq, lo: minted.lo, hi: minted.hi, read: minted.read}
		for _, row := range rows[:minted.read] {
			d.hash.Add(c.hasher.Row(row.old))
			switch row.fate {
			case missing:
				return nil, c.changed(row.key, "the row is new")
			case rekeyed:
				d.rekeyed++
			case merged:
				d.merged++
			case dropped:
				d.dropped++
			}
			if row.new != nil {
				d.written++
			}
		}
		if d.rekeyed != minted.rekeyed || d.merged != minted.merged || d.dropped != minted.dropped {
			return nil, c.changed(minted.hi, fmt.Sprintf("of the rows up to it %d, %d and %d had a new id, were merged and were dropped, and now it would be %d, %d and %d",
				minted.rekeyed, minted.merged, minted.dropped, d.rekeyed, d.merged, d.dropped))
		}
		rows, done[i] = rows[minted.read:], d
	}
	return done, nil
}

func (c *rowCopier) write(ctx context.Context, rows []row, done []Chunk) error {
	var deferred []int
	for _, column := range c.deferred {
		if at := c.table.position(column.Name); at >= 0 {
			deferred = append(deferred, at)
		}
	}
	var values [][]any
	var keys [][]any
	for _, r := range rows {
		if r.new == nil {
			continue
		}
		for _, at := range deferred {
			r.new[at] = nil
		}
		values, keys = append(values, r.new), append(keys, r.key)
	}
	if c.insert == nil {
		c.insert = chunk.NewInserter(c.conns.Target, c.table.table.Name, c.table.columns)
	}
	var refused error
	err := c.lease.transaction(ctx, c.conns.Target, func() error {
		if refused = c.insert.Write(ctx, values); refused != nil {
			return refused
		}
		return ledgerOf(c.conns.Target).insertChunks(ctx, done)
	})
	if err != nil && refused != nil && ctx.Err() == nil && !c.engine.IsBusy(err) {
		at, cause := c.insert.Blame(ctx, values, err)
		return c.table.rowError(keys[at], c.engine.Failed("insert", cause))
	}
	return c.engine.Failed("copy table "+strconv.Quote(c.table.table.Name), err)
}
