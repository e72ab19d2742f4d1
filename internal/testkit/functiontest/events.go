//go:build unix

package functiontest

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/functions"
)

// testCrash kills the server again and again.
func testCrash(t *testing.T, target Target) {
	server := target.server(t, target.private()...)
	name := server.CreateDatabase(t)
	made, batch := newLedger(), 0
	target.prepare(t, target.open(t, server, name), coarse(t))
	for round := range 3 {
		db := target.open(t, server, name)
		mustInsert(t, db, made, fmt.Sprint("start ", round), &batch, 12)
		held, err := db.BeginTx(t.Context(), nil) // a transaction that never ends
		if err != nil {
			t.Fatal(err)
		}
		var id snow.ID
		if err := held.QueryRowContext(t.Context(), "SELECT snow_next_id()").Scan(&id); err != nil {
			t.Fatal(err)
		}
		made.add(t, "open transaction", id)
		if round < 2 {
			server.Kill(t)
		} else {
			server.Shutdown(t) // PostgreSQL keeps unlogged sequences
		}
		_ = held.Rollback()
		server.Restart(t)
		target.beginsLater(t, target.open(t, server, name), made)
	}
}

// beginsLater makes the first id after a start, which is more than a second later than the clock showed: another
// server may have made ids since, and its clock may be a second ahead.
func (target Target) beginsLater(t *testing.T, db *sql.DB, made *ledger) {
	t.Helper()
	clock := "SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)"
	if target.Dialect == sqlsnow.Postgres {
		clock = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)"
	}
	var us int64
	if err := db.QueryRowContext(t.Context(), clock).Scan(&us); err != nil {
		t.Fatal(err)
	}
	var id snow.ID
	if err := db.QueryRowContext(t.Context(), "SELECT snow_next_id()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	made.add(t, "first", id)
	if at, least := coarse(t).Time(id), time.UnixMicro(us).Add(time.Second); !at.After(least) {
		t.Errorf("the first id after a start is of %v, want after %v", at.UTC(), least.UTC())
	}
}

// private are options that make the server one of the test's own.
func (target Target) private() []string {
	if target.Dialect == sqlsnow.MySQL {
		return []string{"server-id=1"}
	}
	return []string{"max_connections=60"}
}

// testLostHistory puts a server back to an earlier state, three times to the same one.
func testLostHistory(t *testing.T, target Target) {
	server := target.server(t, target.private()...)
	name := server.CreateDatabase(t)
	made, batch := newLedger(), 0
	db := target.open(t, server, name)
	target.prepare(t, db, coarse(t))
	mustInsert(t, db, made, "kept", &batch, 6)
	server.Keep(t)
	for round := range 3 {
		mustInsert(t, target.open(t, server, name), made, fmt.Sprint("lost ", round), &batch, 12)
		server.PutBack(t)
	}
	mustInsert(t, target.open(t, server, name), made, "last", &batch, 12)
}

// testFailover promotes a replica that lacks what the primary did last, and whose clock is a second behind.
func testFailover(t *testing.T, target Target) {
	t.Run("later", func(t *testing.T) { target.failOver(t, true) })
	t.Run("at once", func(t *testing.T) { target.failOver(t, false) })
}

// failOver is testFailover, with or without a checkpoint of the replica since Install.
func (target Target) failOver(t *testing.T, checkpoint bool) {
	var primary, replica *dbtest.Server
	if target.Dialect == sqlsnow.MySQL {
		primary = target.server(t, "server-id=1", "log-bin=binlog")
		replica = target.server(t, "server-id=2", "log-bin=binlog", "read-only=1")
		replica.SetClock(t, -time.Second)
		replica.Follow(t, primary)
	} else {
		primary = target.server(t, target.private()...)
		replica = primary.Replica(t)
		replica.SetClock(t, -time.Second)
	}
	name := primary.CreateDatabase(t)
	db := target.open(t, primary, name)
	target.prepare(t, db, coarse(t))
	made, batch := newLedger(), 0
	mustInsert(t, db, made, "replicated", &batch, 12)
	if checkpoint && target.Dialect == sqlsnow.Postgres {
		exec(t, db, "CHECKPOINT")
		replica.CatchUp(t, primary)
		exec(t, target.open(t, replica, name), "CHECKPOINT")
	}
	replica.CatchUp(t, primary)
	if ids, err := insert(t.Context(), target.open(t, replica, name), -1, 1, true); err == nil {
		t.Errorf("the replica made %d", ids)
	}
	replica.Unfollow(t)
	mustInsert(t, db, made, "lost", &batch, 24)
	primary.Kill(t)
	replica.Promote(t)
	promoted := target.open(t, replica, name)
	if !checkpoint { // see the counters of PostgreSQL
		if _, err := functions.Install(t.Context(), promoted, target.Dialect, functions.Config{Namespace: namespace}); err != nil {
			t.Fatal(err)
		}
	}
	mustInsert(t, promoted, made, "promoted", &batch, 24)
	// What the replica did is lost, too, and the clock of the first one is behind the replica's.
	replica.Kill(t)
	primary.SetClock(t, -1900*time.Millisecond)
	primary.Restart(t)
	mustInsert(t, target.open(t, primary, name), made, "the first one again", &batch, 24)
}

