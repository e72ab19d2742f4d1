package page

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// A snapshot is what the databases had at a time.
type snapshot struct {
	at        time.Time // this process's clock
	databases []state
}

// A state is what a database had when it answered last.
type state struct {
	name       string // of the configuration; empty if the place has one
	place      place
	failing    time.Time     // since when it does not answer; zero if it does
	at         time.Time     // of this process when the database was read; zero if it never answered
	now        time.Time     // of the database at that time
	clockless  bool          // now is this process's: the store has no clock
	trip       time.Duration // of the question for its clock
	listed     time.Time     // of this process when the namespaces were listed
	namespaces []namespace
	counters   []segments.Counter
	unread     bool            // the counters could not be read
	rates      map[string]rate // by tag
}

// A namespace is one with its rows.
type namespace struct {
	sqlsnow.Namespace
	workers []sqlsnow.WorkerInfo
}

// knownFor is how long a database's place and the list of its namespaces are taken for granted. A failover changes
// the place.
const knownFor = time.Minute

// ahead returns how far the clock of the database is ahead of this process's, give or take half a trip.
func (s state) ahead() time.Duration { return s.now.Sub(s.at) + s.trip/2 }

// A reader reads the databases, once for all who look at the page at about the same time.
type reader struct {
	databases []Database
	cfg       Config
	service   *service

	mu      sync.Mutex // held while the databases are read, so that one request reads for all that wait
	last    snapshot
	history []map[string]*history // of the counters, by tag
}

func newReader(databases []Database, cfg Config) *reader {
	r := &reader{databases: databases, cfg: cfg, service: &service{totals: cfg.Totals}, history: make([]map[string]*history, len(databases))}
	r.last.databases = make([]state, len(databases))
	for i, d := range databases {
		r.last.databases[i] = state{name: d.Name, place: place{Product: d.Name, Host: d.Host}}
		if d.Store == nil {
			r.last.databases[i].place.Product = d.Dialect.String()
		}
		r.history[i] = make(map[string]*history)
	}
	return r
}

// read returns what the databases have. It is older than half of Config.Every at most. A request that is gone does
// not end the reading, which is for the others as well.
func (r *reader) read(ctx context.Context) snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	if age := time.Since(r.last.at); age >= 0 && age < r.cfg.Every/2 {
		return r.last
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.Timeout)
	defer cancel()
	all := make([]state, len(r.databases))
	var reading sync.WaitGroup
	for i, d := range r.databases {
		reading.Go(func() {
			old := r.last.databases[i]
			s, err := readState(ctx, d, r.cfg.Namespaces, old)
			s.name = old.name
			if err == nil {
				s.rates = observe(r.history[i], s)
				if !old.failing.IsZero() {
					r.cfg.Logger.Info("page: the database answers again", "database", s.called())
				}
			} else {
				s = old
				s.place.asked, s.listed = time.Time{}, time.Time{} // another server may answer next
				if old.failing.IsZero() {
					s.failing = time.Now()
					r.cfg.Logger.Warn("page: the database does not answer", "database", s.called(), slog.Any("error", err))
				}
			}
			all[i] = s
		})
	}
	reading.Wait()
	r.last = snapshot{at: time.Now(), databases: all}
	return r.last
}

// called returns the name of the database for people.
func (s state) called() string {
	return cmp.Or(s.name, s.place.Name, s.place.Product)
}

func readState(ctx context.Context, d Database, names []string, old state) (s state, err error) {
	// The clock is read first, so that what was renewed since is not taken for late.
	store, sent := d.store(), time.Now()
	if s.now, err = store.Clock(ctx); err != nil {
		return s, err
	}
	s.at = time.Now()
	s.trip = s.at.Sub(sent)
	if s.clockless = s.now.IsZero(); s.clockless {
		s.now = s.at
	}
	if s.place = old.place; d.Store == nil && time.Since(old.place.asked) >= knownFor {
		if p, err := placeOf(ctx, d); err == nil { // else what is known is shown
			s.place = p
		} else if ctx.Err() != nil {
			return s, err
		}
	}
	spaces, listed, err := namespacesOf(ctx, store, names, old)
	if err != nil {
		return s, err
	}
	s.listed = listed
	for _, n := range spaces {
		workers, err := store.Workers(ctx, n.Name)
		if err != nil {
			return s, err
		}
		s.namespaces = append(s.namespaces, namespace{n, workers})
	}
	if d.Store != nil {
		return s, nil
	}
	if s.counters, err = segments.Counters(ctx, d.DB, d.Dialect); err != nil && ctx.Err() != nil {
		return s, err
	}
	s.unread = err != nil // such as for an account that may read the other tables only
	return s, nil
}

// namespacesOf returns the namespaces and when they were listed. What they are can't change, so they are listed again
// only for new ones.
func namespacesOf(ctx context.Context, store Store, names []string, old state) (all []sqlsnow.Namespace, listed time.Time, err error) {
	if len(old.namespaces) == 0 || time.Since(old.listed) >= knownFor {
		all, err = store.Namespaces(ctx, names...)
		return all, time.Now(), err
	}
	for _, n := range old.namespaces {
		all = append(all, n.Namespace)
	}
	return all, old.listed, nil
}
