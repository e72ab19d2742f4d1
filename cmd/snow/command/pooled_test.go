//go:build unix

package command

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/mysqlpooler"
)

// A command that only reads leaves nothing behind in the one connection to the server that it shares with an
// application, whose writes go on.
func TestBehindPooler(t *testing.T) {
	for _, product := range []string{"mysql", "postgres"} {
		t.Run(product, func(t *testing.T) {
			var direct, pooled, left string
			if product == "mysql" {
				server := dbtest.MariaDB(t)
				direct = server.DSN(server.CreateDatabase(t))
				pooled = mysqlpooler.Start(t, direct, 1)
				left = "SELECT GROUP_CONCAT(s.variable_name, ' is ', s.variable_value) FROM information_schema.session_variables s" +
					" JOIN information_schema.global_variables g ON g.variable_name = s.variable_name AND g.variable_value <> s.variable_value" +
					" WHERE s.variable_name IN ('TX_READ_ONLY', 'TX_ISOLATION', 'SQL_MODE', 'TIME_ZONE', 'AUTOCOMMIT')"
			} else {
				server := dbtest.Postgres(t)
				name := server.CreateDatabase(t)
				direct, pooled = server.DSN(name), server.Pooled(t, name, 1)+"&default_query_exec_mode=exec"
				left = "SELECT string_agg(name || ' is ' || setting, ', ') FROM pg_settings WHERE source = 'session'"
			}
			open := func(dsn string) *sql.DB {
				t.Setenv("SNOW_DSN", dsn)
				db, _, err := database.Open(t.Context(), "--dsn", "env:SNOW_DSN", product, database.Existing, 10e9)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = db.Close() })
				return db
			}
			db := open(direct)
			for _, line := range []string{"migrate", "init --namespace shop --workers 4"} {
				if got := execute(t, append(strings.Fields(line), "--dialect", product)...); got.status != 0 {
					t.Fatalf("%s: %s", line, got.stderr)
				}
			}
			if _, err := db.ExecContext(t.Context(), "CREATE TABLE orders (id BIGINT PRIMARY KEY)"); err != nil {
				t.Fatal(err)
			}
			plan := filepath.Join(t.TempDir(), "plan.yaml")
			t.Setenv("SNOW_DSN", pooled)
			for i, line := range []string{
				"workers --namespace shop", "audit", "release --namespace shop --worker 1", "segments show", "id show --namespace shop 175928847299117063",
				"merge inspect --source s=env:SNOW_DSN --plan " + plan,
			} {
				if got := execute(t, append(strings.Fields(line), "--dialect", product)...); got.status != 0 {
					t.Errorf("%s: exit status %d: %s", line, got.status, got.stderr)
				}
				application := open(pooled)
				if _, err := application.ExecContext(t.Context(), "INSERT INTO orders VALUES "+[]string{"(1)", "(2)", "(3)", "(4)", "(5)", "(6)"}[i]); err != nil {
					t.Errorf("after %s: %v", line, err)
				}
				var found sql.NullString
				if err := application.QueryRowContext(t.Context(), left).Scan(&found); err != nil || found.Valid {
					t.Errorf("after %s: the connection has %s, %v", line, found.String, err)
				}
				_ = application.Close()
			}
		})
	}
}
