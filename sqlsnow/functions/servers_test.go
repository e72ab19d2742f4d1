//go:build unix

package functions_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/contractdb"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/functions"
)

// A server on which ids could be made twice, or differ on replicas, is refused before anything is changed.
func TestRefusedServers(t *testing.T) {
	type refused struct {
		start   func(*testing.T) *dbtest.Server
		setting string
	}
	tests := map[string]refused{
		"Statements": {func(t *testing.T) *dbtest.Server {
			return dbtest.MariaDB(t, "log-bin=binlog", "server-id=1", "binlog-format=STATEMENT")
		}, "binlog_format = STATEMENT"},
		"Galera": {func(t *testing.T) *dbtest.Server { return dbtest.Galera(t, 1)[0] }, "wsrep_on = ON"},
	}
	if os.Getenv("SNOW_MYSQL_SERVER") == "mysql" { // make test-servers has the programs of MySQL
		tests["SeveralPrimaries"] = refused{func(t *testing.T) *dbtest.Server {
			return dbtest.Group(t, 1, "loose-group-replication-single-primary-mode=OFF")[0]
		}, "group_replication_single_primary_mode = OFF"}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := test.start(t)
			db := contractdb.Open(t, "mysql", server.DSN(server.CreateDatabase(t)))
			for what, do := range map[string]func() error{
				"Install": func() error {
					_, err := functions.Install(t.Context(), db, sqlsnow.MySQL, functions.Config{Namespace: "orders"})
					return err
				},
				"Renumber": func() error {
					_, err := functions.Renumber(t.Context(), db, sqlsnow.MySQL, functions.Config{Namespace: "orders"})
					return err
				},
			} {
				var field *snow.FieldError
				if err := do(); !errors.As(err, &field) || field.Field != "server" || !strings.Contains(err.Error(), test.setting) {
					t.Errorf("%s: got %v, want an error for the field \"server\" that names %s", what, err, test.setting)
				}
			}
			var tables int
			if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()").Scan(&tables); err != nil || tables != 0 {
				t.Errorf("got %d tables and %v, want none", tables, err)
			}
		})
	}
}
