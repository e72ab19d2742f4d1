package lease

import (
	"context"
	"log/slog"
	"time"

	"github.com/shardsnow/snow"
)

// Config configures Acquire and Open of the packages that lease from a store, such as sqlsnow. All but Namespace may
// be zero.
type Config struct {
	// Namespace is the name of a namespace that Init made. For Open it may be empty.
	Namespace string

	// Generator configures the generator that Open returns. Acquire returns none, and
	// refuses settings here with a *snow.FieldError: they are for snow.NewGenerator.
	Generator snow.Config

	// Datacenter goes into every id. If several databases have a namespace of the
	// same layout for the same tables, each needs a number of its own.
	Datacenter uint64

	// Worker, if not nil, is the number that the lease must have, for example a
	// game server's. Acquire waits for it, and a lease that loses it to another
	// process ends.
	Worker *uint64

	// Wait makes Acquire wait until ctx ends if no number is free, for example when
	// all pods are replaced at once. It then returns a *NoWorkerError and ctx's error.
	Wait bool

	// Holder says who has the number, for people to read: up to 255 characters.
	// Zero means the host's name and the process id.
	Holder string

	// Logger logs what happens to the lease. Nil means slog.Default. Its handler
	// may call Stats of the lease, but not Renew or Close.
	Logger *slog.Logger

	// OnEvent, if not nil, is called for the same events, for traces and
	// measurements. ctx comes from the call that caused the event: Acquire, Renew
	// or Close. For events in the background, it is a context that ends with
	// Close. The next renewal waits until OnEvent returns. OnEvent may call Stats
	// of the lease, but not Renew or Close.
	OnEvent func(ctx context.Context, e Event)

	// MaxSkew is how far the database's clock and this process's may be apart: 0 to
	// 30 s, where zero means 30 s. If the clocks are wrong, the end of a window may be
	// that much too far in the future. Fence allows for no more than 30 s.
	MaxSkew time.Duration
}
