package sqlsnow

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow/internal/protocol"
	"github.com/shardsnow/snow/sqlsnow/internal/registry"
)

// A Lease is the right to make ids with a worker number that nobody else has
// in the same ticks: a [snow.Worker]. It renews itself until Close. If the
// number is lost it gets another one, and ids go on ascending; callers notice
// nothing while the window that was granted lasts. Methods are safe for
// concurrent use.
type Lease struct {
	grant    *snow.Grant
	registry *registry.Registry
	machine  *protocol.Machine // used by the goroutine that has the turn
	turn     chan struct{}     // holds one value, which is the turn
	wake     chan struct{}     // makes run look at the machine again
	log      *slog.Logger
	config   LeaseConfig
	begin    time.Time // what monotonic times are counted from

	ctx    context.Context // of the renewals
	cancel context.CancelFunc
	ended  chan struct{} // closed when no renewal is under way any more
	done   chan struct{}

	mu         sync.Mutex // of what follows
	stats      LeaseStats
	outage     outage
	gone       *LostError // the number that the generator has is lost
	stopped    bool       // the generator must not use it any more
	reached    time.Time  // of ids, when running time had to go back
	ceiling    int64
	took       time.Duration // by the last request
	notes      []note        // that the log and OnEvent do not have yet
	err        error
	closing    sync.Once
	closeErr   error
	publishing sync.Mutex // one note at a time
}

// Grant returns what [snow.NewGenerator] needs of the lease.
func (l *Lease) Grant() *snow.Grant { return l.grant }

// Stats returns how the lease is doing. It does not ask the database. A
// readiness probe should look at Left. A liveness probe should not look at the
// lease at all, because a restart throws the rest of the window away.
func (l *Lease) Stats() LeaseStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	if l.grant != nil {
		s.Ceiling = l.registry.Params.TimeOf(l.ceiling)
		if s.Left = max(0, s.Ceiling.Sub(l.running())); l.stopped || l.err != nil {
			s.Left = 0
		}
	}
	return s
}

// Done returns a channel that is closed when no id can be made any more: after
// Close, or when the lease can't get a number again. See Err.
func (l *Lease) Done() <-chan struct{} { return l.done }

// Err returns nil as long as Done is open, and then the reason: [ErrClosed], a
// [*LostError] of a number that LeaseConfig.Worker asked for,
// [ErrNamespaceMismatch], [ErrNoNamespace] or [snow.ErrTimeExhausted].
func (l *Lease) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
