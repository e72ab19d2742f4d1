package verify

import (
	"context"
	"fmt"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// compareChunk compares the rows of a chunk with the target's, and tests whether the source has changed in them.
func (x *comparer) compareChunk(ctx context.Context, t work.Task) (*findings, error) {
	values, err := x.all.Read(ctx, x.conns, t.Mint.Lo, t.Mint.Hi, 0)
	if err != nil {
		return nil, err
	}
	found := newFindings()
	found.Read, found.bytes = int64(len(values)), chunk.SizeOf(values...)
	were := make([]chunk.Sum, len(values))
	for i, row := range values {
		were[i] = x.hash(row)
		found.source.Add(were[i])
	}
	rows, err := x.rewriter.Rewrite(ctx, x.all, values)
	if failure, ok := failureOf(err); ok {
		found.fail(failure)
	} else if err != nil {
		return nil, err
	} else if err := x.compareRows(ctx, rows, were, found); err != nil {
		return nil, err
	}
	if found.source != t.Copied.Hash || found.Read != t.Copied.Read {
		found.fail(x.table.Failure(report.CheckSource, t.Mint.Hi, "the rows after %s and up to this one have changed since they were copied: there were %d and are %d",
			sqlvalue.FormatKey(t.Mint.Lo), t.Copied.Read, found.Read))
	}
	return found, nil
}

// compareRows looks for rows in the target. The hashes of the rows that they were in the source are were.
func (x *comparer) compareRows(ctx context.Context, rows []rekey.Row, were []chunk.Sum, found *findings) error {
	t := x.table
	if t.Content != nil {
		return x.compareCopies(ctx, rows, found)
	}
	var keys [][]any
	wants, renamed := make([]chunk.Sum, len(rows)), make([]bool, len(rows))
	at := map[string]int{} // which row has a primary key in the target
	for i, r := range rows {
		if x.count(r, found); r.New == nil {
			continue
		}
		if wants[i] = were[i]; !chunk.Identical(r.Old, r.New) {
			wants[i] = x.hash(r.New)
		}
		found.want.Add(wants[i])
		for n, c := range t.Columns {
			if (t.Changed || c.Combine != plan.CombineKeep) && c.Role == plan.RolePlain && !x.hasher.Equal(n, r.Old[n], r.New[n]) {
				renamed[i] = true
				if !t.Table.SetByRenames(c) && c.Combine == plan.CombineKeep {
					found.renamed++
				}
			}
		}
		if r.Fate == ledger.Rekeyed {
			x.order(r, found)
		}
		key := t.RowKey(r.New)
		at[x.keyOf(key)] = i
		for n, value := range key {
			key[n] = chunk.FitValue(x.Engine, value, t.Columns[t.Primary[n]])
		}
		keys = append(keys, key)
	}
	read, err := x.readKeys(ctx, keys)
	if err != nil {
		return x.Engine.Failed(fmt.Sprintf("read table %q of the target", t.Table.Name), err)
	}
	seen, there := make([]bool, len(rows)), make([][]any, 0, len(rows))
	for _, got := range read {
		i, ok := at[x.keyOf(t.RowKey(got))]
		if !ok {
			// it is of another chunk, or its key is equal to one of ours for the database: ours is missing, then
			continue
		}
		seen[i], there = true, append(there, got)
		found.Written++
		is := wants[i]
		if !chunk.Identical(rows[i].New[:len(t.Columns)], got[:len(t.Columns)]) {
			is = x.hash(got)
		}
		found.found.Add(is)
		if is != wants[i] {
			x.differences(rows[i], got, 0, len(t.Columns), found)
		} else if !renamed[i] {
			x.differences(rows[i], got, len(t.Columns), len(got), found)
		}
	}
	for i, r := range rows {
		if r.New != nil && !seen[i] {
			f := t.Failure(report.CheckRows, r.Key, "the row is missing")
			f.Target = sqlvalue.FormatKey(t.RowKey(r.New))
			found.fail(f)
		}
	}
	x.SampleRows(found.seen, t, there)
	return compareReferences(ctx, x, rows, there, at, nil, found)
}

// readKeys returns the target's rows of some keys, and maybe others.
func (x *comparer) readKeys(ctx context.Context, keys [][]any) ([][]any, error) {
	target, by := x.conns.Target, chunk.ColumnsOf(x.table.Table, x.table.Table.RowKey())
	// Rows that follow on each other in a source mostly do so in the target, maybe with rows of another source in
	// between. MariaDB reads a range with twice as many rows in half the time.
	if x.Engine.Kind == sqlsnow.MySQL {
		rows, ok, err := x.span.Read(ctx, target.Engine, target, x.table.Table.Name, x.all.Columns, by, keys)
		if err != nil || ok {
			return rows, err
		}
	}
	return chunk.ReadKeys(ctx, target.Engine, target, x.table.Table.Name, x.all.Columns, by, keys)
}

// order tests whether new ids sort as the old ones, and are in the range that the source reserved.
func (x *comparer) order(r rekey.Row, found *findings) {
	t := x.table
	id, ok := sqlvalue.ID(r.New[t.Key])
	if !ok {
		return
	}
	fail := func(check report.Check, reason string, args ...any) {
		f := t.Failure(check, r.Key, reason, args...)
		f.Target = sqlvalue.FormatKey([]any{id})
		found.fail(f)
	}
	if found.first == 0 {
		found.first = id
	} else if id <= found.last {
		fail(report.CheckOrder, "its id is not above that of the row before, %d", found.last)
	}
	found.last = id
	if old, ok := r.Old[t.Key].(int64); !ok || !t.Ids.Has(old, id) {
		fail(report.CheckMap, "its id is not one of those that were reserved")
	}
}

// differences looks at the columns from begin to end, without end.
func (x *comparer) differences(r rekey.Row, got []any, begin, end int, found *findings) {
	for n, c := range x.all.Columns[begin:end] {
		if n += begin; !x.hasher.Equal(n, r.New[n], got[n]) {
			f := x.table.Failure(report.CheckRows, r.Key, "want %s, got %s", sqlvalue.Sample(r.New[n]), sqlvalue.Sample(got[n]))
			f.Column, f.Target = c.Name, sqlvalue.FormatKey(x.table.RowKey(got))
			found.fail(f)
		}
	}
}
