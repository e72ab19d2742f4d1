package sqlsnow

import (
	"context"
	crand "crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
)

// LeaseConfig configures [Acquire]. All but Namespace may be zero.
type LeaseConfig struct {
	// Namespace is the name of one that Init made.
	Namespace string

	// Datacenter goes into every id. Where several databases have a namespace of
	// the same layout for the same tables, each needs a number of its own.
	Datacenter uint64

	// Worker, if not nil, is the only number that will do, such as that of a game
	// server. Acquire waits for it, and a lease that loses it to another process
	// ends.
	Worker *uint64

	// Holder tells people who has the number: up to 255 characters. Zero means
	// the names of the host and the process id.
	Holder string

	// Logger is told what happens to the lease. Nil means slog.Default. Its handler
	// may call Stats of the lease, but not Renew or Close.
	Logger *slog.Logger

	// OnEvent, if not nil, is told the same as typed events, for traces and
	// measurements. ctx is that of the call that the event belongs to, Acquire,
	// Renew or Close, and one that ends with Close for what happens in the
	// background. The next renewal waits for OnEvent to return: it may call Stats
	// of the lease, but not Renew or Close.
	OnEvent func(ctx context.Context, e LeaseEvent)

	// MaxSkew is how far the database's clock and this process's may be apart.
	// Zero means 30 s. The end of a window may be that much too far in the future if
	// the clocks are.
	MaxSkew time.Duration
}

// Acquire leases a worker number and returns when its first window is durable.
// The lease then renews itself in the background; ctx only bounds the call.
//
// Without a free number it returns a [*NoWorkerError]. For a certain number
// (LeaseConfig.Worker) it waits until ctx ends, and then returns a
// [*HeldError]. A clock that can't be trusted is a [*ClockError], settings that
// may lose what was confirmed are [ErrNotDurable], and what is missing is
// [ErrNotMigrated] or [ErrNoNamespace]. Other errors of the database are a
// [*DatabaseError]. If ctx ends while a statement is under way, the database
// may still do it: what it takes stays taken for one window.
func Acquire(ctx context.Context, db *sql.DB, d Dialect, cfg LeaseConfig) (*Lease, error) {
	l, err := acquire(ctx, db, d, cfg)
	if err != nil {
		return nil, fmt.Errorf("sqlsnow: acquire a worker of namespace %q: %w", cfg.Namespace, err)
	}
	return l, nil
}

func acquire(ctx context.Context, db *sql.DB, d Dialect, cfg LeaseConfig) (*Lease, error) {
	if cfg.MaxSkew < 0 || cfg.MaxSkew > longestMaxSkew {
		return nil, &snow.FieldError{Field: "MaxSkew", Value: cfg.MaxSkew.String(), Bound: "want 0 to " + longestMaxSkew.String()}
	}
	if cfg.MaxSkew == 0 {
		cfg.MaxSkew = defaultMaxSkew
	}
	e, t, err := open(ctx, db, d, cfg.Namespace)
	for tries := 0; err != nil && e != nil && e.isBusy(err) && tries < 30 && ctx.Err() == nil; tries++ {
		time.Sleep(rand.N(100 * time.Millisecond))
		e, t, err = open(ctx, db, d, cfg.Namespace)
	}
	if err != nil {
		return nil, err
	}
	if highest := uint64(1)<<t.layout.Bits().Datacenter - 1; cfg.Datacenter > highest {
		return nil, &snow.FieldError{Field: "Datacenter", Value: strconv.FormatUint(cfg.Datacenter, 10), Bound: "the highest of the layout is " + strconv.FormatUint(highest, 10)}
	}
	if cfg.Worker != nil && *cfg.Worker >= uint64(t.workers) {
		return nil, &snow.FieldError{Field: "Worker", Value: strconv.FormatUint(*cfg.Worker, 10), Bound: "the highest of the namespace is " + strconv.FormatInt(t.workers-1, 10)}
	}
	l := newLease(&registry{db, e, t}, cfg)
	for {
		if err := l.await(ctx, nil); err != nil {
			return nil, l.giveUp(ctx, err)
		}
		out := l.ask(ctx)
		switch {
		case out.fatal != nil:
			return nil, out.fatal
		case l.machine.step == stepRenew:
			go l.run()
			return l, nil
		case ctx.Err() != nil:
			return nil, l.giveUp(ctx, ctx.Err())
		case !l.machine.temporary(e, out.err):
			return nil, l.giveUp(ctx, out.err)
		}
		errors.As(out.err, &l.held)
	}
}

func newLease(r *registry, cfg LeaseConfig) *Lease {
	m := &machine{
		terms: r.terms, window: r.terms.window, holder: holderOf(cfg.Holder), owner: newOwner,
		random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), clock: vote{maxSkew: cfg.MaxSkew},
	}
	if cfg.Worker != nil {
		m.pinned, m.number, m.window = true, int64(*cfg.Worker), r.terms.pinned
	}
	log := cfg.Logger
	if log == nil {
		log = slog.Default()
	}
	l := &Lease{
		registry: r, machine: m, config: cfg, begin: time.Now(),
		log:   log.With("namespace", cfg.Namespace),
		turn:  make(chan struct{}, 1),
		wake:  make(chan struct{}, 1),
		ended: make(chan struct{}), done: make(chan struct{}),
	}
	l.turn <- struct{}{}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// giveUp frees what an unfinished Acquire may have taken.
func (l *Lease) giveUp(ctx context.Context, err error) error {
	defer l.cancel()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	m := l.machine
	if m.step == stepUnsure || m.step == stepConfirm || m.step == stepTake || m.step == stepClaim {
		if r := l.registry.do(ctx, request{ask: askRow, worker: m.bid.worker}); r.row != nil && r.row.owner == m.bid.owner && m.bid.owner != "" {
			q := request{ask: askRelease, worker: m.bid.worker, owner: m.bid.owner, fence: r.row.fence, next: r.row.floor}
			if r.row.state == Claimed {
				q.ask = askAbandon
			}
			l.registry.do(ctx, q)
		}
	} else if q, ok := m.release(0); ok {
		l.registry.do(ctx, q)
	}
	if l.held != nil && !errors.As(err, new(*HeldError)) {
		return fmt.Errorf("%w: %w", l.held, err)
	}
	return err
}

// newOwner returns 128 random bits as hex digits. It is what a row is
// recognised by: a counter could be given out twice after a failover.
func newOwner() string {
	var b [16]byte
	_, _ = crand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// holderOf makes a text that every database can store.
func holderOf(name string) string {
	if name == "" {
		host, _ := os.Hostname()
		name = host + "/" + strconv.Itoa(os.Getpid())
	}
	name = strings.ReplaceAll(strings.ToValidUTF8(name, "?"), "\x00", "?")
	if runes := []rune(name); len(runes) > 255 {
		name = string(runes[:255])
	}
	return name
}
