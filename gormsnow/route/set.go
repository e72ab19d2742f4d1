package route

import "slices"

// A set of logical shards. If it is not known, it may be any of them.
type set struct {
	known  bool
	shards []uint64 // ascending
}

// add adds a list of one shard.
func (s *set) add(one []uint64) {
	i, ok := slices.BinarySearch(s.shards, one[0])
	switch {
	case s.shards == nil:
		s.shards = one
	case !ok:
		s.shards = slices.Insert(s.shards, i, one[0])
	}
}

// meet returns the shards of rows for which both conditions hold.
func meet(a, b set) set {
	switch {
	case !a.known:
		return b
	case !b.known || slices.Equal(a.shards, b.shards):
		return a
	}
	both := set{known: true}
	for _, s := range a.shards {
		if _, ok := slices.BinarySearch(b.shards, s); ok {
			both.shards = append(both.shards, s)
		}
	}
	return both
}

// join returns the shards of rows for which one of the conditions holds.
func join(a, b set) set {
	switch {
	case !a.known || !b.known:
		return set{}
	case slices.Equal(a.shards, b.shards):
		return a
	}
	all := slices.Concat(a.shards, b.shards)
	slices.Sort(all)
	return set{true, slices.Compact(all)}
}
