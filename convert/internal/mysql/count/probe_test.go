package count

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// TestRefused: servers that can't do it are refused before anything is created.
func TestRefused(t *testing.T) {
	probed := func(t *testing.T, db *sql.DB) {
		t.Helper()
		var refused *report.CountError
		if err := allSteps(planOf(counted1("orders", 10)))[0].Do(t.Context(), &job.Run{DB: db}); !errors.As(err, &refused) {
			t.Errorf("the probe ends with %v", err)
		}
		if left := joined(t, db, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE 'snow_convert%' AND TABLE_NAME <> ?", leftTable); left != "" {
			t.Errorf("left: %s", left)
		}
	}
	t.Run("statements in the log", func(t *testing.T) {
		probed(t, openDatabase(t, dbtest.MariaDB(t, "log-bin=binlog", "server-id=1", "binlog-format=STATEMENT"), ordersTable))
	})
	t.Run("no right to create triggers", func(t *testing.T) {
		server := serve(t, "log-bin-trust-function-creators=0")
		database := server.CreateDatabase(t)
		must(t, openAt(t, server.DSN(database), ordersTable), "CREATE USER owner IDENTIFIED BY 'secret'", "GRANT ALL ON "+database+".* TO owner", "REVOKE TRIGGER ON "+database+".* FROM owner")
		probed(t, openAs(t, server, "owner", database))
	})
	t.Run("a cluster", func(t *testing.T) {
		probed(t, openDatabase(t, dbtest.Named(t, "galera"), ordersTable))
	})
	t.Run("counter among snow ids", func(t *testing.T) {
		db := openDatabase(t, serve(t), ordersTable, "INSERT INTO orders (id) VALUES (380000000000000000)")
		var refused *report.CountError
		if err := allSteps(planOf(counted1("orders", 10)))[2].Do(t.Context(), &job.Run{DB: db}); !errors.As(err, &refused) || refused.Table != "orders" {
			t.Errorf("the step ends with %v", err)
		}
	})
}