// testClockSetBack sets the clock back by little, which is waited for, and by an hour, which is an error, also
// after a start.
func testClockSetBack(t *testing.T, target Target) {
	server := target.server(t, target.private()...)
	server.SetClock(t, 0)
	name := server.CreateDatabase(t)
	db := target.open(t, server, name)
	target.prepare(t, db, snow.DefaultLayout())
	made, batch := newLedger(), 0
	mustInsert(t, db, made, "before", &batch, 4)
	server.SetClock(t, -2*time.Second)
	mustInsert(t, db, made, "2 s behind", &batch, 4)
	for _, restart := range []bool{false, true} {
		server.SetClock(t, -time.Hour)
		if restart {
			server.Restart(t)
			db = target.open(t, server, name)
		}
		for _, one := range []*sql.DB{db, target.open(t, server, name)} {
			if ids, err := insert(t.Context(), one, -1, 1, false); err == nil || !strings.Contains(err.Error(), "behind the ids") {
				t.Errorf("an hour behind, restart %v: got %d and %v, want an error", restart, ids, err)
			}
		}
	}
	server.SetClock(t, 0)
	mustInsert(t, db, made, "after", &batch, 4)
	target.setBackInside(t, server, name)
	server.SetClock(t, 0)
	mustInsert(t, target.open(t, server, name), made, "at last", &batch, 4)
}

// setBackInside sets the clock back while a call waits, which then fails. In PostgreSQL it waits for the clock,
// until somebody cancels it.
func (target Target) setBackInside(t *testing.T, server *dbtest.Server, name string) {
	server.Restart(t) // so the first call waits
	db := target.open(t, server, name)
	want := "behind the ids"
	if target.Dialect == sqlsnow.Postgres {
		want = "57014"
	}
	var id snow.ID
	err := target.asleep(t, db, func() {
		server.SetClock(t, -time.Hour)
		if target.Dialect == sqlsnow.Postgres {
			exec(t, db, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
		}
	}, func() error { return db.QueryRowContext(t.Context(), "SELECT snow_next_id()").Scan(&id) })
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("set back while the call waits: got %d and %v, want %q", id, err, want)
	}
}

// asleep calls do while a statement sleeps, and returns what call returns, which executes it.
func (target Target) asleep(t *testing.T, db *sql.DB, do func(), call func() error) error {
	t.Helper()
	watch := "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User sleep'"
	if target.Dialect == sqlsnow.Postgres {
		watch = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
	}
	result := make(chan error, 1)
	go func() { result <- call() }()
	for n := 0; n == 0; {
		if err := db.QueryRowContext(t.Context(), watch).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if len(result) > 0 {
			t.Fatalf("the statement did not sleep: %v", <-result)
		}
	}
	do()
	return <-result
}

// testSummerTime makes ids in one statement of MySQL or MariaDB while summer time ends, in the server's own time zone.
func testSummerTime(t *testing.T, target Target) {
	t.Setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
	server := target.server(t, target.private()...)
	end := time.Date(time.Now().Year()-1, 10, 31, 1, 0, 0, 0, time.UTC)
	end = end.AddDate(0, 0, -int(end.Weekday()))
	server.SetClock(t, time.Until(end)-30*time.Minute)
	name := server.CreateDatabase(t)
	db := target.open(t, server, name)
	target.prepare(t, db, snow.DefaultLayout())
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer discard(conn)
	for _, statement := range []string{"SET time_zone = SYSTEM", "DO snow_next_id()"} {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	var first, second snow.ID
	var nothing any
	if err := target.asleep(t, db, func() { server.SetClock(t, time.Until(end)) }, func() error {
		return conn.QueryRowContext(t.Context(), "SELECT snow_next_id(), SLEEP(3), snow_next_id()").Scan(&first, &nothing, &second)
	}); err != nil {
		t.Fatal(err)
	}
	if from, to := snow.DefaultLayout().Time(first), snow.DefaultLayout().Time(second); !from.Before(end) || to.Before(end) {
		t.Errorf("got ids of %v and %v, want one before and one after %v", from, to, end)
	}
}
