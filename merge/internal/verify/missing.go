package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// findMultisets looks for the rows of tables without a primary key in the target, and says which are not there. found
// are the findings in the run's tables.
func findMultisets(ctx context.Context, v *verifying, found []*findings) error {
	named := map[*plan.Table]bool{}
	for _, m := range v.sets {
		at := slices.IndexFunc(v.run.Tables, func(t *ledger.SourceTable) bool { return t.ID == m.of.ID })
		x, err := v.newComparer(ctx, v.run.Tables[at], v.others[0])
		if err != nil {
			return err
		}
		in, err := find(ctx, x, m)
		if err != nil {
			return err
		}
		found[at].addReferences(in)
		found[at].seen.Add(in.seen)
		v.addFailures(in)
		for i, t := range v.run.Tables {
			if m.missing() > 0 && t.Table == m.of.Table && slices.Equal(compared(t).Columns, m.of.Columns) {
				if err := missed(ctx, v, m, i, found[i]); err != nil {
					return err
				}
				named[t.Table] = true
			}
		}
		if n := m.missing(); n > 0 && !named[m.of.Table] { // otherwise they are rows of sources that have more columns
			v.report.Add(report.Failure{Check: report.CheckRows, Table: m.of.Table.Name, Reason: fmt.Sprintf("%d rows are missing", n)})
		}
	}
	return nil
}

// find looks for rows of a table without a primary key in the target, after the rows of all sources were compared.
func find(ctx context.Context, x *comparer, m *multiset) (*findings, error) {
	found, hasher := newFindings(), chunk.NewHasher(m.of.Columns, x.Blobs())
	target := work.Rows{Table: m.of, Conns: x.conns, Pace: x.PaceOf(m.of)}
	target.Read = func(ctx context.Context, conns *chunk.Conns, after []any, limit int) (work.Page, error) {
		rows, err := m.of.ReadTarget(ctx, conns.Target, after, limit)
		return work.PageOf(m.of, rows), err
	}
	err := target.Each(ctx, x.Job, func(ctx context.Context, rows [][]any) (int, error) {
		var there [][]any
		for _, row := range rows {
			if m.take(hasher.Row(row[:len(m.of.Columns)])) {
				there = append(there, row)
			}
		}
		x.SampleRows(found.seen, x.table, there)
		return chunk.SizeOf(rows...), compareReferences(ctx, x, nil, there, nil, m.elsewhere, found)
	})
	return found, err
}

// missed reads a source once more, to say which of its rows are not in the target.
func missed(ctx context.Context, v *verifying, m *multiset, table int, found *findings) error {
	again := newTableCheck(v.run.Tables[table], ledger.Chunk{}, v.Pace(), nil)
	named := again.total
	if err := work.Parallel(ctx, v.others, func(ctx context.Context, c *chunk.Conns) error {
		return v.chunks(ctx, again, c, m)
	}); err != nil {
		return err
	}
	rows := newFindings()
	for _, f := range named.failures {
		if f.Check == report.CheckRows {
			rows.fail(f)
		}
	}
	rows.failed = found.Written - named.Written
	v.addFailures(rows)
	found.Written = named.Written
	row := &v.report.Tables[table]
	row.Copied, row.Found = named.Written, named.found.String()
	return nil
}
