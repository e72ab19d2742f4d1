//go:build unix

package lease_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestOpenPostgres(t *testing.T) {
	t.Parallel()
	server := dbtest.Postgres(t, "max_connections=300")
	openFifty(t, migration{dialect: sqlsnow.Postgres, driver: "pgx", dsn: server.DSN(server.CreateDatabase(t))})
}

func TestOpenSQLite(t *testing.T) {
	t.Parallel()
	file := "file:" + filepath.Join(t.TempDir(), "snow.db")
	openFifty(t, migration{dialect: sqlsnow.SQLite, driver: "sqlite3", dsn: file + "?_pragma=busy_timeout(600000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)"})
}

// openFifty starts fifty processes at the same time on an empty database.
func openFifty(t *testing.T, m migration) {
	t.Helper()
	const processes, each = 50, 100
	ns := sqlsnow.Namespace{Name: "shop", Layout: snow.DefaultLayout(), Workers: 100}
	start := make(chan struct{})
	var mu sync.Mutex
	workers, ids := make(map[uint64]bool), make(map[snow.ID]bool)
	var wg sync.WaitGroup
	for range processes {
		db := m.open(t, "")
		if err := db.PingContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			<-start
			keys, lease, err := sqlsnow.Open(t.Context(), db, m.dialect, ns, sqlsnow.LeaseConfig{Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() {
				if err := lease.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
			made := make([]snow.ID, each)
			if err := keys.Fill(t.Context(), made); err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			workers[lease.Stats().Worker] = true
			for _, id := range made {
				ids[id] = true
			}
		})
	}
	close(start)
	wg.Wait()
	if len(workers) != processes || len(ids) != processes*each {
		t.Errorf("%d processes have %d worker numbers, and %d of their %d ids are different", processes, len(workers), len(ids), processes*each)
	}
	db := m.open(t, "")
	if got := list(t, db, "SELECT name FROM snow_migrations ORDER BY version"); len(got) != len(released) {
		t.Errorf("snow_migrations: got %q, want %q", got, released)
	}
	if got := list(t, db, "SELECT namespace FROM snow_namespaces"); len(got) != 1 || got[0] != ns.Name {
		t.Errorf("namespaces: got %q, want %q", got, ns.Name)
	}
}
