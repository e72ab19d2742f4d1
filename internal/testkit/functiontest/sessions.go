//go:build unix

package functiontest

import (
	"database/sql"
	"database/sql/driver"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/sqlsnow"
)

// testSessions makes ids in sessions with settings that change what time, numbers and locks mean.
func testSessions(t *testing.T, target Target) {
	server := target.server(t)
	db := target.open(t, server, server.CreateDatabase(t))
	target.prepare(t, db, snow.DefaultLayout())
	db.SetMaxOpenConns(4)
	made, batch := newLedger(), 0
	settings := []string{
		"SET time_zone = '+05:30'", "SET timestamp = 2147483000", "SET timestamp = 1700000000", "SET timestamp = DEFAULT", "SET sql_mode = ''",
		"SET sql_mode = 'ANSI,TRADITIONAL'", "SET auto_increment_increment = 10", "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
		"SET sql_select_limit = 1", "SET completion_type = CHAIN", "SET last_insert_id = 7",
		"SET NAMES latin1", "SET collation_connection = utf8mb4_bin", "SET autocommit = 0",
	}
	if target.Dialect == sqlsnow.Postgres {
		settings = []string{
			"SET TimeZone = 'Asia/Kolkata'", "SET default_transaction_isolation = serializable", "SET synchronous_commit = off",
			"SET search_path = pg_catalog", "SET plpgsql.extra_errors = 'all'", "SET standard_conforming_strings = on",
		}
	}
	for _, setting := range settings {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.ExecContext(t.Context(), setting); err != nil {
			t.Fatalf("%s: %v", setting, err)
		}
		for range 20 {
			id, err := one(t, conn, target)
			if err != nil {
				t.Errorf("%s: %v", setting, err)
				break
			}
			made.add(t, setting, id)
			if at := snow.DefaultLayout().Time(id); time.Since(at).Abs() > time.Minute {
				t.Errorf("%s: got an id of %v", setting, at)
			}
		}
		discard(conn)
	}
	mustInsert(t, db, made, "usual", &batch, 4)
	if target.Dialect == sqlsnow.MySQL {
		target.disturb(t, db, made)
	}
}

// disturb sets what the counter and its variables rely on. Calls then fail, or make ids of now that nobody else made.
func (target Target) disturb(t *testing.T, db *sql.DB, made *ledger) {
	for _, setting := range []string{
		"SET insert_id = 5", "SET insert_id = 0", "SET @snow_id_word = NULL", "SET @snow_id_word = 1", "SET @snow_id_word = 9223372036854775806",
		"SET @snow_id_word = 9223372036854775807", "SET @snow_id_word = 'x'", "SET @snow_id_session = NULL",
	} {
		for range 2 { // sessions, which must not make the same id
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := one(t, conn, target); err != nil && setting != "SET insert_id = 5" {
					break // as long as the session goes on
				}
				if _, err := conn.ExecContext(t.Context(), setting); err != nil {
					t.Fatal(err)
				}
				id, err := one(t, conn, target)
				if err != nil {
					continue
				}
				made.add(t, setting, id)
				if at := snow.DefaultLayout().Time(id); time.Since(at).Abs() > time.Minute || setting == "SET insert_id = 5" {
					t.Errorf("%s: got an id of %v", setting, at)
				}
			}
			discard(conn)
		}
	}
}

// discard closes a connection, with its settings.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = conn.Close()
}

func one(t *testing.T, conn *sql.Conn, target Target) (id snow.ID, err error) {
	name := "snow_next_id()"
	if target.Dialect == sqlsnow.Postgres {
		name = "public.snow_next_id()"
	}
	err = conn.QueryRowContext(t.Context(), "SELECT "+name).Scan(&id)
	return id, err
}

// testDefaults gets the id of a row from its INSERT, where servers can return it. In MySQL and MariaDB a default
// can't call a function.
func testDefaults(t *testing.T, target Target) {
	server := target.server(t)
	db := target.open(t, server, server.CreateDatabase(t))
	target.prepare(t, db, snow.DefaultLayout())
	var version string
	if err := db.QueryRowContext(t.Context(), "SELECT version()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	if target.Dialect == sqlsnow.MySQL {
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE orders (id BIGINT NOT NULL DEFAULT (snow_next_id()) PRIMARY KEY, total INT)"); err == nil {
			t.Error("a default can call a function: tell so in docs/sql.md")
		}
	}
	if target.Dialect == sqlsnow.Postgres || strings.Contains(version, "MariaDB") {
		var returned, stored snow.ID
		if err := db.QueryRowContext(t.Context(), "INSERT INTO made (batch) VALUES (1) RETURNING id").Scan(&returned); err != nil {
			t.Fatal(err)
		}
		if err := db.QueryRowContext(t.Context(), "SELECT id FROM made").Scan(&stored); err != nil || stored != returned || stored == 0 {
			t.Errorf("the row has %d and %v, returned was %d", stored, err, returned)
		}
	}
	exec(t, db, "INSERT INTO made (id, batch) VALUES (5, 2)") // an id that the caller made
	var given int
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM made WHERE id = 5").Scan(&given); err != nil || given != 1 {
		t.Errorf("got %d rows with the given id and %v, want 1", given, err)
	}
}

// testRate measures rows a second of one session and of 16, with ids of the database and with its own counter.
func testRate(t *testing.T, target Target) {
	server := target.server(t)
	db := target.open(t, server, server.CreateDatabase(t))
	target.prepare(t, db, snow.DefaultLayout())
	if target.Dialect == sqlsnow.MySQL {
		exec(t, db, "CREATE TABLE counted (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, batch INT NOT NULL)")
	} else {
		exec(t, db, "CREATE TABLE counted (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, batch int NOT NULL)")
	}
	for _, sessions := range []int{1, 16} {
		db.SetMaxOpenConns(sessions)
		db.SetMaxIdleConns(sessions)
		for _, rows := range []int{1, 100} {
			for _, table := range []string{"made", "counted"} {
				statement := "INSERT INTO " + table + " (batch) VALUES (0)"
				for range rows - 1 {
					statement += ", (0)"
				}
				var all sync.WaitGroup
				n := testscale.Of(400, 4000) / sessions / max(1, rows/5)
				start := time.Now()
				for range sessions {
					all.Go(func() {
						for range n {
							if _, err := db.ExecContext(t.Context(), statement); err != nil {
								t.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
				t.Logf("%-7s %2d sessions, %3d rows a statement: %6.0f rows/s", table, sessions, rows, float64(n*rows*sessions)/time.Since(start).Seconds())
			}
		}
	}
	var got, want int
	if err := db.QueryRowContext(t.Context(), "SELECT (SELECT COUNT(*) FROM made), (SELECT COUNT(*) FROM counted)").Scan(&got, &want); err != nil || got != want {
		t.Errorf("got %d rows and %v, want %d", got, err, want)
	}
}
