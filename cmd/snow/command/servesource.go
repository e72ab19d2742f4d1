package command

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/promsnow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// A served is where snow serve gets its ids.
type served struct {
	snow.Source
	ready func(context.Context) error
	done  <-chan struct{} // closed when no id can be made any more; nil if that can't be
	err   func() error    // why, after done
	close func(context.Context) error

	metrics []prometheus.Collector
}

// serveLease leases a worker number.
func serveLease(ctx context.Context, db *connected, cfg sqlsnow.LeaseConfig, ids snow.Config) (*served, error) {
	lease, err := sqlsnow.Acquire(ctx, db.DB, db.dialect, cfg)
	if err != nil {
		return nil, explain(err)
	}
	gen, err := snow.NewGenerator(lease, ids)
	if err != nil {
		return nil, errors.Join(err, lease.Close(ctx))
	}
	return &served{
		Source: gen,
		ready: func(context.Context) error {
			if s := lease.Stats(); s.Left <= 0 {
				return fmt.Errorf("the window of worker %d is over", s.Worker)
			}
			return lease.Err()
		},
		done: lease.Done(), err: lease.Err, close: lease.Close,
		metrics: []prometheus.Collector{promsnow.Generator(cfg.Namespace, gen), promsnow.Lease(cfg.Namespace, lease)},
	}, nil
}

// serveSegments takes dense numbers from the counters of one or more databases.
func serveSegments(ctx context.Context, dbs []*connected, tag string, logger *slog.Logger) (*served, error) {
	var all []*sql.DB
	for _, db := range dbs {
		all = append(all, db.DB)
	}
	s, err := segments.Open(ctx, all, dbs[0].dialect, segments.Config{Tag: tag, Logger: logger})
	if err != nil {
		return nil, explain(err)
	}
	return &served{
		Source: s,
		ready: func(context.Context) error {
			stats := s.Stats()
			if stats.Left > 0 || slices.ContainsFunc(stats.Databases, func(d segments.Database) bool { return d.Up }) {
				return nil
			}
			return segments.ErrEmpty
		},
		err: func() error { return nil }, close: s.Close,
		metrics: []prometheus.Collector{promsnow.Segments(tag, s)},
	}, nil
}
