//go:build unix

package sqlsnow_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/contractdb"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

// A narrow connector is of connections that know no statements in IF, as behind some proxies.
type narrow struct {
	driver.Connector
	refused *atomic.Int64
}

func (n narrow) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := n.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return narrowConn{conn, n.refused}, nil
}

type narrowConn struct {
	driver.Conn
	refused *atomic.Int64
}

func (c narrowConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if strings.HasPrefix(query, "IF ") {
		c.refused.Add(1)
		return nil, &mysql.MySQLError{Number: 1064, Message: "a proxy does not know this"}
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c narrowConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

// Where MariaDB's statements in IF are not known, a session is checked with several statements, and a temporary table
// is found all the same. With sql_mode=ORACLE they are known.
func TestSessionsWithoutIf(t *testing.T) {
	server := dbtest.MariaDB(t)
	if strings.HasPrefix(server.Product(t), "MySQL ") {
		t.Skip("only MariaDB is asked with IF")
	}
	dsn := server.DSN(server.CreateDatabase(t))
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var refused atomic.Int64
	without := sql.OpenDB(narrow{connector, &refused})
	t.Cleanup(func() { without.Close() })
	for what, db := range map[string]*sql.DB{"without IF": without, "Oracle": contractdb.Open(t, "mysql", dsn+"&sql_mode=%27ORACLE%27")} {
		db.SetMaxOpenConns(1)
		ns := sqlsnow.Namespace{Name: what, Layout: snow.DefaultLayout(), Workers: 4}
		ns.Name = strings.ReplaceAll(what, " ", "-")
		if err := errors.Join(sqlsnow.Migrate(t.Context(), db, sqlsnow.MySQL), sqlsnow.Init(t.Context(), db, sqlsnow.MySQL, ns)); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		lease, err := sqlsnow.Acquire(t.Context(), db, sqlsnow.MySQL, quietly(ns.Name))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if err := lease.Renew(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		for _, table := range []string{"snow_workers", "snow_namespaces"} {
			exec(t, db, "CREATE TEMPORARY TABLE "+table+" AS SELECT * FROM "+table)
			var failed *sqlsnow.DatabaseError
			if err := lease.Renew(t.Context()); !errors.As(err, &failed) || !failed.Elsewhere {
				t.Errorf("%s: with a temporary table %s: got %v, want a DatabaseError with Elsewhere", what, table, err)
			}
			exec(t, db, "DROP TEMPORARY TABLE "+table)
		}
		exec(t, db, "START TRANSACTION")
		var failed *sqlsnow.DatabaseError
		if err := lease.Renew(t.Context()); !errors.As(err, &failed) || !failed.InTransaction {
			t.Errorf("%s: got %v, want a DatabaseError with InTransaction", what, err)
		}
		exec(t, db, "ROLLBACK")
		if err := errors.Join(lease.Renew(t.Context()), lease.Close(t.Context())); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if refused.Load() == 0 {
		t.Error("no statement in IF was sent")
	}
}
