//go:build unix

package numbertest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/numbers"
)

// A Target is a database of one product.
type Target struct {
	Dialect sqlsnow.Dialect
	Driver  string
	DSN     func(*testing.T) string // of an empty database
	Session string                  // the query of a session's own number; empty if sessions can't be killed
	Others  string                  // the query of the numbers of all other sessions
	Kill    string                  // kills the session of a number
}

// open returns a database with the tables.
func (g Target) open(t *testing.T) (db *sql.DB, dsn string) {
	t.Helper()
	dsn = g.DSN(t)
	db, err := sql.Open(g.Driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := sqlsnow.Migrate(t.Context(), db, g.Dialect); err != nil {
		t.Fatal(err)
	}
	execute(t, db, "CREATE TABLE invoices (number VARCHAR(100) NOT NULL PRIMARY KEY)")
	return db, dsn
}

func execute(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

var invoices = numbers.Config{Series: "invoices", Pattern: "{shop}/{yyyy}-{000000}{luhn}", Restart: numbers.Yearly, Zone: "Asia/Shanghai"}

func (g Target) openGapFree(t *testing.T, db *sql.DB, cfg numbers.Config) *numbers.GapFree {
	t.Helper()
	s, err := numbers.OpenGapFree(t.Context(), db, g.Dialect, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// store stores a row with a number in a transaction of its own. finish ends the transaction.
func (g Target) store(ctx context.Context, db *sql.DB, s *numbers.GapFree, shop string, finish func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	number, err := s.Take(ctx, tx, shop)
	if err != nil {
		return err
	}
	insert := "INSERT INTO invoices (number) VALUES (" + g.Dialect.Placeholder(1) + ")"
	if _, err := tx.ExecContext(ctx, insert, number); err != nil {
		return fmt.Errorf("store %s: %w", number, err)
	}
	return finish(tx)
}

func commit(tx *sql.Tx) error { return tx.Commit() }

// stored returns the numbers of the rows, by date and partitions.
func stored(t *testing.T, db *sql.DB, p numbers.Pattern) map[string][]int64 {
	t.Helper()
	rows, err := db.QueryContext(context.WithoutCancel(t.Context()), "SELECT number FROM invoices")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[string][]int64{}
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		add(t, all, p, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func add(t *testing.T, all map[string][]int64, p numbers.Pattern, text string) {
	t.Helper()
	n, err := p.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	key := fmt.Sprint(n.Date, n.Partitions)
	all[key] = append(all[key], n.Number)
}

// wantDense checks that the rows have the numbers 1 to n in each series, and returns how many rows there are.
func wantDense(t *testing.T, db *sql.DB, p numbers.Pattern) (rows int) {
	t.Helper()
	for key, got := range stored(t, db, p) {
		slices.Sort(got)
		for i, n := range got {
			if n != int64(i)+1 {
				t.Errorf("%s: place %d of %d has the number %d", key, i+1, len(got), n)
				break
			}
		}
		rows += len(got)
	}
	return rows
}

var (
	takers = 64
	kills  = func() int {
		if os.Getenv("SNOW_MYSQL_SERVER") == "mysql" { // make test-long has no MySQL
			return 200
		}
		return testscale.Of(10, 200)
	}
	errEnd = errors.New("rolled back by the test")
)
