//go:build unix

package functiontest

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/functions"
)

// A registry has the namespace of databases that make ids.
type registry struct {
	Target
	server *dbtest.Server
	db     *sql.DB
}

func (r registry) install(t *testing.T, db *sql.DB, cfg functions.Config) (uint64, error) {
	t.Helper()
	cfg.Namespace, cfg.Leases = namespace, r.db
	return functions.Install(t.Context(), db, r.Dialect, cfg)
}

func (r registry) want(t *testing.T, what string, db *sql.DB, want uint64, cfg functions.Config) {
	t.Helper()
	if got, err := r.install(t, db, cfg); err != nil || got != want {
		t.Errorf("%s: got %d and %v, want %d", what, got, err, want)
	}
}

// restore puts the namespace back to before anything was reserved.
func (r registry) restore(t *testing.T) {
	t.Helper()
	exec(t, r.db, "DELETE FROM snow_workers", "INSERT INTO snow_workers SELECT * FROM saved")
}

func (r registry) do(t *testing.T, do func() error) {
	t.Helper()
	if err := do(); err != nil {
		t.Fatal(err)
	}
}

func (r registry) init(t *testing.T, name string) {
	t.Helper()
	r.do(t, func() error {
		return sqlsnow.Init(t.Context(), r.db, r.Dialect, sqlsnow.Namespace{Name: name, Layout: snow.DefaultLayout(), Workers: 8})
	})
}

func (r registry) fence(t *testing.T) {
	t.Helper()
	r.do(t, func() error { return sqlsnow.Fence(t.Context(), r.db, r.Dialect, namespace) })
}

// testRestored follows the procedures of docs/sql.md after a namespace was restored or made anew, with its
// databases in any order.
func testRestored(t *testing.T, target Target) {
	r := registry{Target: target, server: target.server(t)}
	fresh := func() *sql.DB { return target.open(t, r.server, r.server.CreateDatabase(t)) }
	r.db = fresh()
	r.do(t, func() error { return sqlsnow.Migrate(t.Context(), r.db, target.Dialect) })
	r.init(t, namespace)
	exec(t, r.db, "CREATE TABLE saved AS SELECT * FROM snow_workers")
	one, two := fresh(), fresh()
	r.want(t, "the first database", one, 7, functions.Config{})
	r.want(t, "the second database", two, 6, functions.Config{})
	held := new(sqlsnow.HeldError)
	none := new(sqlsnow.NoWorkerError)
	field := new(snow.FieldError)

	// The procedure.
	r.restore(t)
	r.fence(t)
	if got, err := r.install(t, fresh(), functions.Config{}); !errors.As(err, &none) {
		t.Errorf("a new database after Fence: got %d and %v, want no number", got, err)
	}
	r.want(t, "after Fence, the second first", two, 6, functions.Config{})
	r.want(t, "after Fence", one, 7, functions.Config{})

	// Without Fence no database gets the number of another one either.
	r.restore(t)
	r.want(t, "without Fence, the second first", two, 6, functions.Config{})
	r.want(t, "without Fence", one, 7, functions.Config{})
	r.want(t, "a new database", fresh(), 5, functions.Config{})

	// Too late: somebody else got the number.
	r.restore(t)
	seven := uint64(7)
	lease, err := sqlsnow.Acquire(t.Context(), r.db, target.Dialect, sqlsnow.LeaseConfig{Namespace: namespace, Worker: &seven})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.install(t, one, functions.Config{}); !errors.As(err, &held) || held.Until.IsZero() {
		t.Errorf("with a number that was leased: got %d and %v", got, err)
	}
	r.do(t, func() error { return lease.Close(t.Context()) })
	r.want(t, "a new database before the second", fresh(), 6, functions.Config{})
	if got, err := r.install(t, two, functions.Config{}); !errors.As(err, &held) || !held.Until.IsZero() {
		t.Errorf("with a number that another database got: got %d and %v", got, err)
	}
	for want, db := range map[uint64]*sql.DB{5: one} {
		if got, err := functions.Renumber(t.Context(), db, target.Dialect, functions.Config{Namespace: namespace, Leases: r.db}); err != nil || got != want {
			t.Errorf("Renumber: got %d and %v, want %d", got, err, want)
		}
	}

	// The namespace is made anew.
	exec(t, r.db, "DELETE FROM snow_workers", "DELETE FROM snow_namespaces")
	r.init(t, namespace)
	r.fence(t)
	if got, err := r.install(t, one, functions.Config{}); !errors.As(err, &field) || field.Field != "Namespace" {
		t.Errorf("in a namespace that was made anew, without Move: got %d and %v", got, err)
	}
	r.want(t, "made anew, the second first", two, 6, functions.Config{Move: true})
	r.want(t, "made anew", one, 5, functions.Config{Move: true})
	r.want(t, "made anew, again", one, 5, functions.Config{})

	// A namespace of another name has other numbers.
	r.init(t, "other")
	cfg := functions.Config{Namespace: "other", Leases: r.db}
	for name, do := range map[string]func() (uint64, error){
		"Install":  func() (uint64, error) { return functions.Install(t.Context(), one, target.Dialect, cfg) },
		"Renumber": func() (uint64, error) { return functions.Renumber(t.Context(), one, target.Dialect, cfg) },
	} {
		if got, err := do(); !errors.As(err, &field) || field.Field != "Namespace" {
			t.Errorf("%s in another namespace: got %d and %v", name, got, err)
		}
	}
	cfg.Move = true
	if got, err := functions.Install(t.Context(), one, target.Dialect, cfg); err != nil || got != 7 {
		t.Errorf("moved: got %d and %v, want 7", got, err)
	}
	var worker uint64
	if err := one.QueryRowContext(t.Context(), "SELECT snow_worker(snow_next_id())").Scan(&worker); err != nil || worker != 7 {
		t.Errorf("moved: got an id of %d, and %v", worker, err)
	}
}
