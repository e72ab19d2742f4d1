package route

import (
	"errors"
	"fmt"
	"sync/atomic"

	"gorm.io/gorm"

	"github.com/shardsnow/snow/gormsnow/route/meter"
)

// Stats are the statistics of a router. Refused has the refused statements by reason: unrouted, spread, cross_shard,
// moves, mismatch and replica, after the errors of this package.
type Stats = meter.Stats

// reasons are the keys of Stats.Refused.
var reasons = [...]struct {
	name string
	err  error
}{
	{"unrouted", ErrUnrouted}, {"spread", ErrSpread}, {"cross_shard", ErrCrossShard}, {"moves", ErrMoves}, {"mismatch", ErrMismatch}, {"replica", ErrReplica},
}

// counts are the counters of a router; those of databases are in its targets.
type counts struct {
	refused          [len(reasons)]atomic.Uint64
	scattered, asked atomic.Uint64
}

func (c *counts) refuse(e *Error) *Error {
	for i, reason := range reasons {
		if errors.Is(e.Err, reason.err) {
			c.refused[i].Add(1)
		}
	}
	return e
}

// A Router is what [New] has put behind a database. It is safe for concurrent use.
type Router struct{ r *router }

// RouterOf returns the router of a database that [New] has made, or of a session or a transaction of it.
func RouterOf(db *gorm.DB) (*Router, error) {
	if db != nil {
		if r, ok := routerOf(db.Config.ConnPool); ok {
			return &Router{r}, nil
		}
	}
	return nil, fmt.Errorf("route: the database is no router: make it with New")
}

// Stats returns the statistics. It waits for nothing.
func (r *Router) Stats() Stats {
	s := Stats{Refused: make(map[string]uint64, len(reasons)), Scattered: r.r.counts.scattered.Load(), Asked: r.r.counts.asked.Load()}
	for i, reason := range reasons {
		s.Refused[reason.name] = r.r.counts.refused[i].Load()
	}
	for _, t := range r.r.targets {
		d := meter.Database{Statements: t.sent.Load()}
		for _, replica := range t.replicas {
			d.Replicas = append(d.Replicas, replica.sent.Load())
		}
		s.Databases = append(s.Databases, d)
	}
	return s
}
