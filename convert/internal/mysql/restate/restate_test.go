//go:build unix

package restate_test

import (
	"database/sql"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/convert/internal/mysql/restate"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// A prepared statement meets a new trigger of a table that has triggers already.
func TestPreparedStatements(t *testing.T) {
	t.Parallel()
	server := dbtest.MariaDB(t)
	db, err := sql.Open("mysql", server.DSN(server.CreateDatabase(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, comment := range []string{"''", "'snow convert'", `'it''s \\ here'`} {
		session, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		exec := func(statements ...string) {
			t.Helper()
			for _, s := range statements {
				if _, err := session.ExecContext(t.Context(), s); err != nil {
					t.Fatalf("%s: %v", s, err)
				}
			}
		}
		exec("DROP TABLE IF EXISTS orders, first, second", "CREATE TABLE orders (id INT AUTO_INCREMENT PRIMARY KEY, note TEXT)", "CREATE TABLE first (id INT)",
			"CREATE TABLE second (id INT)", "CREATE TRIGGER a AFTER INSERT ON orders FOR EACH ROW INSERT INTO first VALUES (NEW.id)")
		exec("ALTER TABLE orders COMMENT " + comment)
		var before string
		const ask = "SELECT table_comment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'orders'"
		if err := session.QueryRowContext(t.Context(), ask).Scan(&before); err != nil {
			t.Fatal(err)
		}
		program, err := db.PrepareContext(t.Context(), "INSERT INTO orders (note) VALUES (?)")
		if err != nil {
			t.Fatal(err)
		}
		defer program.Close()
		if _, err := program.ExecContext(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		exec("LOCK TABLES orders WRITE", "CREATE TRIGGER b AFTER INSERT ON orders FOR EACH ROW INSERT INTO second VALUES (NEW.id)")
		if err := restate.Table(t.Context(), session, "orders"); err != nil {
			t.Fatal(err)
		}
		exec("UNLOCK TABLES")
		if _, err := program.ExecContext(t.Context(), "x"); err != nil {
			t.Errorf("comment %q: %v", before, err)
		}
		var after string
		var fired int
		if err := session.QueryRowContext(t.Context(), ask).Scan(&after); err != nil || after != before {
			t.Errorf("the comment is %q, %v, want %q", after, err, before)
		}
		if err := session.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM second").Scan(&fired); err != nil || fired != 1 {
			t.Errorf("the trigger fired %d times, %v", fired, err)
		}
	}
}
