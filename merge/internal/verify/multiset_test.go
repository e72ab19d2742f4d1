package verify

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
)

// Of equal rows as many are missing as the target has fewer of them, and so many are named; what it has more of does not
// stand for others.
func TestMultiset(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		m := &multiset{want: map[chunk.Sum]int64{}}
		want, there := map[chunk.Sum]int64{}, map[chunk.Sum]int64{}
		hash := func() chunk.Sum { return chunk.Sum{uint64(random.IntN(4)), 7} }
		for range random.IntN(12) {
			h := hash()
			want[h]++
			m.add([]chunk.Sum{h})
		}
		for range random.IntN(12) {
			h := hash()
			there[h]++
			if got := m.take(h); got != (want[h] > 0) {
				t.Fatalf("want %v, there %v: a row of hash %v is wanted: got %t", want, there, h, got)
			}
		}
		missing := int64(0)
		for h, n := range want {
			missing += max(0, n-there[h])
		}
		if got := m.missing(); got != missing {
			t.Fatalf("want %v, there %v: got %d missing, want %d", want, there, got, missing)
		}
		for h, n := range want {
			named := int64(0)
			for range n { // the source is read once more
				if m.misses(h) {
					named++
				}
			}
			if lost := max(0, n-there[h]); named != lost {
				t.Fatalf("want %v, there %v: got %d rows of hash %v named, want %d", want, there, named, h, lost)
			}
		}
	}
}

// Sources with the same columns are compared together, and a source that has more columns also by the ones of the others.
func TestNewMultisets(t *testing.T) {
	column := func(name string, sources ...string) *plan.Column { return &plan.Column{Name: name, Sources: sources} }
	logs := &plan.Table{Name: "logs", Columns: []*plan.Column{column("note"), column("at", "a", "b"), column("level", "a")}}
	keyed := &plan.Table{Name: "players", PrimaryKey: []string{"id"}, Columns: []*plan.Column{column("id")}}
	r := &ledger.Run{}
	for i, source := range []string{"a", "b", "c", "d"} {
		r.Tables = append(r.Tables, ledger.NewSourceTable(int64(2*i+1), source, logs), ledger.NewSourceTable(int64(2*i+2), source, keyed))
	}
	all := newMultisets(r)
	var columns []int
	for _, m := range all {
		columns = append(columns, len(m.of.Columns))
	}
	if want := []int{3, 2, 1}; !slices.Equal(columns, want) {
		t.Fatalf("got sets of %v columns, want %v", columns, want)
	}
	for source, want := range map[string][]bool{"a": {true, true, true}, "b": {false, true, true}, "c": {false, false, true}, "d": {false, false, true}} {
		var got []bool
		for _, m := range all {
			got = append(got, m.takes(r.Table(source, "logs")))
		}
		if !slices.Equal(got, want) {
			t.Errorf("source %s: got %v, want %v", source, got, want)
		}
	}
	if got := all[0].pick(logs.Columns)([]any{"x", "y", "z"}); !slices.Equal(got, []any{"x", "y", "z"}) {
		t.Errorf("got %v", got)
	}
	if got := all[2].pick(logs.Columns)([]any{"x", "y", "z"}); !slices.Equal(got, []any{"x"}) {
		t.Errorf("got %v", got)
	}
}

// Sources add to one multiset at the same time, and each row is found as often as it was added.
func TestMultisetOfSeveralSources(t *testing.T) {
	m := &multiset{want: map[chunk.Sum]int64{}}
	var a, b chunk.Sum
	b[0] = 1
	var sources sync.WaitGroup
	for range 4 {
		sources.Go(func() {
			for range 1000 {
				m.add([]chunk.Sum{a, b, b})
			}
		})
	}
	sources.Wait()
	for range 4 {
		sources.Go(func() {
			for range 1000 {
				if !m.take(a) || !m.take(b) {
					t.Error("a row that was added is not wanted")
				}
			}
		})
	}
	sources.Wait()
	if m.misses(a) {
		t.Error("rows that were all found are missing")
	}
	for n := range 4000 {
		if !m.misses(b) {
			t.Fatalf("%d rows are missing, want 4000", n)
		}
	}
	if m.misses(b) {
		t.Error("more than 4000 rows are missing")
	}
}
