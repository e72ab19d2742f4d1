package sqlsnowtest

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

// A holder is a lease and its generator, with a database handle of its own.
type holder struct {
	*space
	*sqlsnow.Lease
	db   *sql.DB
	gen  *snow.Generator
	last snow.ID
}

// acquire acquires a worker number as another process would. The lease is closed when the test ends.
func (s *space) acquire(cfg sqlsnow.LeaseConfig) *holder {
	s.Helper()
	return s.acquireOn(s.open(), cfg)
}

func (s *space) acquireOn(db *sql.DB, cfg sqlsnow.LeaseConfig) *holder {
	s.Helper()
	h, err := s.tryAcquire(s.Context(), db, cfg)
	if err != nil {
		s.Fatalf("Acquire: %v", err)
	}
	return h
}

func (s *space) tryAcquire(ctx context.Context, db *sql.DB, cfg sqlsnow.LeaseConfig) (*holder, error) {
	cfg.Namespace = s.ns.Name
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(s.Output(), nil))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lease, err := sqlsnow.Acquire(ctx, db, s.dialect, cfg)
	if err != nil {
		if lease != nil {
			s.Errorf("Acquire: got a lease and the error %v", err)
		}
		return nil, err
	}
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Context()), patience)
		defer cancel()
		_ = lease.Close(ctx) // clauses look at what Close returns
	})
	gen, err := snow.NewGenerator(lease, snow.Config{})
	if err != nil {
		return nil, errors.Join(err, lease.Close(ctx))
	}
	return &holder{space: s, Lease: lease, db: db, gen: gen}, nil
}

// Renew renews the lease. It tries once more if the machine was too busy for an answer in time.
func (h *holder) Renew(ctx context.Context) error {
	for {
		if err := h.Lease.Renew(ctx); !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return err
		}
	}
}

func (h *holder) worker() uint64 { return h.Stats().Worker }

// held returns the row of the worker number that h has.
func (h *holder) held() row {
	h.Helper()
	return h.row(h.worker())
}

// next makes an id and compares it with those before.
func (h *holder) next() snow.ID {
	h.Helper()
	id, err := h.gen.Next(h.Context())
	if err != nil {
		h.Fatalf("Next: %v (%+v)", err, h.Stats())
	}
	if id <= h.last {
		h.Errorf("Next: got %d after %d, want ascending ids", id, h.last)
	}
	h.last = id
	return id
}

// parts returns the worker number and the tick of an id.
func (s *space) parts(id snow.ID) (worker uint64, tick int64) {
	s.Helper()
	p, err := s.ns.Layout.Decompose(id)
	if err != nil {
		s.Fatalf("Decompose: %v", err)
	}
	return p.Worker, s.tick(p.Time)
}

// within makes ids and checks that their ticks are in the window that the database has for h.
func (h *holder) within() {
	h.Helper()
	for range 10 {
		id := h.next()
		worker, tick := h.parts(id)
		if r := h.held(); worker != r.worker || tick < r.floor || tick >= r.ceiling {
			h.Fatalf("id %d: got worker %d and tick %d, want worker %d and a tick in [%d, %d)", id, worker, tick, r.worker, r.floor, r.ceiling)
		}
	}
}

// swapped waits until h has changed its worker number for the nth time. The row of the new number must be its own.
func (h *holder) swapped(n uint64) {
	h.Helper()
	h.await("swap", func() bool { return h.Stats().Swaps >= n })
	if got := h.Stats().Swaps; got != n {
		h.Errorf("Stats: got %d swaps, want %d", got, n)
	}
}

// close closes h's lease, which must succeed, and returns the row that it had.
func (h *holder) close() row {
	h.Helper()
	worker := h.worker()
	if err := h.Close(h.Context()); err != nil {
		h.Fatalf("Close: %v", err)
	}
	return h.row(worker)
}

// crash ends h without telling the database, and returns its row.
func (h *holder) crash() row {
	h.Helper()
	worker := h.worker()
	if err := h.db.Close(); err != nil {
		h.Fatalf("close the handle: %v", err)
	}
	if err := h.Close(h.Context()); err == nil {
		h.Errorf("Close without a database: got no error")
	}
	r := h.row(worker)
	if r.state != granted {
		h.Fatalf("after a crash: got state %d, want %d", r.state, granted)
	}
	return r
}
