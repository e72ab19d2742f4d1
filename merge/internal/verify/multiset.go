package phases

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A Multiset is what must be in the target of a table without a primary key: the rows of its sources, which may be
// equal, by their values in the columns that one of the sources has. The target may have more rows: those that it
// had before, and those of later runs. It keeps the hash of each different row in memory, and is safe for
// concurrent use.
type Multiset struct {
	Of *ledger.SourceTable // whose columns are compared

	// Elsewhere are columns whose references another multiset looks at, which has the rows of this one and others.
	Elsewhere []*plan.Column

	mu   sync.Mutex
	want map[chunk.Sum]int64 // how many rows have a hash, and were not found yet
}

// compared returns a source table with the columns that are compared. The columns that databases compute depend on
// names, which a rule may change.
func compared(t *ledger.SourceTable) *ledger.SourceTable {
	if slices.ContainsFunc(t.Table.Unique, func(u *plan.Unique) bool { return u.Rule == plan.RuleSuffix }) {
		return t
	}
	return t.WithComputed()
}

// Add adds rows that must be in the target.
func (m *Multiset) Add(hashes []chunk.Sum) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range hashes {
		m.want[h]++
	}
}

// Take reports whether a row is one of those that must be in the target, and remembers that it is there.
func (m *Multiset) Take(hash chunk.Sum) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, wanted := m.want[hash]
	if wanted {
		m.want[hash]--
	}
	return wanted
}

// Misses reports whether a row was not found, and counts it as named.
func (m *Multiset) Misses(hash chunk.Sum) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.want[hash] <= 0 {
		return false
	}
	m.want[hash]--
	return true
}

// missing returns how many rows were not found.
func (m *Multiset) missing() (n int64) {
	for _, left := range m.want {
		n += max(0, left)
	}
	return n
}

// takes reports whether a source has all the columns that are compared.
func (m *Multiset) takes(t *ledger.SourceTable) bool {
	of := compared(t).Columns
	return t.Table == m.Of.Table && !slices.ContainsFunc(m.Of.Columns, func(c *plan.Column) bool { return !slices.Contains(of, c) })
}

// Pick returns the function that takes the compared values out of a row that has a value for each of columns.
func (m *Multiset) Pick(columns []*plan.Column) func(row []any) []any {
	at := make([]int, len(m.Of.Columns))
	for i, c := range m.Of.Columns {
		at[i] = slices.Index(columns, c)
	}
	return func(row []any) []any {
		picked := make([]any, len(at))
		for i, n := range at {
			picked[i] = row[n]
		}
		return picked
	}
}

// multisets returns one for each set of columns that sources have of a table without a primary key.
func multisets(r *ledger.Run) (all []*Multiset) {
	for _, t := range r.Tables {
		of := compared(t)
		same := func(m *Multiset) bool { return m.Of.Table == t.Table && slices.Equal(m.Of.Columns, of.Columns) }
		if t.Content != nil && !slices.ContainsFunc(all, same) {
			all = append(all, &Multiset{Of: of, want: map[chunk.Sum]int64{}})
		}
	}
	for _, m := range all {
		for _, other := range all {
			if other != m && other.takes(m.Of) {
				m.Elsewhere = append(m.Elsewhere, other.Of.Columns...)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Multiset) int { return len(b.Of.Columns) - len(a.Of.Columns) })
	return all
}

// multisets looks for the rows of tables without a primary key in the target, and says which are not there. found
// are the findings in the run's tables.
func (v *verifying) multisets(ctx context.Context, found []*Findings) error {
	named := map[*plan.Table]bool{}
	for _, m := range v.sets {
		at := slices.IndexFunc(v.run.Tables, func(t *ledger.SourceTable) bool { return t.ID == m.Of.ID })
		x, err := v.NewExecutor(ctx, Work{Job: v.Job, Run: v.run, Table: v.run.Tables[at], Conns: v.others[0], Sound: v.sound})
		if err != nil {
			return err
		}
		in, err := x.Find(ctx, m)
		x.Close()
		if err != nil {
			return err
		}
		found[at].addReferences(in)
		for c, values := range in.samples {
			for id := range values {
				found[at].sample(c, id)
			}
		}
		v.addFailures(in)
		for i, t := range v.run.Tables {
			if m.missing() > 0 && t.Table == m.Of.Table && slices.Equal(compared(t).Columns, m.Of.Columns) {
				if err := v.missed(ctx, m, i, found[i]); err != nil {
					return err
				}
				named[t.Table] = true
			}
		}
		if n := m.missing(); n > 0 && !named[m.Of.Table] { // otherwise they are rows of sources that have more columns
			v.report.Add(report.Failure{Check: report.CheckRows, Table: m.Of.Table.Name, Reason: fmt.Sprintf("%d rows are missing", n)})
		}
	}
	return nil
}

// missed reads a source once more, to say which of its rows are not in the target.
func (v *verifying) missed(ctx context.Context, m *Multiset, table int, found *Findings) error {
	named := NewFindings()
	feed := &verifyFeed{table: v.run.Tables[table], total: named, edges: map[int64][2]int64{}, progress: &Progress{tell: func(report.Event) {}}, pace: v.Pace()}
	if err := parallel(ctx, v.others, func(ctx context.Context, c *chunk.Conns) error {
		return v.chunks(ctx, Work{Table: feed.table, Missing: m}, feed, c)
	}); err != nil {
		return err
	}
	rows := NewFindings()
	for _, f := range named.Failures {
		if f.Check == report.CheckRows {
			rows.Fail(f)
		}
	}
	rows.failed = found.Written - named.Written
	v.addFailures(rows)
	found.Written = named.Written
	row := &v.report.Tables[table]
	row.Copied, row.Found = named.Written, named.Found.String()
	return nil
}
