package ledger

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// Whatever is looked for, pages and the ids that they leave tell the same as the map.
func TestPages(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	oracle := map[pageID]map[int64]Successor{}
	entries := map[[2]int64]Successor{}
	for range 60_000 {
		table, old := random.Int64N(3), random.Int64N(2<<20)-1<<20
		if table == 0 {
			old = random.Int64N(5000) - 2500
		}
		after := Successor{random.Int64(), Fate(random.IntN(3)) + Rekeyed}
		id := pageID{table, old >> pageBits}
		if oracle[id] == nil {
			oracle[id] = map[int64]Successor{}
		}
		oracle[id][old], entries[[2]int64{table, old}] = after, after
	}
	pages, reads := NewPages(), map[pageID]int{}
	read := func(id pageID) (*page, error) {
		reads[id]++
		p := &page{}
		for _, old := range slices.Sorted(maps.Keys(oracle[id])) {
			after := oracle[id][old]
			p.olds, p.news, p.fates = append(p.olds, old), append(p.news, after.ID), append(p.fates, after.Fate)
		}
		return p, nil
	}
	for range 3000 {
		table, from, span := random.Int64N(3), random.Int64N(2<<20)-1<<20, int64(100)
		switch {
		case table == 0:
			from, span = -2600, 5200
		case random.IntN(2) == 0:
			from, span = -1<<20, 2<<20
		}
		var olds []int64
		for range 1 + random.IntN(300) {
			olds = append(olds, from+random.Int64N(span))
		}
		slices.Sort(olds)
		olds = slices.Compact(olds)
		found := map[int64]Successor{}
		rest, err := pages.find(table, olds, found, read)
		if err != nil {
			t.Fatal(err)
		}
		for _, old := range rest {
			if after, ok := entries[[2]int64{table, old}]; ok {
				found[old] = after
			}
		}
		for _, old := range olds {
			got, ok := found[old]
			if want, there := entries[[2]int64{table, old}]; ok != there || got != want {
				t.Fatalf("row %d of table %d: got %v, want %v", old, table, got, want)
			}
		}
		if len(found) > len(olds) || len(pages.known) > mostPages || len(pages.missed) > mostMissed {
			t.Fatalf("got %d entries of %d ids, and %d pages", len(found), len(olds), len(pages.known))
		}
	}
	if len(reads) <= mostPages {
		t.Errorf("%d pages were read: want more than are kept", len(reads))
	}
	if n := reads[pageID{0, 0}]; n == 0 {
		t.Errorf("page 0 of table 0 was never read")
	}
}
