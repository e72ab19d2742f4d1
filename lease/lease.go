package lease

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/protocol"
)

// A Lease is the right to make ids with a worker number that nobody else has
// in the same ticks: a [snow.Worker]. It renews itself until Close. If the
// number is lost it gets another one, and ids go on ascending; callers notice
// nothing while the window that was granted lasts. Methods are safe for
// concurrent use.
type Lease struct {
	grant    *snow.Grant
	registry Registry
	params   protocol.Params
	prefix   string            // of errors
	machine  *protocol.Machine // used only by the goroutine that has the turn
	turn     chan struct{}     // holds one value; whoever receives it has the turn
	wake     chan struct{}     // makes run look at the machine again
	log      *slog.Logger
	config   Config
	begin    time.Time // monotonic times count from it

	ctx    context.Context // of the renewals
	cancel context.CancelFunc
	ended  chan struct{} // closed when no renewal is under way any more
	done   chan struct{}

	mu         sync.Mutex // of what follows
	stats      Stats
	outage     outage
	gone       *LostError // why the generator's number is lost, if it is
	stopped    bool       // the generator must not use its number any more
	reached    time.Time  // the time of the last id, if running time had to go back
	resumes    time.Time  // the running time at which the next id is made, if running time had to go back
	ceiling    int64
	took       time.Duration // how long the last request took
	notes      []note        // not yet passed to the log and OnEvent
	err        error
	closing    sync.Once
	closeErr   error
	publishing sync.Mutex // one note at a time
}

// Grant returns the worker number and the window of the lease, for
// [snow.NewGenerator].
func (l *Lease) Grant() *snow.Grant { return l.grant }

// Stats returns how the lease is doing. It does not ask the database. A
// readiness probe should look at Left. A liveness probe should not look at the
// lease at all, because a restart throws the rest of the window away.
func (l *Lease) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	if l.grant != nil {
		s.Ceiling = l.params.TimeOf(l.ceiling)
		if s.Left = max(0, s.Ceiling.Sub(l.running())); l.stopped || l.err != nil || l.waits() {
			s.Left = 0
		}
	}
	return s
}

// Done returns a channel that is closed when no id can be made any more: after
// Close, or when the lease can't get a number again. See Err.
func (l *Lease) Done() <-chan struct{} { return l.done }

// Err returns nil as long as Done is open, and then the reason: [ErrClosed], a
// [*LostError] of a number that Config.Worker asked for,
// [ErrNamespaceMismatch], [ErrNoNamespace] or [snow.ErrTimeExhausted].
func (l *Lease) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// waits reports whether ids wait for running time, which had to go back by more than MaxAhead allows. The caller
// holds mu.
func (l *Lease) waits() bool { return l.grant.Now().Before(l.resumes) }

// running returns the earliest time that the next id can have.
func (l *Lease) running() time.Time {
	if now := l.grant.Now(); now.After(l.reached) {
		return now
	}
	return l.reached
}
