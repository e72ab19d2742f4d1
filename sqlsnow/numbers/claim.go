package numbers

import (
	"context"
	"crypto/rand"
	"errors"
	"math"
	"time"

	"github.com/shardsnow/snow/internal/retry"
)

const (
	// eps is how far a database's idea of LossWindow may be from what a process measures.
	eps = 500 * time.Millisecond

	longestLoss = 10 * time.Minute // as of leases
)

// A claim is a block that may not be used yet: the database may still lose it. Its token is in the row of the counter.
type claim struct {
	first, count int64
	token        string    // empty: there is no claim
	since        time.Time // just after it was confirmed
	period       string    // of a claim for the next period
}

// newToken returns a word that nobody else makes. All have the same length.
func newToken() string { return rand.Text() + " " }

// until waits for a time of the monotonic clock.
func (f *Fast) until(ctx context.Context, t time.Time) error {
	for d := t.Sub(f.clock()); d > 0; d = t.Sub(f.clock()) {
		if err := retry.Sleep(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// claim takes a block that may not be used yet. The same statement proves an earlier claim, unless old is empty: if the
// database has lost that one, the error is errLost and nothing is claimed.
func (f *Fast) claim(ctx context.Context, w window, scope, old string, count, need, least int64) (claim, error) {
	t := take{statement: f.turn, scope: scope, window: w, count: count, need: need, least: least, old: old, new: newToken()}
	first, err := f.execute(ctx, &t)
	if err != nil || t.count == 0 {
		return claim{}, err
	}
	return claim{first: first, count: t.count, token: t.new, since: f.clock()}, nil
}

// moreProven puts the block that is ahead at hand, once it is proven, and claims another one. It may return without
// more numbers.
func (f *Fast) moreProven(ctx context.Context, w window, scope string, b *block, need int64) (err error) {
	if b.ahead.token == "" {
		if b.ahead, err = f.claim(ctx, w, scope, "", max(f.step, b.size, need), need, b.last); err != nil {
			return err
		}
	} else if b.last > 0 && f.clock().Before(b.ahead.since.Add(f.wait)) {
		b.short = true
	}
	if err := f.until(ctx, b.ahead.since.Add(f.wait)); err != nil {
		return err
	}
	if err := f.proveSeries(ctx); err != nil {
		return err
	}
	ahead, size := b.ahead, max(f.step, b.size)
	switch {
	case b.short:
		size = min(2*size, longestStep)
	case f.clock().Sub(b.added) > 4*f.wait:
		size = max(f.step, size/2)
	}
	more := max(0, need-ahead.count)
	next, err := f.claim(ctx, w, scope, ahead.token, max(size, more), more, b.last)
	if errors.Is(err, errLost) {
		b.ahead = claim{}
		return nil
	}
	if err != nil {
		return err
	}
	b.add(span{ahead.first, ahead.first + ahead.count - 1})
	b.ahead, b.size, b.short, b.added = next, size, false, f.clock()
	return nil
}

// claimComing claims the first block of a counter of the next period shortly before that begins. It is only a claim,
// so it does not matter if it fails.
func (f *Fast) claimComing(ctx context.Context, w window, scope string, partitions []string, size int64) {
	f.mu.Lock()
	now := f.today.now + f.clock().Sub(f.today.sent).Microseconds()
	f.mu.Unlock()
	if f.series.restart == Never || w.end-now > (2*f.wait).Microseconds() {
		return
	}
	next := f.series.windowAt(w.end)
	coming := f.series.scope(next, partitions)
	f.mu.Lock()
	_, known := f.coming[coming]
	known = known || len(f.coming) >= mostCounters
	f.mu.Unlock()
	if known || coming == scope {
		return
	}
	c, err := f.claim(ctx, window{begin: math.MinInt64, end: math.MaxInt64}, coming, "", max(f.step, size), 1, 0)
	if err != nil {
		c = claim{}
	}
	c.period = f.series.scope(next, nil)
	f.mu.Lock()
	f.coming[coming] = c
	f.mu.Unlock()
}

// A proof says that the database will not lose the configuration of the series any more. Until then another process
// could store another one, whose counters give the same texts.
type proof struct {
	token, pattern string
	since          time.Time
	done           bool
}

// claimSeries marks the configuration.
func (f *Fast) claimSeries(ctx context.Context) error {
	for range maxTurns {
		stored, err := f.series.define(ctx)
		if err != nil {
			return err
		}
		p := proof{token: newToken(), pattern: stored.pattern}
		changed, err := f.changeSeries(ctx, p.pattern, "", p.token)
		if err != nil {
			return err
		}
		if changed {
			p.since = f.clock()
			f.kept = p
			return nil
		}
	}
	return errors.New("the configuration is not the one that was read")
}

// proveSeries returns nil if the database can't lose the configuration any more.
func (f *Fast) proveSeries(ctx context.Context) error {
	if err := f.owned.lock(ctx); err != nil {
		return err
	}
	defer f.owned.unlock()
	for !f.kept.done {
		if f.kept.token == "" {
			if err := f.claimSeries(ctx); err != nil {
				return err
			}
		}
		if err := f.until(ctx, f.kept.since.Add(f.wait)); err != nil {
			return err
		}
		changed, err := f.changeSeries(ctx, f.kept.pattern, f.kept.token, "")
		if err != nil {
			return err
		}
		f.kept.done, f.kept.token = changed, ""
	}
	return nil
}

func (f *Fast) changeSeries(ctx context.Context, pattern, old, token string) (changed bool, err error) {
	s := f.series
	err = s.patiently(ctx, func() error {
		changed, err = s.change(ctx, updateSeries, map[string]any{
			"pattern": pattern, "zone": s.zone.String(), "kind": s.kind, "restarts": int64(s.restart),
			"old": old, "has": "%" + old + "%", "new": "!" + token,
		})
		return err
	})
	return changed, err
}
