package service

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/promsnow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// A served is where snow serve gets its ids.
type served struct {
	snow.Source
	issued func() uint64 // ids so far
	ready  func(context.Context) error
	done   <-chan struct{} // closed when no id can be made any more; nil if that can't be
	err    func() error    // why, after done
	close  func(context.Context) error

	metrics []prometheus.Collector
}

// A source is a tag of segments, and the name of its metrics.
type source struct{ name, tag string }

// serveLease leases a worker number. Its metrics have the name. The database must answer within timeout; a
// certain number is waited for until ctx ends.
func serveLease(ctx context.Context, db Database, name string, cfg sqlsnow.LeaseConfig, ids snow.Config, timeout time.Duration) (*served, error) {
	lease, err := acquire(ctx, db, cfg, timeout)
	if err != nil {
		return nil, err
	}
	gen, err := snow.NewGenerator(lease, ids)
	if err != nil {
		return nil, errors.Join(err, lease.Close(ctx))
	}
	return &served{
		Source: gen, issued: func() uint64 { return gen.Stats().Issued },
		ready: func(context.Context) error {
			if err := lease.Err(); err != nil {
				return err
			}
			return lasts(lease.Stats(), gen.Stats().Left)
		},
		done: lease.Done(), err: lease.Err, close: lease.Close,
		metrics: []prometheus.Collector{promsnow.Generator(name, gen), promsnow.Lease(name, lease)},
	}, nil
}

func acquire(ctx context.Context, db Database, cfg sqlsnow.LeaseConfig, timeout time.Duration) (*sqlsnow.Lease, error) {
	answer, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	namespaces, err := db.Numbers.Namespaces(answer, cfg.Namespace)
	if err != nil {
		return nil, err
	}
	if cfg.Worker == nil && len(namespaces) == 1 { // the first id comes a second after the LossWindow
		bounded, cancel := context.WithTimeout(ctx, timeout+namespaces[0].LossWindow+time.Second)
		defer cancel()
		ctx = bounded
	}
	return db.Numbers.Acquire(ctx, cfg)
}

// lasts returns an error if ids end soon. The layout has timestamps for layoutLeft.
func lasts(lease sqlsnow.LeaseStats, layoutLeft time.Duration) error {
	switch {
	case !lease.Ready():
		return fmt.Errorf("the window of worker %d ends in %v", lease.Worker, lease.Left)
	case layoutLeft <= 30*time.Second:
		return fmt.Errorf("the timestamps of the layout end in %v", layoutLeft)
	}
	return nil
}

// suffices returns an error if the next request may get no ids: no database answers, and fewer numbers are left than
// it may ask for.
func suffices(stats segments.Stats, maxIDs int) error {
	if stats.Left >= int64(maxIDs) || slices.ContainsFunc(stats.Databases, func(d segments.Database) bool { return d.Up }) {
		return nil
	}
	return fmt.Errorf("no database answers, and there are %d numbers, fewer than a request may ask for: %w", stats.Left, segments.ErrEmpty)
}

// serveSegments takes dense numbers from the counters of one or more databases. One must answer within timeout.
func serveSegments(ctx context.Context, dbs []Database, from source, maxIDs int, timeout time.Duration, logger *slog.Logger) (*served, error) {
	if err := needSQL("--segments", dbs); err != nil {
		return nil, err
	}
	var all []*sql.DB
	for _, db := range dbs {
		all = append(all, db.DB)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	s, err := segments.Open(ctx, all, dbs[0].Dialect, segments.Config{Tag: from.tag, Logger: logger})
	if err != nil {
		return nil, err
	}
	return &served{
		Source: s, issued: func() uint64 { return s.Stats().Issued },
		ready: func(context.Context) error {
			return suffices(s.Stats(), maxIDs)
		},
		err: func() error { return nil }, close: s.Close,
		metrics: []prometheus.Collector{promsnow.Segments(from.name, s)},
	}, nil
}
