package merge

import (
	"context"
	"fmt"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A rowVerifier compares rows of a source table with what should have become of
// them.
type rowVerifier struct {
	work
	rewriter *rekey.Rewriter
	hasher   *chunk.Hasher
	target   *rekey.Checker
}

// Compare compares the rows of some chunks, and looks whether the source has
// changed in them.
func (v *rowVerifier) Compare(ctx context.Context, tasks []task) (*proof, error) {
	total := newProof()
	for _, t := range tasks {
		found := newProof()
		found.first, found.last = total.first, total.last
		if err := v.compareChunk(ctx, t, found); err != nil {
			return nil, err
		}
		total.add(found)
		total.first, total.last = found.first, found.last
	}
	return total, nil
}

func (v *rowVerifier) compareChunk(ctx context.Context, t task, found *proof) error {
	values, err := v.table.Read(ctx, v.conns, t.mint.Lo, t.mint.Hi, 0)
	if err != nil {
		return err
	}
	found.read = int64(len(values))
	for _, row := range values {
		found.source.Add(v.hasher.Row(row))
	}
	rows, err := v.rewriter.Rewrite(ctx, v.table, values)
	if failure, ok := failureOf(err); ok {
		found.fail(failure)
	} else if err != nil {
		return err
	} else if err := v.compareRows(ctx, rows, found); err != nil {
		return err
	}
	hashed := t.copied.Hash != (chunk.Sum{})
	for i, f := range found.failures {
		if !hashed && f.Check == report.CheckRows {
			found.failures[i].Reason += ", unless it is the source that has changed since"
		}
	}
	if hashed && found.source != t.copied.Hash || found.read != t.copied.Read {
		found.fail(v.table.Failure(report.CheckSource, t.mint.Hi, "the rows after %s and up to this one have changed since they were copied: there were %d and are %d",
			sqlvalue.FormatKey(t.mint.Lo), t.copied.Read, found.read))
	}
	return nil
}

// compareRows looks for rows in the target.
func (v *rowVerifier) compareRows(ctx context.Context, rows []rekey.Row, found *proof) error {
	t := v.table
	var keys [][]any
	wants := make([]chunk.Sum, len(rows))
	at := map[string]int{} // which row has a primary key in the target
	for i, r := range rows {
		switch r.Fate {
		case ledger.Missing:
			found.fail(t.Failure(report.CheckSource, r.Key, "the row is new since the run began"))
		case ledger.Merged:
			found.merged++
		case ledger.Dropped:
			found.dropped++
		}
		if r.New == nil {
			continue
		}
		wants[i] = v.hasher.Row(r.New)
		found.want.Add(wants[i])
		for n, c := range t.Columns {
			if t.Changed && c.Role == plan.RolePlain && !v.hasher.Equal(n, r.Old[n], r.New[n]) {
				found.renamed++
			}
		}
		if r.Fate == ledger.Rekeyed {
			found.rekeyed++
			v.order(r, found)
		}
		key := t.PrimaryKey(r.New)
		at[v.keyOf(key)] = i
		for n, value := range key {
			key[n] = chunk.FitValue(v.engine, value, t.Columns[t.Primary[n]])
		}
		keys = append(keys, key)
	}
	there, err := chunk.ReadKeys(ctx, v.engine, v.conns.Target, t.Table.Name, t.Columns, t.Table.PrimaryKey, keys)
	if err != nil {
		return v.engine.Failed(fmt.Sprintf("read table %q of the target", t.Table.Name), err)
	}
	seen := make([]bool, len(rows))
	for _, got := range there {
		i, ok := at[v.keyOf(t.PrimaryKey(got))]
		if !ok {
			continue // its key is equal to one of ours for the database: ours is missing, then
		}
		seen[i] = true
		found.copied++
		is := v.hasher.Row(got)
		found.found.Add(is)
		if is != wants[i] {
			v.differences(rows[i], got, found)
		}
	}
	for i, r := range rows {
		if r.New != nil && !seen[i] {
			f := t.Failure(report.CheckRows, r.Key, "the row is missing")
			f.Target = sqlvalue.FormatKey(t.PrimaryKey(r.New))
			found.fail(f)
		}
	}
	found.sampleRows(v.job, t, there)
	return v.references(ctx, rows, there, at, found)
}

// keyOf returns a primary key as the key of a Go map.
func (v *rowVerifier) keyOf(key []any) string {
	var b strings.Builder
	for i, value := range key {
		b.Write(chunk.FormOf(v.table.Columns[v.table.Primary[i]]).Append(nil, value, v.blobs()))
		b.WriteByte(0)
	}
	return b.String()
}

// order sees to it that new ids sort as the old ones, and are those that nobody
// else can have got.
func (v *rowVerifier) order(r rekey.Row, found *proof) {
	t := v.table
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
	if mask, value := t.Ids.Own(); uint64(id)&mask != value {
		fail(report.CheckMap, "its id is not one of those that were reserved")
	}
}

func (v *rowVerifier) differences(r rekey.Row, got []any, found *proof) {
	for n, c := range v.table.Columns {
		if !v.hasher.Equal(n, r.New[n], got[n]) {
			f := v.table.Failure(report.CheckRows, r.Key, "want %s, got %s", sqlvalue.Sample(r.New[n]), sqlvalue.Sample(got[n]))
			f.Column, f.Target = c.Name, sqlvalue.FormatKey(v.table.PrimaryKey(got))
			found.fail(f)
		}
	}
}

// references looks for the rows that the target's rows refer to.
func (v *rowVerifier) references(ctx context.Context, rows []rekey.Row, there [][]any, at map[string]int, found *proof) error {
	t := v.table
	for n, c := range t.Columns {
		if !c.HoldsReferences() {
			continue
		}
		f, err := rekey.NewFinder(v.rewriter.Tables, t, n)
		if err != nil {
			return err
		}
		parents := make([]*plan.Table, len(c.Refers))
		for i, r := range c.Refers {
			if !v.sound[c] { // or all are rows
				parents[i] = v.plan.Table(r.Table)
			}
		}
		fail := func(_ int, bad *report.RowError) {
			failure, _ := failureOf(bad)
			failure.Row, failure.Target, failure.Check = "", failure.Row, report.CheckReference
			found.fail(failure)
		}
		err = v.target.Orphans(ctx, f, there, parents, fail, func(h rekey.Held, missing bool) error {
			ref := found.reference(refKey{c, h.Ref})
			ref.Checked++
			if !missing || v.sound[c] {
				return nil
			}
			ref.Orphans++
			reason, err := v.orphan(ctx, h, parents[h.Ref])
			if err != nil {
				return err
			}
			key := t.PrimaryKey(there[h.Row])
			failure := t.Failure(report.CheckReference, nil, "%s", reason)
			failure.Column, failure.Target = c.Name, sqlvalue.FormatKey(key)
			if i, ok := at[v.keyOf(key)]; ok {
				failure.Row = sqlvalue.FormatKey(rows[i].Key)
			}
			found.fail(failure)
			return nil
		})
		if err != nil {
			return err
		}
		for ref, reached := range f.Reached {
			found.paths[refKey{c, ref}] = reached
		}
	}
	return nil
}

// orphan says what is wrong with a reference.
func (v *rowVerifier) orphan(ctx context.Context, h rekey.Held, parent *plan.Table) (string, error) {
	reason := fmt.Sprintf("no row of table %q has the id %q", parent.Name, h.Text)
	if !h.Valid {
		return reason, nil
	}
	after, err := v.rewriter.Resolver.Resolve(ctx, nil, v.rewriter.Tables[parent.Name], []int64{h.ID})
	if a := after[h.ID]; a.Fate == ledger.Rekeyed || a.Fate == ledger.Merged {
		reason += fmt.Sprintf(": it is an old id, whose row has %d now", a.ID)
	}
	return reason, err
}
