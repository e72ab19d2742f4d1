package numbers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/retry"
)

// A block has the numbers of a counter that are at hand.
type block struct {
	semaphore        // held while numbers are taken
	hand      []span // ascending
	last      int64  // the highest number that was at hand

	// With a LossWindow:
	ahead claim
	size  int64     // of the last claim
	short bool      // numbers were wanted before ahead could be proven
	added time.Time // when the last block was added
}

// A span is numbers that follow each other.
type span struct{ first, last int64 }

// left returns how many numbers are at hand.
func (b *block) left() (n int64) {
	for _, s := range b.hand {
		n += s.last - s.first + 1
	}
	return n
}

func (b *block) add(s span) { b.hand, b.last = append(b.hand, s), s.last }

// next takes a number at hand. There must be one.
func (b *block) next() int64 {
	s := &b.hand[0]
	n := s.first
	if s.first++; s.first > s.last {
		b.hand = slices.Delete(b.hand, 0, 1)
	}
	return n
}

// block returns the numbers at hand of a counter.
func (f *Fast) block(scope string) *block {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.blocks[scope]
	if ok {
		return b
	}
	if len(f.blocks) >= mostCounters {
		for other := range f.blocks { // any: its numbers are skipped
			delete(f.blocks, other)
			break
		}
	}
	b = &block{semaphore: make(semaphore, 1)}
	f.blocks[scope] = b
	return b
}

// fillIn fills texts with numbers of the date of w.
func (f *Fast) fillIn(ctx context.Context, w window, texts, partitions []string) error {
	s := f.series
	scope := s.scope(w, partitions)
	n := int64(len(texts))
	if err := s.checkCount(len(texts), scope); err != nil {
		return err
	}
	b := f.block(scope)
	if err := b.lock(ctx); err != nil {
		return err
	}
	defer b.unlock()
	for need := n - b.left(); need > 0; need = n - b.left() {
		if err := f.more(ctx, w, scope, b, need); err != nil {
			return err
		}
	}
	for i := range texts {
		texts[i] = string(s.pattern.append(nil, w.day, b.next(), partitions))
	}
	if f.wait > 0 {
		f.claimComing(ctx, w, scope, partitions, b.size)
	}
	return nil
}

// more puts a block of numbers at hand: at least need of them, except that a block that is ahead comes first. The
// numbers are durable, and nobody else has them.
func (f *Fast) more(ctx context.Context, w window, scope string, b *block, need int64) error {
	if f.wait > 0 {
		return f.moreProven(ctx, w, scope, b, need)
	}
	t := take{statement: f.take, scope: scope, window: w, count: max(f.step, need), need: need, least: b.last}
	first, err := f.execute(ctx, &t)
	if err == nil {
		b.add(span{first, first + t.count - 1})
	}
	return err
}

// A take is a statement that moves a counter by count, and what it needs.
type take struct {
	statement   dbserver.Statement
	scope       string
	window      window
	count, need int64 // count may become less, down to need
	least       int64 // the counter has this number or a higher one
	old, new    string
}

// errLost says that a claim is no longer there.
var errLost = errors.New("the database has lost the claim of a block")

// execute returns the first number of a take.
func (f *Fast) execute(ctx context.Context, t *take) (first int64, err error) {
	s := f.series
	for tries := 0; ; tries++ {
		var changed bool
		first, changed, err = f.try(ctx, t)
		if changed && err == nil {
			return first, nil
		}
		if err == nil {
			err = f.diagnose(ctx, t)
		}
		if err != nil && !s.engine.IsBusy(err) {
			return 0, err
		}
		if tries == retry.MaxTries || err != nil && retry.Pause(ctx, firstRetry) != nil {
			if err == nil {
				err = errors.New("the counter changed whenever it was read")
			}
			return 0, err
		}
	}
}

func (f *Fast) try(ctx context.Context, t *take) (first int64, changed bool, err error) {
	s := f.series
	if t.count == 0 {
		t.new = ""
	}
	values := map[string]any{
		"series": s.name, "scope": t.scope, "count": t.count, "least": t.least, "room": s.pattern.Highest() - t.count,
		"begin": t.window.begin, "end": t.window.end, "old": t.old, "has": "%" + t.old + "%", "new": "!" + t.new,
	}
	err = s.engine.Write(ctx, s.db, s.use(), func(on *dbserver.Session) (_ bool, err error) {
		changed, err = on.Update(ctx, t.statement, values, &first)
		if s.engine.HasReturning() {
			first -= t.count - 1
		}
		return changed, err
	})
	return first, changed, err
}

// diagnose says why a take changed no row, or makes it one that may.
func (f *Fast) diagnose(ctx context.Context, t *take) error {
	s := f.series
	row, found, err := s.counter(ctx, t.scope)
	free := s.pattern.Highest() - row.last
	switch {
	case err != nil:
		return err
	case !found && t.least > 0:
		return &RegressedError{Scope: t.scope, Least: t.least}
	case !found && t.old != "":
		return errLost
	case !found:
		return s.insertCounter(ctx, t.scope)
	case row.state != stateOpen:
		back := &RegressedError{Scope: t.scope, Last: row.last}
		if row.last < t.least { // this process finds the regression as well
			back.Least = t.least
		}
		return back
	case row.last < t.least:
		// Stop all processes, also any that has not seen a higher number. If that fails, the next take tries it again.
		_, _ = s.change(ctx, updateFence, map[string]any{"scope": t.scope, "least": t.least})
		return &RegressedError{Scope: t.scope, Last: row.last, Least: t.least}
	case !t.window.has(row.now):
		return errTurned
	case !strings.Contains(row.pending, t.old):
		return errLost
	case free < t.need:
		return s.overflow(t.scope)
	case free < t.count:
		t.count = free
		return nil
	}
	info, err := s.engine.Info(ctx, s.db)
	if err == nil {
		err = info.Check(s.loss)
	}
	return err
}
