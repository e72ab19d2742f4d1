package ledger

import (
	"slices"
)

// Pages are parts of the map that are kept in memory, for one goroutine in a phase that changes nothing in them:
// rows that others refer to are looked for again and again. About [MostRemembered] ids are kept, in 18 MB. Without
// pages of rows, which the map of MySQL seldom has, a merge of 200,000 rows on PostgreSQL took 6 to 12 % more processor
// time.
type Pages struct {
	known  map[pageID]*page
	ids    int               // of known, about
	missed map[pageID]int    // how many ids were looked for in a page that is not known
	packs  map[int64][]int64 // of source tables, the last old ids of all packs, which ascend
}

// A pageID is the ids of a source table from number<<pageBits on, or the pack whose last old id is number.
type pageID struct {
	table, number int64
	pack          bool
}

// A page has all entries of its ids, in the order of the old ids.
type page struct {
	olds  []int64
	news  []int64
	fates []Fate // of a pack nil: all have new ids
}

// MostRemembered is about how many ids one goroutine keeps in memory.
const MostRemembered = 1 << 20

// A page is read when looking for its ids one by one has cost about as much as that, or for ids that are close
// together.
const (
	pageBits   = 12
	pageMisses = 1 << pageBits / 8
	denseIDs   = 4
	mostMissed = 1 << 14
)

// packsRead is how many packs are read at a time.
const packsRead = 16

// NewPages returns Pages without any.
func NewPages() *Pages {
	return &Pages{known: map[pageID]*page{}, missed: map[pageID]int{}, packs: map[int64][]int64{}}
}

// find adds the successors that pages have, and returns the ids that are in no page. The ids of a source table ascend.
func (p *Pages) find(table int64, olds []int64, found map[int64]Successor, read func(pageID) (*page, error)) (rest []int64, err error) {
	for len(olds) > 0 {
		id, n := pageID{table: table, number: olds[0] >> pageBits}, 1
		for n < len(olds) && olds[n]>>pageBits == id.number {
			n++
		}
		known := p.known[id]
		if known == nil {
			dense := n >= denseIDs && olds[n-1]-olds[0] < denseIDs*int64(n) // as the references of consecutive rows
			if p.missed[id] += n; !dense && p.missed[id] < pageMisses {
				rest, olds = append(rest, olds[:n]...), olds[n:]
				continue
			}
			if known, err = read(id); err != nil {
				return nil, err
			}
			p.keep(id, known)
		}
		known.find(olds[:n], found)
		olds = olds[n:]
	}
	if len(p.missed) > mostMissed {
		clear(p.missed)
	}
	return rest, nil
}

// find adds the successors that a page has, and returns the ids that it does not have.
func (p *page) find(olds []int64, found map[int64]Successor) (rest []int64) {
	at := 0
	for _, old := range olds {
		i, ok := slices.BinarySearch(p.olds[at:], old)
		switch at += i; {
		case !ok:
			rest = append(rest, old)
		case p.fates == nil:
			found[old] = Successor{p.news[at], Rekeyed}
		default:
			found[old] = Successor{p.news[at], p.fates[at]}
		}
	}
	return rest
}

// findInPacks adds the successors that packs of a source table have, and returns the ids that are in none. ends are
// the last old ids of the packs.
func (p *Pages) findInPacks(table int64, ends, olds []int64, found map[int64]Successor, read func(ends []int64) ([]*page, error)) (rest []int64, err error) {
	type part struct {
		end  int64
		olds []int64
	}
	var parts []part
	for len(olds) > 0 {
		at, _ := slices.BinarySearch(ends, olds[0])
		if at == len(ends) {
			break
		}
		n := 1
		for n < len(olds) && olds[n] <= ends[at] {
			n++
		}
		parts, olds = append(parts, part{ends[at], olds[:n]}), olds[n:]
	}
	for some := range slices.Chunk(parts, packsRead) {
		pages := map[int64]*page{}
		var unknown []int64
		for _, each := range some {
			if known := p.known[pageID{table, each.end, true}]; known != nil {
				pages[each.end] = known
			} else {
				unknown = append(unknown, each.end)
			}
		}
		if len(unknown) > 0 {
			more, err := read(unknown)
			if err != nil {
				return nil, err
			}
			for _, each := range more {
				end := each.olds[len(each.olds)-1]
				pages[end] = each
				p.keep(pageID{table, end, true}, each)
			}
		}
		for _, each := range some {
			if known := pages[each.end]; known != nil {
				rest = append(rest, known.find(each.olds, found)...)
			} else {
				rest = append(rest, each.olds...)
			}
		}
	}
	return append(rest, olds...), nil
}

// keep keeps a page, in the place of any others if there are too many.
func (p *Pages) keep(id pageID, known *page) {
	for other, is := range p.known {
		if p.ids+room(id, known) <= MostRemembered {
			break
		}
		delete(p.known, other)
		p.ids -= room(other, is)
	}
	p.known[id] = known
	p.ids += room(id, known)
	delete(p.missed, id)
}

// room returns how many ids a page is counted as: as many as it may have.
func room(id pageID, p *page) int {
	if id.pack {
		return len(p.olds)
	}
	return 1 << pageBits
}
