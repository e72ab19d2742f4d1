package sqlsnowtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

// calls are all functions of package sqlsnow that need the tables.
func (s *suite) calls(ns sqlsnow.Namespace) map[string]error {
	ctx := s.Context()
	_, workersErr := sqlsnow.Workers(ctx, s.db, s.dialect, ns.Name)
	lease, acquireErr := sqlsnow.Acquire(ctx, s.db, s.dialect, sqlsnow.LeaseConfig{Namespace: ns.Name})
	if lease != nil {
		s.Errorf("Acquire: got a lease, want none")
		_ = lease.Close(ctx)
	}
	return map[string]error{
		"Acquire": acquireErr,
		"Workers": workersErr,
		"Fence":   sqlsnow.Fence(ctx, s.db, s.dialect, ns.Name),
	}
}

func migrateAgain(s *suite) {
	s.migrate()
	sp := s.space(sqlsnow.Namespace{})
	before := sp.rows()
	var all sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		db := s.open()
		all.Go(func() { errs[i] = sqlsnow.Migrate(s.Context(), db, s.dialect) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		s.Errorf("Migrate again, four at once: %v", err)
	}
	sp.same("rows", sp.rows(), before)
}

func unmigrated(s *suite) {
	ns := sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout()}
	calls := s.calls(ns)
	calls["Init"] = sqlsnow.Init(s.Context(), s.db, s.dialect, ns)
	for call, err := range calls {
		s.wantIs(call, err, sqlsnow.ErrNotMigrated)
		if err != nil && !strings.Contains(err.Error(), "sqlsnow.Migrate") {
			s.Errorf("%s: got %q, want the name of the missing call in it", call, err)
		}
	}
}

func uninitialised(s *suite) {
	s.migrate()
	for call, err := range s.calls(sqlsnow.Namespace{Name: "orders"}) {
		s.wantIs(call, err, sqlsnow.ErrNoNamespace)
		if err != nil && !strings.Contains(err.Error(), "sqlsnow.Init") {
			s.Errorf("%s: got %q, want the name of the missing call in it", call, err)
		}
	}
}

