package snow

import "fmt"

// A Worker makes ids with a worker number that nobody else uses. [Fixed] makes
// one from a number that the caller chooses; a lease of package sqlsnow is one.
type Worker interface {
	// Grant returns the number and the ticks that the worker may use. Every call
	// returns the same Grant.
	Grant() *Grant
}

// Fixed returns a Worker with a number that the caller is responsible for:
// while it is in use, nobody else, in this process or in another one, may use
// the same datacenter and worker number with the same layout. Call Fixed once
// for a number and share the Worker. Its generators never repeat each other's
// ids; the generators of two Workers with one number do.
//
// A Fixed worker remembers nothing across restarts. Its generators wait for
// [Config].MaxAhead before the first id, so a restart repeats no id as long as
// the wall clock is not behind that of the earlier process. Ids can repeat if
// the wall clock was stepped back at any time since the earlier process
// started. Stats.ClockLag of that process, read before it ends, says how long to
// pause before the next one starts.
//
// A number that does not fit the layout, or a clock that is before the layout's
// epoch, is a [*FieldError].
func Fixed(layout Layout, datacenter, worker uint64) (Worker, error) {
	g, err := newFixed(layout, datacenter, worker, nil)
	if err != nil {
		return nil, fmt.Errorf("snow: fixed worker: %w", err)
	}
	return fixed{g}, nil
}

type fixed struct{ grant *Grant }

func (f fixed) Grant() *Grant { return f.grant }

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
