//go:build unix

package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A run that ends while a renewal waits for the database gives the lease back, although the driver ends the
// connection of a statement that is cancelled.
func TestReleaseAfterCancelledRenewal(t *testing.T) {
	db, s, open := leased(t)
	_, lease, err := TakeLease(t.Context(), s, open, "first", "a", time.Hour)
	if err != nil {
		t.Fatal(err)
	}

	var renewing int64
	if err := lease.s.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&renewing); err != nil {
		t.Fatal(err)
	}
	before, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var held int64
	if err := before.QueryRowContext(t.Context(), "SELECT fence FROM snow_merge_lease WHERE id = 1 FOR UPDATE").Scan(&held); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	renewed := make(chan error)
	go func() { renewed <- lease.extend(ctx) }()
	for waits := 0; waits == 0; {
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.processlist WHERE id = ? AND info LIKE 'UPDATE%'", renewing).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-renewed; err != nil {
		t.Errorf("the lease is lost: %v", err)
	}
	if err := before.Rollback(); err != nil {
		t.Fatal(err)
	}
	lease.Release()

	_, next, err := TakeLease(t.Context(), s, open, "second", "b", time.Hour)
	if err != nil {
		t.Fatalf("the next run: %v", err)
	}
	next.Release()
}

// A lease whose session the server ended is given back on another connection, but not if somebody else has it now.
func TestReleaseOnAnotherConnection(t *testing.T) {
	for _, overtaken := range []bool{false, true} {
		db, s, open := leased(t)
		_, lease, err := TakeLease(t.Context(), s, open, "first", "a", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		var other *Lease
		if overtaken {
			if _, err := db.ExecContext(t.Context(), "UPDATE snow_merge_lease SET until_us = 0"); err != nil {
				t.Fatal(err)
			}
			if _, other, err = TakeLease(t.Context(), s, open, "second", "b", time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		var renewing int64
		if err := lease.s.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&renewing); err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), fmt.Sprint("KILL CONNECTION ", renewing)); err != nil {
			t.Fatal(err)
		}
		lease.Release()

		_, next, err := TakeLease(t.Context(), s, open, "third", "c", time.Hour)
		if held := new(report.RunningError); errors.As(err, &held) != overtaken || overtaken && held.Holder != "b" || !overtaken && err != nil {
			t.Errorf("overtaken %v: the next run: %v", overtaken, err)
		}
		for _, l := range []*Lease{other, next} {
			if l != nil {
				l.Release()
			}
		}
	}
}

// leased returns a database with a ledger, a session of it, and what opens more.
func leased(t *testing.T) (*sql.DB, *chunk.Session, func(context.Context) (*chunk.Session, error)) {
	t.Helper()
	server := dbtest.SharedMariaDB(t)
	db, err := sql.Open("mysql", server.DSN(server.CreateDatabase(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	e, err := dialect.Of(sqlsnow.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	open := func(ctx context.Context) (*chunk.Session, error) { return chunk.OpenSession(ctx, e, db, e.Target) }
	s, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := Of(s).Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db, s, open
}