func initAgain(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	h := sp.acquire(sqlsnow.LeaseConfig{})
	h.next()
	before := sp.rows()
	var all sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		db := s.open()
		all.Go(func() { errs[i] = sqlsnow.Init(s.Context(), db, s.dialect, sp.ns) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		s.Errorf("Init again, four at once: %v", err)
	}
	sp.unchanged("rows", before)
}

func initWithDefaults(s *suite) {
	s.migrate()
	small, err := snow.ParseLayout("41+2+3+12+0/1ms@2024-01-01T00:00:00Z")
	if err != nil {
		s.Fatal(err)
	}
	for name, c := range map[string]struct {
		layout  snow.Layout
		workers int
	}{"large": {snow.DefaultLayout(), 1024}, "lanes": {snow.Clustered(), 512}, "small": {small, 8}} {
		ns := sqlsnow.Namespace{Name: name, Layout: c.layout}
		if err := sqlsnow.Init(s.Context(), s.db, s.dialect, ns); err != nil {
			s.Fatalf("Init: %v", err)
		}
		sp := &space{s, ns}
		if got := len(sp.rows()); got != c.workers {
			s.Errorf("%s: got %d rows, want %d", name, got, c.workers)
		}
		got := sp.constants("workers", "loss_ms", "window_ms", "pinned_ms")
		if want := []int64{int64(c.workers), 0, 600_000, 30_000}; !slices.Equal(got, want) {
			s.Errorf("%s: got workers, loss, window and pinned window %v, want %v", name, got, want)
		}
		if got, want := sp.text("layout"), c.layout.String(); got != want {
			s.Errorf("%s: got layout %q, want %q", name, got, want)
		}
		// The same values written out are the same namespace as the defaults.
		ns.Workers, ns.Window, ns.PinnedWindow = c.workers, 10*time.Minute, 30*time.Second
		if err := sqlsnow.Init(s.Context(), s.db, s.dialect, ns); err != nil {
			s.Errorf("%s: Init with the defaults written out: %v", name, err)
		}
	}
}

// text returns a column of the namespace's row.
func (s *space) text(column string) (value string) {
	s.Helper()
	q := "SELECT " + column + " FROM snow_namespaces WHERE namespace = ?"
	if err := s.db.QueryRowContext(s.Context(), s.query(q), s.ns.Name).Scan(&value); err != nil {
		s.Fatalf("%s: %v", q, err)
	}
	return value
}

func initMismatch(s *suite) {
	sp := s.space(sqlsnow.Namespace{})
	before := sp.rows()
	for what, change := range map[string]func(*sqlsnow.Namespace){
		"layout":        func(ns *sqlsnow.Namespace) { ns.Layout = snow.Twitter() },
		"layout's lane": func(ns *sqlsnow.Namespace) { ns.Layout = snow.Clustered() },
		"workers":       func(ns *sqlsnow.Namespace) { ns.Workers++ },
		"fewer workers": func(ns *sqlsnow.Namespace) { ns.Workers-- },
		"loss window":   func(ns *sqlsnow.Namespace) { ns.LossWindow = 5 * time.Second },
		"window":        func(ns *sqlsnow.Namespace) { ns.Window = 9 * time.Minute },
		"pinned window": func(ns *sqlsnow.Namespace) { ns.PinnedWindow = 29 * time.Second },
	} {
		ns := sp.ns
		change(&ns)
		s.wantIs("Init with another "+what, sqlsnow.Init(s.Context(), s.db, s.dialect, ns), sqlsnow.ErrNamespaceMismatch)
	}
	sp.same("rows", sp.rows(), before)
}

func badNamespaces(s *suite) {
	s.migrate()
	for what, change := range map[string]func(*sqlsnow.Namespace){
		"an empty name":               func(ns *sqlsnow.Namespace) { ns.Name = "" },
		"a name of 65 characters":     func(ns *sqlsnow.Namespace) { ns.Name = strings.Repeat("n", 65) },
		"a name that ends in a space": func(ns *sqlsnow.Namespace) { ns.Name = "orders " },
		"a name that is not ASCII":    func(ns *sqlsnow.Namespace) { ns.Name = "bestellungen-für-alle" },
		"a name with a zero byte":     func(ns *sqlsnow.Namespace) { ns.Name = "orders\x00" },
		"no layout":                   func(ns *sqlsnow.Namespace) { ns.Layout = snow.Layout{} },
		"a negative worker count":     func(ns *sqlsnow.Namespace) { ns.Workers = -1 },
		"more workers than exist":     func(ns *sqlsnow.Namespace) { ns.Workers = 1025 },
		"a negative loss window":      func(ns *sqlsnow.Namespace) { ns.LossWindow = -1 },
		"a negative window":           func(ns *sqlsnow.Namespace) { ns.Window = -1 },
		"a negative pinned window":    func(ns *sqlsnow.Namespace) { ns.PinnedWindow = -1 },
	} {
		ns := sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout()}
		change(&ns)
		_ = wantAs[*snow.FieldError](s, "Init with "+what, sqlsnow.Init(s.Context(), s.db, s.dialect, ns))
	}
	for call, err := range map[string]error{
		"Migrate": sqlsnow.Migrate(s.Context(), s.db, 0),
		"Init":    sqlsnow.Init(s.Context(), s.db, 9, sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout()}),
	} {
		_ = wantAs[*snow.FieldError](s, call+" with an unknown dialect", err)
	}
	for call, err := range s.calls(sqlsnow.Namespace{Name: "orders"}) {
		s.wantIs(call+" after refused calls of Init", err, sqlsnow.ErrNoNamespace)
	}
}

