package verify

import (
	"sync"
	"testing"

	"github.com/shardsnow/snow/merge/internal/chunk"
)

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
