package inspect

import (
	"slices"

	"github.com/shardsnow/snow/internal/refname"
)

// leastLent is how much must speak for the numbers of a key to be ids of another table for people to be asked.
const leastLent = 2

// borrows weighs how much the numbers of a key look like ids of another table, given that all of them are. A table that
// counts up has ids from 1 on, with few gaps, and they end anywhere. Ids chosen from another table have gaps, are
// spread over all of its ids, and reach as far.
func (s *solver) borrows(k *key, c *claim) (points float64) {
	if k == nil || k.text || s.declared(k) || !c.fit.known || c.fit.found.share() < likely {
		return 0
	}
	if refname.Alike(k.name.Stem, k.thing) >= 1 || s.inherits(k, c.key) { // it is named after its own rows
		return 0
	}
	var all inclusion
	equal, gaps, near, sizes, filled, sources := true, false, 0, map[int]bool{}, 0.0, 0
	for _, source := range s.names {
		own, theirs := k.ids[source], c.key.ids[source]
		if len(own) == 0 {
			continue
		}
		if len(theirs) == 0 {
			if _, whole := c.key.ids[source]; whole && c.key.table.In(source) {
				return 0
			}
			continue // they are too many
		}
		hits := 0
		for _, id := range own {
			if _, ok := slices.BinarySearch(theirs, id); ok {
				hits++
			}
		}
		all.hits, all.of = all.hits+hits, all.of+len(own)
		last := own[len(own)-1]
		sizes[len(own)] = true
		equal = equal && hits == len(own) && len(own) == len(theirs)
		gaps = gaps || int64(len(own)) < last
		filled += float64(len(own)) / float64(last)
		end := theirs[len(theirs)-1]
		if sources++; last >= end-end/10 {
			near++
		}
		if last < end/2 && len(own) >= 8 {
			return 0
		}
	}
	spread := all.of < FewestUnnamed || c.fit.middle >= 0.2 && c.fit.middle <= 0.85
	if all.of < fewestLarge || all.share() < likely || !spread {
		return 0
	}
	filled /= float64(sources)
	switch {
	case equal && all.of >= 8*sources && (gaps || len(sizes) > 1 && all.of >= FewestUnnamed*sources):
		points = 4
	case filled < 0.5:
		points = 2
	case filled < 0.9:
		points = 1
	case s.isPart(k, c.key) && all.share() == 1:
		points = leastLent
	default:
		return 0 // it may count up by itself
	}
	if near == sources && all.of >= 8*sources {
		points += min(2, float64(sources))
	}
	return points
}

// isPart reports whether the table of a key is named after the one of another key, as texts of stories are, and nothing
// but the key can say which row of that one a row belongs to.
func (s *solver) isPart(k, whole *key) bool {
	return len(k.name.Stem) == 0 && len(whole.of) < len(k.of) && slices.EqualFunc(k.of[:len(whole.of)], whole.of, refname.Abbreviates) &&
		!slices.ContainsFunc(s.fields, func(f *field) bool {
			return f.table == k.table && f != k.field && (f.name.ID || f.verdict.key == whole)
		})
}

// inherits reports whether the rows of one table are read with those of the other, as of PostgreSQL's heirs.
func (s *solver) inherits(k, elder *key) bool {
	return slices.ContainsFunc(s.names, func(source string) bool {
		t := s.catalogs[source].Table(elder.table.Name)
		return t != nil && slices.Contains(t.Heirs, k.table.Name)
	})
}