func namesOfNamespaces(s *suite) {
	long := strings.Repeat("n", 64)
	var spaces []*space
	for _, name := range []string{"orders", "Orders", "ORDERS", "orders-2", long} {
		spaces = append(spaces, s.space(sqlsnow.Namespace{Name: name, Workers: len(spaces) + 1}))
	}
	for i, sp := range spaces {
		if got := len(sp.rows()); got != i+1 {
			s.Errorf("%s: got %d rows, want %d", sp.ns.Name, got, i+1)
		}
	}
}

func separateNamespaces(s *suite) {
	a := s.space(sqlsnow.Namespace{Name: "a", Workers: 2})
	b := s.space(sqlsnow.Namespace{Name: "b", Workers: 2, Layout: snow.Twitter()})
	untouched := b.rows()
	for range 2 {
		h := a.acquire(sqlsnow.LeaseConfig{})
		h.within()
		if err := h.Renew(s.Context()); err != nil {
			s.Errorf("Renew: %v", err)
		}
	}
	if err := sqlsnow.Fence(s.Context(), s.db, s.dialect, "a"); err != nil {
		s.Errorf("Fence: %v", err)
	}
	b.same("rows of the other namespace", b.rows(), untouched)
	h, k := b.acquire(sqlsnow.LeaseConfig{}), b.acquire(sqlsnow.LeaseConfig{})
	h.within()
	k.within()
	before := a.rows()
	h.close()
	k.close()
	a.unchanged("rows of the other namespace", before)
	if got, err := sqlsnow.Workers(s.Context(), s.db, s.dialect, "a"); err != nil || len(got) != 2 {
		s.Errorf("Workers: got %d and %v, want the 2 of the namespace", len(got), err)
	}
}

func readOnly(s *suite) {
	if s.database.ReadOnly == nil {
		s.Skip("the caller of Run has no read-only handle")
	}
	ns := sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout()}
	db := s.opened(s.database.ReadOnly)
	s.wantIs("Migrate", sqlsnow.Migrate(s.Context(), db, s.dialect), sqlsnow.ErrReadOnly)
	sp := s.space(ns)
	h := sp.acquire(sqlsnow.LeaseConfig{})
	before := sp.rows()
	_, err := sp.tryAcquire(s.Context(), db, sqlsnow.LeaseConfig{})
	s.wantIs("Acquire", err, sqlsnow.ErrReadOnly)
	s.wantIs("Init", sqlsnow.Init(s.Context(), db, s.dialect, sqlsnow.Namespace{Name: "other", Layout: snow.DefaultLayout()}), sqlsnow.ErrReadOnly)
	s.wantIs("Fence", sqlsnow.Fence(s.Context(), db, s.dialect, ns.Name), sqlsnow.ErrReadOnly)
	got, err := sqlsnow.Workers(s.Context(), db, s.dialect, ns.Name)
	if err != nil || len(got) != sp.ns.Workers {
		s.Errorf("Workers: got %d and %v, want the %d of the namespace", len(got), err, sp.ns.Workers)
	}
	sp.unchanged("rows", before)
	h.within()
}

func notDurable(s *suite) {
	if s.database.NotDurable == nil {
		s.Skip("the caller of Run has no handle that is not durable")
	}
	sp := s.space(sqlsnow.Namespace{})
	before := sp.rows()
	db := s.opened(s.database.NotDurable)
	_, err := sp.tryAcquire(s.Context(), db, sqlsnow.LeaseConfig{})
	s.wantIs("Acquire", err, sqlsnow.ErrNotDurable)
	s.wantIs("Init", sqlsnow.Init(s.Context(), db, s.dialect, sqlsnow.Namespace{Name: "other", Layout: snow.DefaultLayout()}), sqlsnow.ErrNotDurable)
	sp.same("rows", sp.rows(), before)
	_, err = sqlsnow.Workers(s.Context(), s.db, s.dialect, "other")
	s.wantIs("Workers of a namespace that was refused", err, sqlsnow.ErrNoNamespace)
}

