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
		id := pageID{table: table, number: old >> pageBits}
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
		if len(found) > len(olds) || pages.ids > MostRemembered || len(pages.missed) > mostMissed {
			t.Fatalf("got %d entries of %d ids, and %d pages", len(found), len(olds), len(pages.known))
		}
	}
	if len(reads)<<pageBits <= MostRemembered {
		t.Errorf("%d pages were read: want more than are kept", len(reads))
	}
	if n := reads[pageID{}]; n == 0 {
		t.Errorf("page 0 of table 0 was never read")
	}
}

// Packs tell the same as the map does, whichever of them are kept.
func TestPagesOfPacks(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	packs, entries, ends := map[int64]*page{}, map[int64]Successor{}, []int64{}
	old, id := int64(-40_000), int64(0)
	for range 40 {
		p := &page{}
		for range 1 + random.IntN(1000) {
			old, id = old+1+random.Int64N(3), id+1+random.Int64N(5)
			p.olds, p.news, entries[old] = append(p.olds, old), append(p.news, id), Successor{id, Rekeyed}
		}
		packs[old], ends = p, append(ends, old)
		old += random.Int64N(500)
	}
	pages, reads := NewPages(), 0
	pages.ids = MostRemembered - 5000 // room for some of the packs
	for range 2000 {
		from, span := random.Int64N(100_000)-45_000, random.Int64N(60_000)+1
		var olds []int64
		for range 1 + random.IntN(200) {
			olds = append(olds, from+random.Int64N(span))
		}
		slices.Sort(olds)
		olds = slices.Compact(olds)
		found := map[int64]Successor{}
		rest, err := pages.findInPacks(7, ends, olds, found, func(ends []int64) (all []*page, err error) {
			if len(ends) > packsRead {
				t.Fatalf("%d packs at a time", len(ends))
			}
			for _, end := range ends {
				reads++
				all = append(all, packs[end])
			}
			return all, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[int64]Successor{}
		var wantRest []int64
		for _, old := range olds {
			if after, ok := entries[old]; ok {
				want[old] = after
			} else {
				wantRest = append(wantRest, old)
			}
		}
		if !maps.Equal(found, want) || !slices.Equal(rest, wantRest) {
			t.Fatalf("got %d and the rest %d, want %d and %d", len(found), rest, len(want), wantRest)
		}
		kept := 0
		for _, p := range pages.known {
			kept += len(p.olds)
		}
		if kept > 5000 || pages.ids != MostRemembered-5000+kept {
			t.Fatalf("%d ids are kept, and said to be %d", kept, pages.ids-MostRemembered+5000)
		}
	}
	if reads <= len(packs) {
		t.Error("no pack had to be read again")
	}
}
