package contractdb

import (
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// An Elsewhere is two schemas with the same tables, and what leads a session of the one to other tables.
type Elsewhere struct {
	Dialect sqlsnow.Dialect
	Open    func(*testing.T) *sql.DB // a new handle of the first schema
	Tenant  *sql.DB                  // the second schema; nil without Moves
	Moves   [][]string               // statements that change the schema of a session to the second one
	Hide    string                   // makes a temporary table that hides the table {table}
	Drop    string                   // ends it
	Hides   bool                     // even if a statement names the schema
	Forgets []Forgetful
}

// A Forgetful makes a table forget what it confirms.
type Forgetful struct {
	Table      string
	Make, Undo []string
	Want       string // how errors call the table
}

// Run checks that a connection which leads to other tables neither gives a number nor ends a lease, and that tables
// that forget are refused.
func (e Elsewhere) Run(t *testing.T) {
	home := e.Open(t)
	for _, db := range []*sql.DB{home, e.Tenant} {
		if db == nil {
			continue
		}
		for call, err := range e.calls(t, db) {
			if err != nil {
				t.Fatalf("%s: %v", call, err)
			}
		}
	}
	before := e.written(t, e.Tenant)
	for _, move := range e.Moves {
		db := e.pair(t)
		both(t, db, move...)
		for call, err := range e.calls(t, db) {
			if !isElsewhere(err) || !strings.Contains(err.Error(), "give sqlsnow a *sql.DB of its own") {
				t.Errorf("%s after %q: got %v, want a DatabaseError with Elsewhere", call, move, err)
			}
		}
		if err := sqlsnow.Fence(t.Context(), db, e.Dialect, "orders"); !isElsewhere(err) {
			t.Errorf("Fence after %q: got %v, want a DatabaseError with Elsewhere", move, err)
		}
		db.SetMaxOpenConns(4) // other connections have the schema of the DSN
		for call, err := range e.calls(t, db) {
			if err != nil {
				t.Errorf("%s beside a connection after %q: %v", call, move, err)
			}
		}
		e.moved(t, move)
	}
	if after := e.written(t, e.Tenant); after != before {
		t.Errorf("the rows of the other schema are %s, and were %s", after, before)
	}
	e.hidden(t)
	e.replaced(t, home)
	for _, f := range e.Forgets {
		execute(t, home, f.Make...)
		for call, err := range e.calls(t, e.Open(t)) {
			concerned := strings.HasPrefix(call, "segments.") == (f.Table == "snow_segments") && call != "Migrate"
			if concerned != (errors.Is(err, sqlsnow.ErrNotDurable) && strings.Contains(err.Error(), f.Table+" is "+f.Want)) {
				t.Errorf("%s after %q: got %v", call, f.Make, err)
			}
		}
		execute(t, home, f.Undo...)
	}
}

// calls makes each call that writes, and closes what it opened.
func (e Elsewhere) calls(t *testing.T, db *sql.DB) map[string]error {
	t.Helper()
	ctx, all := t.Context(), map[string]error{}
	all["Migrate"] = sqlsnow.Migrate(ctx, db, e.Dialect)
	all["Init"] = sqlsnow.Init(ctx, db, e.Dialect, sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout(), Workers: 16})
	lease, err := sqlsnow.Acquire(ctx, db, e.Dialect, leases)
	if all["Acquire"] = err; err == nil {
		all["Close"] = lease.Close(ctx)
	}
	_, all["Reserve"] = sqlsnow.Reserve(ctx, db, e.Dialect, "orders", "a holder")
	numbers, err := segments.Open(ctx, []*sql.DB{db}, e.Dialect, dense)
	if err == nil {
		err = numbers.Close(ctx)
	}
	all["segments.Open"] = err
	all["segments.Raise"] = segments.Raise(ctx, db, e.Dialect, "orders", 1)
	return all
}

var (
	leases = sqlsnow.LeaseConfig{Namespace: "orders", Logger: slog.New(slog.DiscardHandler)}
	dense  = segments.Config{Tag: "orders", Step: 1, MaxStep: 1, Logger: leases.Logger}
)