// notDurableLater makes the sessions of a handle not durable during Acquire, and after it.
func notDurableLater(s *suite) {
	if s.database.NotDurable == nil {
		s.Skip("the caller of Run has no handle that is not durable")
	}
	sp := s.space(sqlsnow.Namespace{})
	durable, forgetful := s.open(), s.opened(s.database.NotDurable)
	var under atomic.Pointer[sql.DB]
	var hurry atomic.Bool // to change sessions before a number is taken
	under.Store(durable)
	db := s.wireTo(under.Load, func(_ context.Context, statement string, send func() error) error {
		if hurry.Load() && strings.Contains(statement, ".snow_workers ") {
			under.Store(forgetful)
		}
		return send()
	})
	for _, handle := range []*sql.DB{db, durable, forgetful} {
		handle.SetMaxIdleConns(-1) // every statement has a session of its own
	}
	before := sp.rows()
	hurry.Store(true)
	_, err := sp.tryAcquire(s.Context(), db, sqlsnow.LeaseConfig{})
	s.wantIs("Acquire", err, sqlsnow.ErrNotDurable)
	sp.same("rows", sp.rows(), before)
	hurry.Store(false)
	under.Store(durable)
	h := sp.acquireOn(db, sqlsnow.LeaseConfig{})
	before = sp.rows()
	under.Store(forgetful)
	if err := h.Renew(s.Context()); err == nil {
		s.Errorf("Renew on a session that is not durable: got no error")
	}
	sp.same("rows", sp.rows(), before)
	h.within()
	under.Store(durable)
	h.await("renewal", func() bool { return h.Renew(s.Context()) == nil })
	if got := h.Stats(); got.Swaps != 0 {
		s.Errorf("Stats: got %+v, want no swap", got)
	}
}

// rowsMadeAnew deletes rows whose windows are not over.
func rowsMadeAnew(s *suite) {
	sp := s.space(sqlsnow.Namespace{Name: "new", Workers: 4})
	// at once
	one, two := sp.acquire(sqlsnow.LeaseConfig{Logger: silent}).crash(), sp.acquire(sqlsnow.LeaseConfig{Logger: silent}).crash()
	window := sp.ticks(10 * time.Minute)
	again := func(what string, want int, statements ...string) {
		s.Helper()
		for _, q := range statements {
			s.exec(q)
		}
		earliest := sp.now()
		if err := sqlsnow.Init(s.Context(), s.db, s.dialect, sp.ns); err != nil {
			s.Fatalf("%s: Init: %v", what, err)
		}
		made := 0
		for _, r := range sp.rows() {
			if r.state == free && r.ceiling >= earliest+window && r.floor == r.ceiling && r.fence == 0 {
				made++
			}
		}
		if len(sp.rows()) != 4 || made != want {
			s.Errorf("%s: got rows %+v, want %d new ones that begin after a window", what, sp.rows(), want)
		}
	}
	again("the row of a lease", 1, fmt.Sprintf("DELETE FROM snow_workers WHERE worker_id = %d", one.worker))
	again("the namespace and two rows", 2, "DELETE FROM snow_namespaces",
		fmt.Sprintf("DELETE FROM snow_workers WHERE worker_id = %d OR fence = 0 AND floor_tick = 0 AND worker_id = (SELECT most FROM"+
			" (SELECT MAX(worker_id) AS most FROM snow_workers WHERE worker_id NOT IN (%d, %d)) AS other)", one.worker, one.worker, two.worker))
	again("all rows", 4, "DELETE FROM snow_workers")
	_, err := sp.tryAcquire(s.Context(), s.open(), sqlsnow.LeaseConfig{Logger: silent})
	if none := wantAs[*sqlsnow.NoWorkerError](s, "Acquire", err); none.EarliestFree.Before(sp.time(sp.now() + window/2)) {
		s.Errorf("Acquire: got %v, want a number in a window", none)
	}
	_, err = sqlsnow.Reserve(s.Context(), s.db, s.dialect, sp.ns.Name, "merge")
	if none := wantAs[*sqlsnow.NoWorkerError](s, "Reserve", err); !none.EarliestFree.IsZero() {
		s.Errorf("Reserve: got %v, want an error without a time", none)
	}
}
