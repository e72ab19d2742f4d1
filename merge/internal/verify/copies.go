package verify

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// compareCopies counts rows that nothing tells from equal ones, for Find.
func (x *comparer) compareCopies(ctx context.Context, rows []rekey.Row, found *findings) error {
	t := x.table
	var alive [][]any
	for _, r := range rows {
		if x.count(r, found); r.New == nil {
			continue
		}
		for n, c := range t.Columns {
			if t.Changed && c.Role == plan.RolePlain && !t.Table.SetByRenames(c) && !x.hasher.Equal(n, r.Old[n], r.New[n]) {
				found.renamed++
			}
		}
		hash := x.hash(r.New)
		found.want.Add(hash)
		if x.missing != nil && x.missing.misses(x.copyHash(x.missing)(r.New)) {
			found.fail(t.Failure(report.CheckRows, r.Key, "the row is missing, or one of several equal ones: %s", sqlvalue.SampleRow(r.New[:len(t.Columns)])))
			continue
		}
		found.Written++
		found.found.Add(hash)
		alive = append(alive, r.New)
	}
	for _, m := range x.sets {
		hash, hashes := x.copyHash(m), make([]chunk.Sum, len(alive))
		for i, row := range alive {
			hashes[i] = hash(row)
		}
		m.add(hashes)
	}
	return x.reach(ctx, alive, found)
}

// reach notes which paths lead to something in rows that will be found in the target, where nothing tells which
// source they come from.
func (x *comparer) reach(ctx context.Context, rows [][]any, found *findings) error {
	for n, c := range x.table.Columns {
		if !c.HoldsReferences() {
			continue
		}
		f, err := x.rewriter.Column(x.table, n)
		if err != nil {
			return err
		}
		if _, _, err := x.target.References(ctx, f, rows, make([]*plan.Table, len(c.Refers))); err != nil {
			return err
		}
		found.seen.Reach(x.table.Source, f)
	}
	return nil
}

// copyHash returns the function that hashes what a multiset compares of a row.
func (x *comparer) copyHash(m *multiset) func(row []any) chunk.Sum {
	hasher, pick := chunk.NewHasher(m.of.Columns, x.Blobs()), m.pick(x.all.Columns)
	return func(row []any) chunk.Sum { return hasher.Row(pick(row)) }
}
