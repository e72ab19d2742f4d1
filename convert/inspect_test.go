//go:build unix

package convert_test

import (
	"bytes"
	"database/sql"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/shardsnow/snow/convert"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

// open makes a database on a server, and runs statements in it.
func open(t *testing.T, driver string, server *dbtest.Server, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, server.DSN(server.CreateDatabase(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return db
}

func TestInspectPlainTables(t *testing.T) {
	for _, test := range []struct {
		driver     string
		dialect    sqlsnow.Dialect
		server     func() *dbtest.Server
		statements []string
	}{
		{"mysql", sqlsnow.MySQL, func() *dbtest.Server { return dbtest.SharedMariaDB(t) }, []string{
			"CREATE TABLE users (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20))",
			"CREATE TABLE orders (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, user_id INT UNSIGNED NOT NULL, CONSTRAINT orders_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE)",
			"CREATE TABLE big (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY)",
			"CREATE TABLE words (word VARCHAR(20) NOT NULL PRIMARY KEY)",
		}},
		{"pgx", sqlsnow.Postgres, func() *dbtest.Server { return dbtest.Postgres(t) }, []string{
			"CREATE TABLE users (id serial PRIMARY KEY, name text)",
			"CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id int NOT NULL, CONSTRAINT orders_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE)",
			"CREATE TABLE big (id bigserial PRIMARY KEY)",
			"CREATE TABLE words (word text NOT NULL PRIMARY KEY)",
		}},
	} {
		t.Run(test.driver, func(t *testing.T) {
			db := open(t, test.driver, test.server(), test.statements...)
			p, err := convert.Inspect(t.Context(), test.dialect, db, convert.InspectConfig{})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Check(); err != nil {
				t.Error(err)
			}
			var b bytes.Buffer
			if err := p.WriteYAML(&b); err != nil {
				t.Fatal(err)
			}
			t.Log(b.String())
			if _, err := plan.Read(&b); err != nil {
				t.Error(err)
			}
		})
	}
}
