package count

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// snowID is the first of the snow ids of these tests.
const snowID = int64(380000000000000000)

// serve starts a server with a binary log of rows.
func serve(tb testing.TB, options ...string) *dbtest.Server {
	tb.Helper()
	return dbtest.MariaDB(tb, append([]string{"log-bin=binlog", "server-id=1", "binlog-format=ROW", "innodb-lock-wait-timeout=5", "log-bin-trust-function-creators=1"}, options...)...)
}

func openDatabase(tb testing.TB, server *dbtest.Server, statements ...string) *sql.DB {
	tb.Helper()
	return openAt(tb, server.DSN(server.CreateDatabase(tb)), statements...)
}

func openAt(tb testing.TB, dsn string, statements ...string) *sql.DB {
	tb.Helper()
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	config.Logger = &mysql.NopLogger{} // sessions are killed here
	connector, err := mysql.NewConnector(config)
	if err != nil {
		tb.Fatal(err)
	}
	db := sql.OpenDB(connector)
	tb.Cleanup(func() { _ = db.Close() })
	must(tb, db, statements...)
	return db
}

// openAs opens the database for another account, with the password "secret". MySQL wants TLS for it, and MariaDB has
// none.
func openAs(tb testing.TB, server *dbtest.Server, user, database string) *sql.DB {
	tb.Helper()
	return openAt(tb, user+":secret@tcp("+server.Addr()+")/"+database+"?tls=preferred")
}

func connect(tb testing.TB, db *sql.DB) *sql.Conn {
	tb.Helper()
	c, err := db.Conn(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

type execer interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

func must(tb testing.TB, db execer, statements ...string) {
	tb.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(tb.Context(), s); err != nil {
			tb.Fatalf("%s: %v", s, err)
		}
	}
}

type queryer interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

// column returns the first column of a query, as texts.
func column(tb testing.TB, db queryer, query string, args ...any) (all []string) {
	tb.Helper()
	rows, err := db.QueryContext(tb.Context(), query, args...)
	if err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var s sql.NullString
		if err := rows.Scan(&s); err != nil {
			tb.Fatal(err)
		}
		all = append(all, s.String)
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return all
}

func joined(tb testing.TB, db queryer, query string, args ...any) string {
	tb.Helper()
	return strings.Join(column(tb, db, query, args...), " ")
}

// counting is a plan that counts one table.
func planOf(tables ...*plan.Table) *plan.Plan {
	return &plan.Plan{Version: 1, Dialect: "MySQL", Tables: tables}
}

func counted1(name string, block int) *plan.Table {
	return &plan.Table{Name: name, Key: "id", PrimaryKey: []string{"id"}, Counter: autoIncrement, Block: block}
}

// do does steps, each twice, because a step may have been killed at its end.
func do(tb testing.TB, db *sql.DB, steps []job.Step) {
	tb.Helper()
	r := &job.Run{DB: db}
	for _, s := range steps {
		for range 2 {
			if err := s.Do(tb.Context(), r); err != nil {
				tb.Fatalf("%s: %v", s.Name, err)
			}
		}
		if err := s.Verify(tb.Context(), r); err != nil {
			tb.Fatalf("verify %s: %v", s.Name, err)
		}
	}
}

func undo(tb testing.TB, db *sql.DB, steps []job.Step) {
	tb.Helper()
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i].Undo == nil {
			continue
		}
		for range 2 {
			if err := steps[i].Undo(tb.Context(), &job.Run{DB: db}); err != nil {
				tb.Fatalf("undo %s: %v", steps[i].Name, err)
			}
		}
	}
}

// insert inserts, and returns the id in the reply. It checks that LAST_INSERT_ID() is the same.
func insert(tb testing.TB, c *sql.Conn, statement string) int64 {
	tb.Helper()
	result, err := c.ExecContext(tb.Context(), statement)
	if err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
	id, err := result.LastInsertId()
	if err != nil {
		tb.Fatal(err)
	}
	if last := joined(tb, c, "SELECT LAST_INSERT_ID()"); last != fmt.Sprint(id) && id < snowID {
		tb.Errorf("%s: the reply has id %d, LAST_INSERT_ID() is %s", statement, id, last)
	}
	return id
}

// allSteps are the steps of phase Count.
func allSteps(p *plan.Plan) []job.Step { return slices.Concat(Prepare(p), Steps(p)) }
