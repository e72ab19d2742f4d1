package verify

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// verifying fills a report.
type verifying struct {
	*work.Job
	run    *ledger.Run
	report *report.Report
	kept   *report.Report        // the report of an earlier verification, which counts instead
	later  map[string]int64      // rows that later runs have copied, by table
	sound  map[*plan.Column]bool // that are all known to be ids of rows in the target
	sets   []*multiset           // of the tables without a primary key
	first  *chunk.Conns          // for what one goroutine asks of the target
	others []*chunk.Conns        // for rows: one for each goroutine, or first alone
	pages  map[*chunk.Conns]*ledger.Pages
}

// addFailures reports what was found to be wrong.
func (v *verifying) addFailures(found *findings) {
	for _, f := range found.failures {
		v.report.Add(f)
	}
	v.report.Failed += found.failed - int64(len(found.failures))
}

// A comparer compares rows of a source table with what should have become of
// them.
type comparer struct {
	*work.Job
	table    *ledger.SourceTable
	conns    *chunk.Conns
	sound    map[*plan.Column]bool // see [verifying]
	sets     []*multiset           // where the table has no primary key: what its rows are added to
	missing  *multiset             // instead: rows that were not found
	rewriter *rekey.Rewriter
	hasher   *chunk.Hasher // of all columns; hashes cover the copied ones
	all      *ledger.SourceTable
	target   *rekey.Checker
	keys     []chunk.Form // of the columns of the primary key
	span     chunk.Span   // where rows follow on each other
	buf      []byte
}

// newComparer returns one of a source table, by sessions of one goroutine.
func (v *verifying) newComparer(ctx context.Context, t *ledger.SourceTable, c *chunk.Conns) (*comparer, error) {
	rewriter, err := work.NewRewriter(ctx, v.Job, v.run, c, t, v.pages[c])
	if err != nil {
		return nil, err
	}
	x := &comparer{Job: v.Job, table: t, conns: c, sound: v.sound, rewriter: rewriter, all: t.WithComputed(), target: &rekey.Checker{Engine: c.Target.Engine, Q: c.Target}}
	x.hasher = chunk.NewHasher(x.all.Columns, v.Blobs())
	for _, at := range t.Primary {
		x.keys = append(x.keys, chunk.FormOf(t.Columns[at]))
	}
	return x, nil
}

// hash returns the hash of what is copied of a row.
func (x *comparer) hash(row []any) chunk.Sum { return x.hasher.Row(row[:len(x.table.Columns)]) }

// keyOf returns a primary key as the key of a Go map.
func (x *comparer) keyOf(key []any) string {
	x.buf = x.buf[:0]
	for i, value := range key {
		x.buf = append(x.keys[i].Append(x.buf, value, x.Blobs()), 0)
	}
	return string(x.buf)
}

// count counts what became of a row.
func (x *comparer) count(r rekey.Row, found *findings) {
	if found.Take(r.Fate); r.Fate == ledger.Missing {
		found.fail(x.table.Failure(report.CheckSource, r.Key, "the row is new since the run began"))
	}
}