// moved changes the schema of the connection of a lease beside the one that segments keep: both go on where they were.
func (e Elsewhere) moved(t *testing.T, move []string) {
	t.Helper()
	ctx, db := t.Context(), e.pair(t)
	lease, err := sqlsnow.Acquire(ctx, db, e.Dialect, leases)
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := segments.Open(ctx, []*sql.DB{db}, e.Dialect, dense)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, db, move...)
	if err := errors.Join(lease.Renew(ctx), lease.Renew(ctx)); err != nil || lease.Stats().Renewals < 2 || lease.Stats().Swaps != 0 {
		t.Errorf("Renew after %q: got %v and %+v", move, err, lease.Stats())
	}
	for range 8 { // most of them need another block
		if _, err := numbers.Next(ctx); err != nil {
			t.Errorf("Next after %q: %v", move, err)
		}
	}
	if err := errors.Join(lease.Close(ctx), numbers.Close(ctx)); err != nil {
		t.Errorf("Close after %q: %v", move, err)
	}
}

// hidden puts temporary tables in the place of others.
func (e Elsewhere) hidden(t *testing.T) {
	t.Helper()
	ctx, db := t.Context(), e.pair(t)
	lease, err := sqlsnow.Acquire(ctx, db, e.Dialect, leases)
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Close(ctx)
	for _, table := range []string{"snow_workers", "snow_namespaces", "snow_segments"} {
		name := strings.NewReplacer("{table}", table)
		both(t, db, name.Replace(e.Hide))
		before := e.written(t, e.Open(t))
		err := lease.Renew(ctx)
		numbers, opened := segments.Open(ctx, []*sql.DB{db}, e.Dialect, dense)
		if opened == nil {
			opened = numbers.Close(ctx)
		}
		after := e.written(t, e.Open(t))
		ofLease, ofSegments := table != "snow_segments" && e.Hides, table == "snow_segments" && e.Hides
		if isElsewhere(err) != ofLease || isElsewhere(opened) != ofSegments || !ofLease && err != nil || !ofSegments && opened != nil || before == after {
			t.Errorf("with a temporary %s: Renew: %v, segments.Open: %v, rows %s after %s", table, err, opened, after, before)
		}
		both(t, db, name.Replace(e.Drop))
	}
	if err := lease.Renew(ctx); err != nil || lease.Stats().Swaps != 0 {
		t.Errorf("Renew without temporary tables: %v and %+v", err, lease.Stats())
	}
}

// replaced puts another registry in the place of a lease's for a while.
func (e Elsewhere) replaced(t *testing.T, home *sql.DB) {
	t.Helper()
	ctx := t.Context()
	lease, err := sqlsnow.Acquire(ctx, e.Open(t), e.Dialect, leases)
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Close(ctx)
	var uuid string
	if err := home.QueryRowContext(ctx, "SELECT registry_uuid FROM snow_namespaces").Scan(&uuid); err != nil {
		t.Fatal(err)
	}
	is := func(uuid string) { execute(t, home, "UPDATE snow_namespaces SET registry_uuid = '"+uuid+"'") }
	is(strings.Repeat("0", 36))
	before := e.written(t, home)
	if err := lease.Renew(ctx); !isElsewhere(err) || lease.Err() != nil || e.written(t, home) != before {
		t.Errorf("Renew in another registry: got %v, the lease has ended with %v, rows %s after %s", err, lease.Err(), e.written(t, home), before)
	}
	is(uuid)
	err = lease.Renew(ctx)
	if err != nil { // the lease's own renewal may have begun in the other registry and ended in this one
		err = lease.Renew(ctx)
	}
	if err != nil || lease.Stats().Swaps != 0 {
		t.Errorf("Renew in its registry again: %v and %+v", err, lease.Stats())
	}
}

// written returns what changes with each write.
func (e Elsewhere) written(t *testing.T, db *sql.DB) (text string) {
	t.Helper()
	if db == nil {
		return ""
	}
	for _, column := range []string{"SUM(renew_seq) FROM snow_workers", "SUM(takes) FROM snow_segments"} {
		var n string
		if err := db.QueryRowContext(t.Context(), "SELECT "+column).Scan(&n); err != nil {
			t.Fatal(err)
		}
		text += n + " "
	}
	return text
}

// pair returns a handle of two connections, the fewest that segments accept.
func (e Elsewhere) pair(t *testing.T) *sql.DB {
	db := e.Open(t)
	db.SetMaxOpenConns(2)
	db.SetMaxIdleConns(2)
	return db
}

// both executes statements on each of the two connections.
func both(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for range 2 {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, s := range statements {
			if _, err := conn.ExecContext(t.Context(), s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	}
}

func isElsewhere(err error) bool {
	var failed *sqlsnow.DatabaseError
	return errors.As(err, &failed) && failed.Elsewhere
}

func execute(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}
