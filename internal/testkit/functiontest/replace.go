//go:build unix

package functiontest

import (
	"database/sql"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/functions"
)

// testReplaced installs where functions or tables are missing or can't be used, and where they can't be created.
func testReplaced(t *testing.T, target Target) {
	options := target.private()
	if target.Dialect == sqlsnow.MySQL {
		options = append(options, "log-bin=binlog")
	}
	server := target.server(t, options...)
	name := server.CreateDatabase(t)
	db := target.open(t, server, name)
	worker := target.prepare(t, db, snow.DefaultLayout())
	made, batch := newLedger(), 0
	install := func(what string, want uint64) {
		t.Helper()
		if got, err := functions.Install(t.Context(), db, target.Dialect, functions.Config{Namespace: namespace}); err != nil || got != want {
			t.Errorf("%s: got %d and %v, want %d", what, got, err, want)
		}
		mustInsert(t, db, made, what, &batch, 2)
	}
	if target.Dialect == sqlsnow.MySQL {
		target.dropDefiner(t, db, name, server.DSN(name), install, worker)
		target.forbid(t, db, target.open(t, server, server.CreateDatabase(t)), made, &batch)
		exec(t, db, "DROP FUNCTION snow_next_id", "DROP FUNCTION snow_time")
		install("dumped without functions", worker)
	}
	target.renumberBesides(t, db, made)
	exec(t, db, "DROP TABLE snow_id_holders")
	install("dumped without tables", worker-3)
}

// dropDefiner drops the account that created the functions.
func (target Target) dropDefiner(t *testing.T, db *sql.DB, name, dsn string, install func(string, uint64), worker uint64) {
	exec(t, db, "CREATE USER deployer@'%' IDENTIFIED BY 'secret'", "GRANT ALL ON `"+name+"`.* TO deployer@'%'", "DROP FUNCTION snow_next_id")
	deployer, err := sql.Open(target.Driver, regexp.MustCompile(`^[^:]*:[^@]*@`).ReplaceAllString(dsn, "deployer:secret@"))
	if err != nil {
		t.Fatal(err)
	}
	defer deployer.Close()
	if got, err := functions.Install(t.Context(), deployer, target.Dialect, functions.Config{Namespace: namespace}); err != nil || got != worker {
		t.Fatalf("by another account: got %d and %v, want %d", got, err, worker)
	}
	exec(t, db, "DROP USER deployer@'%'")
	install("whose definer was dropped", worker)
}

// forbid has the server refuse functions. Neither a number nor a function is lost.
func (target Target) forbid(t *testing.T, db, elsewhere *sql.DB, made *ledger, batch *int) {
	exec(t, db, "SET GLOBAL log_bin_trust_function_creators = 0")
	defer exec(t, db, "SET GLOBAL log_bin_trust_function_creators = 1")
	reserved := func() (n int) {
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM snow_workers WHERE state = 3").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := reserved()
	for range 2 {
		for _, do := range []func() (uint64, error){
			func() (uint64, error) {
				return functions.Renumber(t.Context(), db, target.Dialect, functions.Config{Namespace: namespace})
			},
			func() (uint64, error) {
				return functions.Install(t.Context(), elsewhere, target.Dialect, functions.Config{Namespace: namespace, Leases: db})
			},
		} {
			failed := new(sqlsnow.DatabaseError)
			if got, err := do(); !errors.As(err, &failed) || failed.Code != "1418" && failed.Code != "1419" {
				t.Errorf("got %d and %v, want an error of the server", got, err)
			}
		}
	}
	if after := reserved(); after != before {
		t.Errorf("%d numbers are reserved, want %d as before", after, before)
	}
	mustInsert(t, db, made, "after a Renumber that failed", batch, 2)
}

// renumberBesides renumbers twice while sessions make ids. Only MySQL can't replace a function without calls that fail.
func (target Target) renumberBesides(t *testing.T, db *sql.DB, made *ledger) {
	var version string
	if err := db.QueryRowContext(t.Context(), "SELECT version()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	mayFail := target.Dialect == sqlsnow.MySQL && !strings.Contains(version, "MariaDB")
	done := make(chan struct{})
	var sessions sync.WaitGroup
	for range 4 {
		sessions.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				var id snow.ID
				err := db.QueryRowContext(t.Context(), "SELECT snow_next_id()").Scan(&id)
				if err == nil {
					made.add(t, "a session", id)
				} else if !mayFail || !strings.Contains(err.Error(), "Error 1305 ") { // FUNCTION … does not exist
					t.Errorf("while it is renumbered: %v", err)
					return
				}
			}
		})
	}
	for range 2 {
		if _, err := functions.Renumber(t.Context(), db, target.Dialect, functions.Config{Namespace: namespace}); err != nil {
			t.Error(err)
		}
	}
	close(done)
	sessions.Wait()
}
