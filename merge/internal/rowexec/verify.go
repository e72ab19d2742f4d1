package rowexec

import (
	"context"
	"fmt"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/phases"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A verifier compares rows of a source table with what should have become of
// them.
type verifier struct {
	phases.Work
	rewriter *rekey.Rewriter
	hasher   *chunk.Hasher // of all columns; hashes are of those that are copied
	all      *ledger.SourceTable
	target   *rekey.Checker
	keys     []chunk.Form // of the columns of the primary key
	span     chunk.Span   // where rows follow on each other
	buf      []byte
}

// Compare compares the rows of some chunks, and looks whether the source has
// changed in them.
func (v *verifier) Compare(ctx context.Context, tasks []phases.Task) (*phases.Findings, error) {
	if len(tasks) > 1 {
		found := phases.NewFindings()
		if err := v.compareChunk(ctx, joined(tasks), found); err != nil {
			return nil, err
		}
		if len(found.Failures) == 0 {
			return found, nil
		}
	}
	total := phases.NewFindings() // each chunk by itself says where something is wrong
	for _, t := range tasks {
		found := phases.NewFindings()
		found.First, found.Last = total.First, total.Last
		if err := v.compareChunk(ctx, t, found); err != nil {
			return nil, err
		}
		total.Add(found)
		total.First, total.Last = found.First, found.Last
	}
	return total, nil
}

// joined returns chunks that follow on each other as one.
func joined(tasks []phases.Task) phases.Task {
	all := tasks[0]
	for _, t := range tasks[1:] {
		all.Mint.Hi, all.Copied.Hi = t.Mint.Hi, t.Copied.Hi
		all.Mint.Counts.Add(t.Mint.Counts)
		all.Copied.Counts.Add(t.Copied.Counts)
		all.Copied.Hash.Add(t.Copied.Hash)
	}
	return all
}

func (v *verifier) compareChunk(ctx context.Context, t phases.Task, found *phases.Findings) error {
	values, err := v.all.Read(ctx, v.Conns, t.Mint.Lo, t.Mint.Hi, 0)
	if err != nil {
		return err
	}
	found.Read, found.Bytes = int64(len(values)), chunk.SizeOf(values...)
	were := make([]chunk.Sum, len(values))
	for i, row := range values {
		were[i] = v.hash(row)
		found.Source.Add(were[i])
	}
	rows, err := v.rewriter.Rewrite(ctx, v.all, values)
	if failure, ok := phases.FailureOf(err); ok {
		found.Fail(failure)
	} else if err != nil {
		return err
	} else if err := v.compareRows(ctx, rows, were, found); err != nil {
		return err
	}
	if found.Source != t.Copied.Hash || found.Read != t.Copied.Read {
		found.Fail(v.Table.Failure(report.CheckSource, t.Mint.Hi, "the rows after %s and up to this one have changed since they were copied: there were %d and are %d",
			sqlvalue.FormatKey(t.Mint.Lo), t.Copied.Read, found.Read))
	}
	return nil
}

// compareRows looks for rows in the target. The hashes of the rows that they were in the source are were.
func (v *verifier) compareRows(ctx context.Context, rows []rekey.Row, were []chunk.Sum, found *phases.Findings) error {
	t := v.Table
	if t.Content != nil {
		return v.compareCopies(ctx, rows, found)
	}
	var keys [][]any
	wants, renamed := make([]chunk.Sum, len(rows)), make([]bool, len(rows))
	at := map[string]int{} // which row has a primary key in the target
	for i, r := range rows {
		switch r.Fate {
		case ledger.Missing:
			found.Fail(t.Failure(report.CheckSource, r.Key, "the row is new since the run began"))
		case ledger.Merged:
			found.Merged++
		case ledger.Dropped:
			found.Dropped++
		}
		if r.New == nil {
			continue
		}
		if wants[i] = were[i]; !chunk.Identical(r.Old, r.New) {
			wants[i] = v.hash(r.New)
		}
		found.Want.Add(wants[i])
		for n, c := range t.Columns {
			if (t.Changed || c.Combine != plan.CombineKeep) && c.Role == plan.RolePlain && !v.hasher.Equal(n, r.Old[n], r.New[n]) {
				renamed[i] = true
				if !t.Table.SetByRenames(c) && c.Combine == plan.CombineKeep {
					found.Renamed++
				}
			}
		}
		if r.Fate == ledger.Rekeyed {
			found.Rekeyed++
			v.order(r, found)
		}
		key := t.RowKey(r.New)
		at[v.keyOf(key)] = i
		for n, value := range key {
			key[n] = chunk.FitValue(v.Engine, value, t.Columns[t.Primary[n]])
		}
		keys = append(keys, key)
	}
	read, err := v.readKeys(ctx, keys)
	if err != nil {
		return v.Engine.Failed(fmt.Sprintf("read table %q of the target", t.Table.Name), err)
	}
	seen, there := make([]bool, len(rows)), make([][]any, 0, len(rows))
	for _, got := range read {
		i, ok := at[v.keyOf(t.RowKey(got))]
		if !ok {
			continue // it is of another chunk, or its key is equal to one of ours for the database: ours is missing, then
		}
		seen[i], there = true, append(there, got)
		found.Written++
		is := wants[i]
		if !chunk.Identical(rows[i].New[:len(t.Columns)], got[:len(t.Columns)]) {
			is = v.hash(got)
		}
		found.Found.Add(is)
		if is != wants[i] {
			v.differences(rows[i], got, 0, len(t.Columns), found)
		} else if !renamed[i] {
			v.differences(rows[i], got, len(t.Columns), len(got), found)
		}
	}
	for i, r := range rows {
		if r.New != nil && !seen[i] {
			f := t.Failure(report.CheckRows, r.Key, "the row is missing")
			f.Target = sqlvalue.FormatKey(t.RowKey(r.New))
			found.Fail(f)
		}
	}
	v.SampleRows(found, t, there)
	return v.references(ctx, rows, there, at, nil, found)
}

// readKeys returns the target's rows of some keys, and maybe others.
func (v *verifier) readKeys(ctx context.Context, keys [][]any) ([][]any, error) {
	target, by := v.Conns.Target, chunk.ColumnsOf(v.Table.Table, v.Table.Table.RowKey())
	// Rows that follow on each other in a source mostly do so in the target, maybe with those of another source in
	// between. MariaDB reads a range with twice as many rows in half the time.
	if v.Engine.Kind == sqlsnow.MySQL {
		rows, ok, err := v.span.Read(ctx, target.Engine, target, v.Table.Table.Name, v.all.Columns, by, keys)
		if err != nil || ok {
			return rows, err
		}
	}
	return chunk.ReadKeys(ctx, target.Engine, target, v.Table.Table.Name, v.all.Columns, by, keys)
}

// keyOf returns a primary key as the key of a Go map.
func (v *verifier) keyOf(key []any) string {
	v.buf = v.buf[:0]
	for i, value := range key {
		v.buf = append(v.keys[i].Append(v.buf, value, v.Blobs()), 0)
	}
	return string(v.buf)
}

// order sees to it that new ids sort as the old ones, and are those that nobody
// else can have got.
func (v *verifier) order(r rekey.Row, found *phases.Findings) {
	t := v.Table
	id, ok := sqlvalue.ID(r.New[t.Key])
	if !ok {
		return
	}
	fail := func(check report.Check, reason string, args ...any) {
		f := t.Failure(check, r.Key, reason, args...)
		f.Target = sqlvalue.FormatKey([]any{id})
		found.Fail(f)
	}
	if found.First == 0 {
		found.First = id
	} else if id <= found.Last {
		fail(report.CheckOrder, "its id is not above that of the row before, %d", found.Last)
	}
	found.Last = id
	if old, ok := r.Old[t.Key].(int64); !ok || !t.Ids.Has(old, id) {
		fail(report.CheckMap, "its id is not one of those that were reserved")
	}
}

// hash returns the hash of what is copied of a row.
func (v *verifier) hash(row []any) chunk.Sum { return v.hasher.Row(row[:len(v.Table.Columns)]) }

// differences looks at the columns from begin to end, without end.
func (v *verifier) differences(r rekey.Row, got []any, begin, end int, found *phases.Findings) {
	for n, c := range v.all.Columns[begin:end] {
		if n += begin; !v.hasher.Equal(n, r.New[n], got[n]) {
			f := v.Table.Failure(report.CheckRows, r.Key, "want %s, got %s", sqlvalue.Sample(r.New[n]), sqlvalue.Sample(got[n]))
			f.Column, f.Target = c.Name, sqlvalue.FormatKey(v.Table.RowKey(got))
			found.Fail(f)
		}
	}
}

// references looks for the rows that the target's rows refer to, but for some columns.
func (v *verifier) references(ctx context.Context, rows []rekey.Row, there [][]any, at map[string]int, but []*plan.Column, found *phases.Findings) error {
	t := v.Table
	for n, c := range t.Columns {
		if !c.HoldsReferences() || slices.Contains(but, c) {
			continue
		}
		f, err := v.rewriter.Column(t, n)
		if err != nil {
			return err
		}
		parents := make([]*plan.Table, len(c.Refers))
		for i, r := range c.Refers {
			if !v.Sound[c] { // or all are rows
				parents[i] = v.Plan.Table(r.Table)
			}
		}
		all, bad, err := v.target.References(ctx, f, there, parents)
		if err != nil {
			return err
		}
		for _, err := range bad {
			failure, _ := phases.FailureOf(err)
			failure.Row, failure.Target, failure.Check = "", failure.Row, report.CheckReference
			found.Fail(failure)
		}
		for _, h := range all {
			ref := found.Reference(phases.RefKey{Column: c, Ref: h.Ref})
			ref.Checked++
			if !h.Missing || v.Sound[c] {
				continue
			}
			ref.Orphans++
			reason, err := v.orphan(ctx, h, parents[h.Ref])
			if err != nil {
				return err
			}
			key := v.all.RowKey(there[h.Row])
			failure := t.Failure(report.CheckReference, nil, "%s", reason)
			failure.Column, failure.Target = c.Name, sqlvalue.FormatKey(key)
			if i, ok := at[v.keyOf(key)]; ok {
				failure.Row = sqlvalue.FormatKey(rows[i].Key)
			}
			found.Fail(failure)
		}
		if t.Content == nil {
			found.Reach(t.Source, f)
		}
	}
	return nil
}

// orphan says what is wrong with a reference.
func (v *verifier) orphan(ctx context.Context, h rekey.Held, parent *plan.Table) (string, error) {
	reason := fmt.Sprintf("no row of table %q has the id %q", parent.Name, h.Text)
	if !h.Valid {
		return reason, nil
	}
	after, err := rekey.Resolve(ctx, v.rewriter.IDs, nil, v.rewriter.Tables[parent.Name], []int64{h.ID})
	if a := after[h.ID]; a.Fate == ledger.Rekeyed || a.Fate == ledger.Merged {
		reason += fmt.Sprintf(": it is an old id, whose row has %d now", a.ID)
	}
	return reason, err
}
