//go:build unix

package sqlsnow_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/contractdb"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// On a cluster each process may use a node of its own: writes that clash are tried again, and no id is made twice.
// A node without a quorum reports that.
func TestGalera(t *testing.T) {
	servers := dbtest.Galera(t, 3)
	name := servers[0].CreateDatabase(t)
	nodes := make([]*sql.DB, len(servers))
	for i, server := range servers {
		admin := contractdb.Open(t, "mysql", server.DSN(""))
		for answer(t, admin, "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = '"+name+"'") != "1" && t.Context().Err() == nil {
		}
		nodes[i] = contractdb.Open(t, "mysql", server.DSN(name))
	}
	ctx, ns := t.Context(), sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout(), Workers: 16}
	each := func(what string, f func(i int, db *sql.DB) error) {
		t.Helper()
		start := make(chan struct{})
		var all sync.WaitGroup
		for i, db := range nodes {
			all.Go(func() {
				<-start
				if err := f(i, db); err != nil {
					t.Errorf("%s at node %d: %v", what, i, err)
				}
			})
		}
		close(start)
		all.Wait()
	}
	each("Migrate", func(_ int, db *sql.DB) error { return sqlsnow.Migrate(ctx, db, sqlsnow.MySQL) })
	each("Init", func(_ int, db *sql.DB) error { return sqlsnow.Init(ctx, db, sqlsnow.MySQL, ns) })
	if t.Failed() {
		t.FailNow()
	}
	var mu sync.Mutex
	made := map[snow.ID]bool{}
	add := func(kind string, id snow.ID) {
		mu.Lock()
		defer mu.Unlock()
		if made[id] {
			t.Errorf("%s: id %d was made twice", kind, id)
		}
		made[id] = true
	}
	each("leases", func(_ int, db *sql.DB) error {
		for range 5 {
			lease, err := sqlsnow.Acquire(ctx, db, sqlsnow.MySQL, quietly("orders"))
			if err != nil {
				return err
			}
			keys, err := snow.NewGenerator(lease, snow.Config{})
			if err != nil {
				return err
			}
			for range 100 {
				id, err := keys.Next(ctx)
				if err != nil {
					return err
				}
				add("lease", id)
			}
			if err := errors.Join(lease.Renew(ctx), lease.Close(ctx)); err != nil {
				return err
			}
		}
		return nil
	})
	clear(made)
	each("segments", func(_ int, db *sql.DB) error {
		s, err := segments.Open(ctx, []*sql.DB{db}, sqlsnow.MySQL, segments.Config{Tag: "orders", Step: 10, MaxStep: 10, Logger: quiet.Logger})
		if err != nil {
			return err
		}
		defer s.Close(ctx)
		for range 500 {
			id, err := s.Next(ctx)
			for errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil { // of the request: the machine is busy
				time.Sleep(10 * time.Millisecond) // until it asks again
				id, err = s.Next(ctx)
			}
			if err != nil {
				return err
			}
			add("segments", id)
		}
		return nil
	})
	exec(t, nodes[2], "SET GLOBAL wsrep_cluster_address = ''") // it leaves
	const want = "not in the primary component"
	for {
		lease, err := sqlsnow.Acquire(ctx, nodes[2], sqlsnow.MySQL, quietly("orders"))
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("Acquire at a node that is alone: got %v, want %q", err, want)
			}
			break
		}
		lease.Close(ctx)
	}
}
