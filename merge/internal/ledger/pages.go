package ledger

import (
	"context"
	"slices"
	"strconv"
)

// Pages are parts of the map that are kept in memory, for one goroutine in a phase that changes nothing in them: rows that
// others refer to are looked for again and again. At most mostPages are kept, about 18 MB.
type Pages struct {
	known  map[pageID]*page
	missed map[pageID]int // how many ids were looked for in a page that is not known
}

// A pageID is the ids of a source table from number<<pageBits on.
type pageID struct{ table, number int64 }

// A page has all entries of its ids, in the order of the old ids.
type page struct {
	olds  []int64
	news  []int64
	fates []Fate
}

// A page is read when looking for its ids one by one has cost about as much as that, or for ids that are close together.
const (
	pageBits   = 12
	pageMisses = 1 << pageBits / 8
	denseIDs   = 4
	mostPages  = 256
	mostMissed = 1 << 14
)

// NewPages returns Pages without any.
func NewPages() *Pages { return &Pages{known: map[pageID]*page{}, missed: map[pageID]int{}} }

// Remember returns the map with pages, which may be nil. Packs are in no page.
func (m IDMap) Remember(p *Pages) IDMap {
	m.pages = p
	return m
}

// find adds the successors that pages have, and returns the ids that are in no page. The ids of a source table ascend.
func (p *Pages) find(table int64, olds []int64, found map[int64]Successor, read func(pageID) (*page, error)) (rest []int64, err error) {
	for len(olds) > 0 {
		id, n := pageID{table, olds[0] >> pageBits}, 1
		for n < len(olds) && olds[n]>>pageBits == id.number {
			n++
		}
		known := p.known[id]
		if known == nil {
			dense := n >= denseIDs && olds[n-1]-olds[0] < denseIDs*int64(n) // as those of rows that follow on each other
			if p.missed[id] += n; !dense && p.missed[id] < pageMisses {
				rest, olds = append(rest, olds[:n]...), olds[n:]
				continue
			}
			if known, err = read(id); err != nil {
				return nil, err
			}
			p.keep(id, known)
		}
		at := 0
		for _, old := range olds[:n] {
			i, ok := slices.BinarySearch(known.olds[at:], old)
			if at += i; ok {
				found[old] = Successor{known.news[at], known.fates[at]}
			}
		}
		olds = olds[n:]
	}
	if len(p.missed) > mostMissed {
		clear(p.missed)
	}
	return rest, nil
}

// keep keeps a page, in the place of any other one if there are too many.
func (p *Pages) keep(id pageID, known *page) {
	for other := range p.known {
		if len(p.known) < mostPages {
			break
		}
		delete(p.known, other)
	}
	p.known[id] = known
	delete(p.missed, id)
}

// page reads a page.
func (m IDMap) page(ctx context.Context, t *SourceTable, id pageID) (*page, error) {
	read, first := &page{}, id.number<<pageBits
	condition := "old_id BETWEEN " + strconv.FormatInt(first, 10) + " AND " + strconv.FormatInt(first+(1<<pageBits-1), 10) + " ORDER BY old_id"
	err := m.rows(ctx, t, condition, nil, func(old int64, after Successor) error {
		read.olds, read.news, read.fates = append(read.olds, old), append(read.news, after.ID), append(read.fates, after.Fate)
		return nil
	})
	return read, err
}
