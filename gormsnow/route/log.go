package route

import (
	"context"
	"log/slog"
)

type boundKey struct{}

// Value implements [context.Context]: while and after a statement is executed, its context tells where it went.
func (b *bound) Value(key any) any {
	if key == (boundKey{}) {
		return b
	}
	return b.Context.Value(key)
}

// Attr returns a group named route, which says where the statement of a context went: its logical shards, its
// databases, and whether these were replicas. The context is that of GORM's loggers, of hooks and of drivers. The
// attribute is empty if the context has no routed statement.
func Attr(ctx context.Context) slog.Attr {
	b, ok := ctx.Value(boundKey{}).(*bound)
	if !ok || !b.decided {
		return slog.Attr{}
	}
	var all []any
	switch {
	case len(b.place.shards) == 1:
		all = append(all, slog.Uint64("shard", b.place.shards[0]))
	case len(b.place.shards) > 1:
		all = append(all, slog.Any("shards", b.place.shards))
	case b.place.all:
		all = append(all, slog.String("shards", "all"))
	}
	if b.databases != nil {
		all = append(all, slog.Any("databases", b.databases))
	} else {
		all = append(all, slog.Int("database", b.database))
	}
	if b.replica {
		all = append(all, slog.Bool("replica", true))
	}
	return slog.Group("route", all...)
}

// LogHandler returns a handler that adds [Attr] to the records of h:
//
//	log := slog.New(route.LogHandler(slog.NewJSONHandler(os.Stderr, nil)))
//	config := &gorm.Config{Logger: logger.NewSlogLogger(log, logger.Config{LogLevel: logger.Warn, SlowThreshold: time.Second})}
//
// The logger of a router is its first database's.
func LogHandler(h slog.Handler) slog.Handler { return handler{h} }

type handler struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h handler) Handle(ctx context.Context, record slog.Record) error {
	if a := Attr(ctx); !a.Equal(slog.Attr{}) {
		record = record.Clone()
		record.AddAttrs(a)
	}
	return h.Handler.Handle(ctx, record)
}

// WithAttrs implements [slog.Handler].
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
