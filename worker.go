package snow

import (
	"fmt"
	"strconv"
	"sync"
	"time"
)

// A Worker makes ids with a worker number that nobody else uses. [Fixed] makes
// one from a number that the caller chooses; a lease of package sqlsnow is one.
type Worker interface {
	// Grant returns the number and the ticks that the worker may use. Every call
	// returns the same Grant.
	Grant() *Grant
}

// Fixed returns a Worker with a number that the caller is responsible for:
// while it is in use, no other process may use the same number with the same
// layout. In a layout with datacenters it is a number of datacenter 0:
// [FixedParts] names another one.
//
// Within a process, all calls of Fixed with the same layout and number
// return Workers that share one [Grant]. So generators never repeat each other's
// ids, even if every request calls Fixed and [NewGenerator]: all of them need the
// same [Config].MaxAhead, and Stats counts the ids of all. Layouts that differ share
// nothing. The Grant, less than 1 kB, is kept until the process ends; after
// [Grant.Retire] the number makes no ids in this process. A test in a
// [testing/synctest] bubble, which has its own clock, needs a number that no other
// test uses. Fixed is safe for concurrent use.
//
// A Fixed worker remembers nothing across restarts. Its generators wait for
// [Config].MaxAhead after the first call of Fixed, so a restart repeats no id as
// long as the wall clock is not behind the earlier process's. Ids can repeat
// if the wall clock was stepped back at any time since the earlier process
// started. Stats.ClockLag of that process, read before it ends, says how long to
// pause before the next one starts.
//
// A number that does not fit the layout, or a clock that is before the layout's
// epoch, is a [*FieldError].
func Fixed(layout Layout, worker uint64) (Worker, error) {
	return FixedParts(layout, Parts{Worker: worker})
}

// FixedParts is [Fixed] for layouts with datacenters, such as [Twitter]. p has the
// datacenter and the number in it; its other fields must be zero. Numbers of
// different datacenters share nothing. It returns the errors of Fixed, and a
// [*FieldError] for any other part that is set.
func FixedParts(layout Layout, p Parts) (Worker, error) {
	g, err := fixedGrant(layout, p)
	if err != nil {
		return nil, fmt.Errorf("snow: fixed worker: %w", err)
	}
	return fixed{g}, nil
}

func fixedGrant(layout Layout, p Parts) (*Grant, error) {
	const bound = "want 0: ids have it, a worker does not"
	switch {
	case !p.Time.IsZero():
		return nil, &FieldError{"time", p.Time.UTC().Format(time.RFC3339Nano), "want the zero time: ids have it, a worker does not"}
	case p.Sequence != 0:
		return nil, &FieldError{"sequence", strconv.FormatUint(p.Sequence, 10), bound}
	case p.Shard != 0:
		return nil, &FieldError{"shard", strconv.FormatUint(p.Shard, 10), bound}
	}
	return fixedGrants.grant(fixedNumber{layout, p.Datacenter, p.Worker})
}

type fixed struct{ grant *Grant }

func (f fixed) Grant() *Grant { return f.grant }

// fixedGrants has the Grant of every number that Fixed was called with. It is the
// only state of the package that changes: nothing smaller knows that a number is in
// use twice. An entry is never removed, because the Grant is what remembers which
// ids were made.
var fixedGrants grants

type grants struct {
	mu   sync.Mutex
	made map[fixedNumber]*Grant
}

type fixedNumber struct {
	layout             Layout
	datacenter, worker uint64
}

// grant returns the Grant of n. All calls for n return the same one.
func (s *grants) grant(n fixedNumber) (*Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.made[n]; g != nil {
		if now := time.Now(); now.Before(n.layout.Epoch()) {
			return nil, beforeEpoch(n.layout, "clock", now)
		}
		return g, nil
	}
	g, err := newFixed(n.layout, n.datacenter, n.worker, nil)
	if err != nil {
		return nil, err
	}
	if s.made == nil {
		s.made = make(map[fixedNumber]*Grant)
	}
	s.made[n] = g
	return g, nil
}

func newFixed(l Layout, datacenter, worker uint64, source timeSource) (*Grant, error) {
	g, err := blankGrant(l)
	if err != nil {
		return nil, err
	}
	number, err := g.numberOf(datacenter, worker)
	if err != nil {
		return nil, err
	}
	if !g.clock.start(l, source) {
		return nil, beforeEpoch(l, "clock", g.Now())
	}
	g.fixed = true
	g.born = g.position(g.clock.now())
	g.install(nil, number, 0, g.end())
	lane := g.seed & g.laneMask // workers that start together should not take turns together
	g.skipped.Store(lane)
	g.word.Store(number | lane)
	return g, nil
}
