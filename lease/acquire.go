package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/protocol"
)

// A Registry carries out the requests of a lease on the rows of one namespace. Its methods have types of an internal
// package, so only packages of this project implement it. A lease calls Do from one goroutine at a time.
type Registry interface {
	// Do carries out a request. An error of the reply is as users see it, and the reply's Failure says whether another
	// attempt may succeed.
	Do(ctx context.Context, q protocol.Request) protocol.Reply

	// Explain returns an error of the lease protocol, after the request op, as users see it. op may be empty.
	Explain(op string, err error) error

	// IsBusy reports whether an error of a reply says that others were in the way, so that another attempt makes sense.
	IsBusy(err error) bool
}

// Acquire leases a worker number of the namespace that open opens, and returns when its first window is durable. prefix
// is the name of the calling package, for errors. The functions Acquire of packages such as sqlsnow
// call it, and say what it returns. Others can't call it, because open has types of an internal package.
func Acquire(ctx context.Context, prefix string, cfg Config, open func(ctx context.Context) (Registry, protocol.Params, error)) (*Lease, error) {
	l, err := acquire(ctx, prefix, cfg, open)
	if err != nil {
		return nil, fmt.Errorf("%s: acquire a worker of namespace %q: %w", prefix, cfg.Namespace, err)
	}
	return l, nil
}

func acquire(ctx context.Context, prefix string, cfg Config, open func(ctx context.Context) (Registry, protocol.Params, error)) (*Lease, error) {
	if !reflect.ValueOf(cfg.Generator).IsZero() {
		return nil, &snow.FieldError{Field: "Generator", Value: "is set", Bound: "Acquire makes no generator: pass the settings to snow.NewGenerator"}
	}
	if cfg.MaxSkew < 0 || cfg.MaxSkew > protocol.DefaultMaxSkew {
		return nil, &snow.FieldError{Field: "MaxSkew", Value: cfg.MaxSkew.String(), Bound: "want 0 to " + protocol.DefaultMaxSkew.String() + ", which Fence allows for"}
	}
	if cfg.MaxSkew == 0 {
		cfg.MaxSkew = protocol.DefaultMaxSkew
	}
	r, p, err := open(ctx)
	if err != nil {
		return nil, err
	}
	if highest := uint64(1)<<p.Layout.Bits().Datacenter - 1; cfg.Datacenter > highest {
		return nil, &snow.FieldError{Field: "Datacenter", Value: strconv.FormatUint(cfg.Datacenter, 10), Bound: "the highest of the layout is " + strconv.FormatUint(highest, 10)}
	}
	if cfg.Worker != nil && *cfg.Worker >= uint64(p.Workers) {
		return nil, &snow.FieldError{Field: "Worker", Value: strconv.FormatUint(*cfg.Worker, 10), Bound: "the highest of the namespace is " + strconv.FormatInt(p.Workers-1, 10)}
	}
	l := newLease(prefix, r, p, cfg)
	var waits error // why Acquire waits
	for {
		if err := l.await(ctx, nil); err != nil {
			return nil, giveUp(ctx, l, waits, err)
		}
		out := l.ask(ctx)
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
	}
}

// isTaken reports whether err says that others have the number, or all numbers.
func isTaken(err error) bool {
	return errors.As(err, new(*HeldError)) || errors.As(err, new(*NoWorkerError))
}

func newLease(prefix string, r Registry, p protocol.Params, cfg Config) *Lease {
	log := cfg.Logger
	if log == nil {
		log = slog.Default()
	}
	l := &Lease{
		registry: r, params: p, prefix: prefix, config: cfg, begin: time.Now(),
		machine: protocol.NewMachine(p, cfg.Worker, holderOf(cfg.Holder), cfg.MaxSkew),
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
