package verify

import (
	"slices"
	"sync"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
)

// A multiset is what must be in the target of a table without a primary key: the rows of its sources, which may be
// equal, by their values in the columns that one of the sources has. The target may have more rows: those that it
// had before, and rows of later runs. It keeps the hash of each different row in memory, and is safe for
// concurrent use.
type multiset struct {
	of *ledger.SourceTable // whose columns are compared

	// elsewhere are columns whose references another multiset looks at, which has the rows of this one and others.
	elsewhere []*plan.Column

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

// add adds rows that must be in the target.
func (m *multiset) add(hashes []chunk.Sum) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range hashes {
		m.want[h]++
	}
}

// take reports whether a row must be in the target, and remembers that it is there.
func (m *multiset) take(hash chunk.Sum) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, wanted := m.want[hash]
	if wanted {
		m.want[hash]--
	}
	return wanted
}

// misses reports whether a row was not found, and counts it as named.
func (m *multiset) misses(hash chunk.Sum) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.want[hash] <= 0 {
		return false
	}
	m.want[hash]--
	return true
}

// missing returns how many rows were not found.
func (m *multiset) missing() (n int64) {
	for _, left := range m.want {
		n += max(0, left)
	}
	return n
}

// takes reports whether a source has all the columns that are compared.
func (m *multiset) takes(t *ledger.SourceTable) bool {
	of := compared(t).Columns
	return t.Table == m.of.Table && !slices.ContainsFunc(m.of.Columns, func(c *plan.Column) bool { return !slices.Contains(of, c) })
}

// pick returns the function that takes the compared values out of a row that has a value for each of columns.
func (m *multiset) pick(columns []*plan.Column) func(row []any) []any {
	at := make([]int, len(m.of.Columns))
	for i, c := range m.of.Columns {
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

// newMultisets returns one for each set of columns that sources have of a table without a primary key.
func newMultisets(r *ledger.Run) (all []*multiset) {
	for _, t := range r.Tables {
		of := compared(t)
		same := func(m *multiset) bool { return m.of.Table == t.Table && slices.Equal(m.of.Columns, of.Columns) }
		if t.Content != nil && !slices.ContainsFunc(all, same) {
			all = append(all, &multiset{of: of, want: map[chunk.Sum]int64{}})
		}
	}
	for _, m := range all {
		for _, other := range all {
			if other != m && other.takes(m.of) {
				m.elsewhere = append(m.elsewhere, other.of.Columns...)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *multiset) int { return len(b.of.Columns) - len(a.of.Columns) })
	return all
}
