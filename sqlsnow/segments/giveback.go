package segments

import (
	"context"
	"slices"

	"github.com/shardsnow/snow/internal/dbserver"
)

// takers is how many different marks a take can leave in the row: takes, modulo takers, is the mark of the last one.
const takers = 1 << 20

// A remainder is the end of the block that was taken last from a database, and of blocks right before it: numbers
// that nobody was given and nobody will be.
type remainder struct {
	counter       int
	unused, end   int64 // the first of the numbers, and the row's next number after the take
	modulus, mark int64
}

// close ends the pool and returns what can be given back. Databases that are down, or have not answered a request, are
// not asked.
func (p *pool) close() (all []remainder) {
	p.retire()
	for i := range p.counters {
		c := &p.counters[i]
		r := remainder{counter: i, unused: c.least, end: c.least, modulus: int64(len(p.counters)), mark: c.mark}
		for _, s := range slices.Backward(p.queue) {
			if s.counter == i && s.first+s.count*s.stride == r.unused {
				r.unused = s.first
			}
		}
		// A request without an answer may still arrive, and would find the row below what this process had seen. A
		// request that failed has set down.
		if r.unused < r.end && !c.down && !c.busy {
			all = append(all, r)
		}
	}
	p.queue = nil
	return all
}

// giveBack moves the row back to the first unused number, if the last write of the row was the take of the remainder.
//
// Then all other processes took lower numbers, so none of them sees the row go back, and later ones get
// numbers that nobody had. Each write makes takes greater. So a statement that arrives late or twice changes
// nothing once another process took numbers. The mark shows whether it was this take: a server that lost history
// may have given the same numbers to another process. Whatever becomes of the statement, this process uses none of
// the numbers.
func (t *table) giveBack(ctx context.Context, r remainder) error {
	end, back := t.engine.Compile(selectEnd), t.engine.Compile(updateGiveBack)
	values := map[string]any{"tag": t.tag, "modulus": r.modulus, "end": r.end, "unused": r.unused}
	return t.engine.Write(ctx, t.db, dbserver.ForSegments, func(on *dbserver.Session) (changed bool, err error) {
		var takes int64
		found, err := on.Query(ctx, end, values, &takes)
		if err != nil || !found || takes%takers != r.mark {
			return false, err // others have taken numbers
		}
		values["takes"] = takes
		n, err := on.Exec(ctx, back, values)
		return n > 0, err
	})
}

// giveBack gives back what Close left. What fails is skipped, as after a crash.
func (s *Segments) giveBack() {
	ctx, cancel := context.WithTimeout(context.Background(), takeTimeout) // s.ctx has ended
	defer cancel()
	for _, r := range s.rest {
		s.asking.Go(func() { _ = s.tables[r.counter].giveBack(ctx, r) })
	}
	s.asking.Wait()
}
