package rowexec

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/phases"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// compareCopies counts rows that nothing tells from equal ones, for Find.
func (v *verifier) compareCopies(ctx context.Context, rows []rekey.Row, found *phases.Findings) error {
	t := v.Table
	var alive [][]any
	for _, r := range rows {
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
		for n, c := range t.Columns {
			if t.Changed && c.Role == plan.RolePlain && !t.Table.SetByRenames(c) && !v.hasher.Equal(n, r.Old[n], r.New[n]) {
				found.Renamed++
			}
		}
		hash := v.hash(r.New)
		found.Want.Add(hash)
		if v.Missing != nil && v.Missing.Misses(v.copyHash(v.Missing)(r.New)) {
			found.Fail(t.Failure(report.CheckRows, r.Key, "the row is missing, or one of several equal ones: %s", sqlvalue.SampleRow(r.New[:len(t.Columns)])))
			continue
		}
		found.Written++
		found.Found.Add(hash)
		alive = append(alive, r.New)
	}
	for _, m := range v.Sets {
		hash, hashes := v.copyHash(m), make([]chunk.Sum, len(alive))
		for i, row := range alive {
			hashes[i] = hash(row)
		}
		m.Add(hashes)
	}
	return v.reach(ctx, alive, found)
}

// reach notes which paths lead to something in rows that will be found in the target, where nothing says of which
// source they are.
func (v *verifier) reach(ctx context.Context, rows [][]any, found *phases.Findings) error {
	for n, c := range v.Table.Columns {
		if !c.HoldsReferences() {
			continue
		}
		f, err := v.rewriter.Column(v.Table, n)
		if err != nil {
			return err
		}
		if _, _, err := v.target.References(ctx, f, rows, make([]*plan.Table, len(c.Refers))); err != nil {
			return err
		}
		found.Reach(v.Table.Source, f)
	}
	return nil
}

// copyHash returns the function that hashes what a multiset compares of a row.
func (v *verifier) copyHash(m *phases.Multiset) func(row []any) chunk.Sum {
	hasher, pick := chunk.NewHasher(m.Of.Columns, v.Blobs()), m.Pick(v.all.Columns)
	return func(row []any) chunk.Sum { return hasher.Row(pick(row)) }
}

// Find is as [phases.Executor] says.
func (v *verifier) Find(ctx context.Context, m *phases.Multiset) (*phases.Findings, error) {
	found, pace := phases.NewFindings(), v.PaceOf(m.Of)
	hasher := chunk.NewHasher(m.Of.Columns, v.Blobs())
	var after []any
	for {
		if err := v.Pause(ctx); err != nil {
			return nil, err
		}
		limit := pace.Size()
		rows, err := m.Of.ReadTarget(ctx, v.Conns.Target, after, limit)
		if err != nil || len(rows) == 0 {
			return found, err
		}
		pace.Observe(len(rows), chunk.SizeOf(rows...), 0)
		var there [][]any
		for _, row := range rows {
			if m.Take(hasher.Row(row[:len(m.Of.Columns)])) {
				there = append(there, row)
			}
		}
		v.SampleRows(found, v.Table, there)
		if err := v.references(ctx, nil, there, nil, m.Elsewhere, found); err != nil {
			return nil, err
		}
		after = m.Of.RowKey(rows[len(rows)-1])
		if len(rows) < limit {
			return found, nil
		}
	}
}
