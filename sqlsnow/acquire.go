package sqlsnow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/registry"
	"github.com/shardsnow/snow/internal/retry"
)

// Acquire leases a worker number and returns when its first window is durable.
// The lease then renews itself in the background; ctx only bounds the call.
//
// If no number is free, Acquire returns a [*NoWorkerError], or waits until ctx ends
// if LeaseConfig.Wait is set. For a certain number (LeaseConfig.Worker) it always
// waits, and then returns a [*HeldError].
// It returns a [*ClockError] if the database's clock can't be trusted,
// [ErrNotDurable] if settings allow the database to lose what it confirmed,
// [ErrNotMigrated] or [ErrNoNamespace] if something is missing, a
// [*snow.FieldError] if a field is out of bounds, and a [*DatabaseError] for
// other errors of the database. If ctx ends while a statement is under way, the
// database may still execute it. Then nobody can lease that number for one
// window.
func Acquire(ctx context.Context, db *sql.DB, d Dialect, cfg LeaseConfig) (*Lease, error) {
	l, err := acquire(ctx, db, d, cfg)
	if err != nil {
		return nil, fmt.Errorf("sqlsnow: acquire a worker of namespace %q: %w", cfg.Namespace, err)
	}
	return l, nil
}

func acquire(ctx context.Context, db *sql.DB, d Dialect, cfg LeaseConfig) (*Lease, error) {
	if cfg.MaxSkew < 0 || cfg.MaxSkew > protocol.DefaultMaxSkew {
		return nil, &snow.FieldError{Field: "MaxSkew", Value: cfg.MaxSkew.String(), Bound: "want 0 to " + protocol.DefaultMaxSkew.String() + ", which Fence allows for"}
	}
	if cfg.MaxSkew == 0 {
		cfg.MaxSkew = protocol.DefaultMaxSkew
	}
	e, err := dbserver.For(d)
	if err != nil {
		return nil, err
	}
	r, hello, err := greet(ctx, db, d, cfg.Namespace)
	for tries := 0; e.IsBusy(err) && tries < retry.MaxTries && retry.Pause(ctx, 100*time.Millisecond) == nil; tries++ {
		r, hello, err = greet(ctx, db, d, cfg.Namespace)
	}
	if err != nil {
		return nil, err
	}
	if highest := uint64(1)<<r.Params.Layout.Bits().Datacenter - 1; cfg.Datacenter > highest {
		return nil, &snow.FieldError{Field: "Datacenter", Value: strconv.FormatUint(cfg.Datacenter, 10), Bound: "the highest of the layout is " + strconv.FormatUint(highest, 10)}
	}
	if cfg.Worker != nil && *cfg.Worker >= uint64(r.Params.Workers) {
		return nil, &snow.FieldError{Field: "Worker", Value: strconv.FormatUint(*cfg.Worker, 10), Bound: "the highest of the namespace is " + strconv.FormatInt(r.Params.Workers-1, 10)}
	}
	l := newLease(r, cfg, hello.Asked)
	var waits error // why Acquire waits
	for out := l.hear(ctx, hello); ; out = l.ask(ctx) {
		switch {
		case out.Fatal != nil:
			return nil, out.Fatal
		case l.machine.Holds():
			go l.run()
			return l, nil
		case ctx.Err() != nil:
			return nil, giveUp(ctx, l, waits, ctx.Err())
		case isTaken(out.Err) && (out.Retry || cfg.Wait):
			waits = out.Err
		case !out.Retry:
			return nil, giveUp(ctx, l, waits, out.Err)
		}
		if err := l.await(ctx, nil); err != nil {
			return nil, giveUp(ctx, l, waits, err)
		}
	}
}

// hear takes what the server said about itself for the reply to the machine's first request, which would ask the same
// again.
func (l *Lease) hear(ctx context.Context, info dbserver.Info) protocol.Outcome {
	q := l.machine.Request(protocol.Reading{Wall: info.Asked})
	r := protocol.Reply{Now: info.Now, Asked: info.Asked, Unfit: info.Check(l.registry.Params.Loss), UUID: l.registry.Params.UUID}
	return l.handle(ctx, q, r, 0, protocol.Reading{Mono: info.Answered.Sub(l.begin), Wall: info.Answered})
}

// isTaken reports whether err says that others have the number, or all numbers.
func isTaken(err error) bool {
	return errors.As(err, new(*HeldError)) || errors.As(err, new(*NoWorkerError))
}

func newLease(r *registry.Registry, cfg LeaseConfig, begin time.Time) *Lease {
	log := cfg.Logger
	if log == nil {
		log = slog.Default()
	}
	l := &Lease{
		registry: r, config: cfg, begin: begin,
		machine: protocol.NewMachine(r.Params, cfg.Worker, holderOf(cfg.Holder), cfg.MaxSkew),
		log:     log.With("namespace", cfg.Namespace),
		turn:    make(chan struct{}, 1),
		wake:    make(chan struct{}, 1),
		ended:   make(chan struct{}), done: make(chan struct{}),
	}
	l.turn <- struct{}{}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// giveUp frees the number that an unfinished Acquire may have taken. It returns
// err, with the reason why Acquire waited, if it did.
func giveUp(ctx context.Context, l *Lease, waits, err error) error {
	defer l.cancel()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	q, ok := l.machine.GiveUp()
	if ok && q.Ask == protocol.AskRow {
		q, ok = l.machine.Free(l.registry.Do(ctx, q).Row)
	}
	if ok {
		l.registry.Do(ctx, q)
	}
	if waits != nil && !isTaken(err) {
		return fmt.Errorf("%w: %w", waits, err)
	}
	return err
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
