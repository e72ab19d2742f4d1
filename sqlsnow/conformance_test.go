//go:build unix

package sqlsnow_test

import (
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
	"github.com/shardsnow/snow/sqlsnow/sqlsnowtest"
)

// A replica has read_only set, and its applications are no administrators.
func TestReadOnlyMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t, "read_only=0") // of its own, for it is about to be set
	dsn := server.DSN(server.CreateDatabase(t))
	root := openMariaDB(t, dsn)
	ctx, ns := t.Context(), sqlsnow.Namespace{Name: "orders", Layout: snow.Default(), Workers: 2}
	if err := errors.Join(sqlsnow.Migrate(ctx, root, sqlsnow.MySQL), sqlsnow.Init(ctx, root, sqlsnow.MySQL, ns)); err != nil {
		t.Fatal(err)
	}
	quiet := sqlsnow.LeaseConfig{Namespace: "orders", Logger: slog.New(slog.DiscardHandler)}
	lease, err := sqlsnow.Acquire(ctx, root, sqlsnow.MySQL, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Close(ctx)
	for _, statement := range []string{
		"CREATE USER app@'%' IDENTIFIED BY 'app'", "GRANT SELECT, INSERT, UPDATE, CREATE ON *.* TO app@'%'", "SET GLOBAL read_only = 1",
	} {
		if _, err := root.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	app := openMariaDB(t, "app:app@"+dsn[strings.LastIndexByte(dsn, '@')+1:])
	_, acquireErr := sqlsnow.Acquire(ctx, app, sqlsnow.MySQL, quiet)
	ns.Name = "other"
	for call, err := range map[string]error{
		"Init":    sqlsnow.Init(ctx, app, sqlsnow.MySQL, ns),
		"Fence":   sqlsnow.Fence(ctx, app, sqlsnow.MySQL, "orders"),
		"Acquire": acquireErr,
	} {
		if !errors.Is(err, sqlsnow.ErrReadOnly) {
			t.Errorf("%s: got %v, want %v", call, err, sqlsnow.ErrReadOnly)
		}
	}
	if workers, err := sqlsnow.Workers(ctx, app, sqlsnow.MySQL, "orders"); err != nil || len(workers) != 2 {
		t.Errorf("Workers: got %v and %v, want 2 workers", workers, err)
	}
}

func TestMariaDBThatForgets(t *testing.T) {
	for setting, loss := range map[string]time.Duration{
		"innodb_flush_log_at_trx_commit=2": 5 * time.Second,
		"innodb_flush_log_at_trx_commit=0": 5 * time.Second,
		"innodb_flush_method=nosync":       -1, // with none
	} {
		t.Run(setting, func(t *testing.T) {
			server := dbtest.MariaDB(t, setting)
			db := openMariaDB(t, server.DSN(server.CreateDatabase(t)))
			if err := sqlsnow.Migrate(t.Context(), db, sqlsnow.MySQL); err != nil {
				t.Fatal(err)
			}
			ns := sqlsnow.Namespace{Name: "orders", Layout: snow.Default(), Workers: 2}
			if err := sqlsnow.Init(t.Context(), db, sqlsnow.MySQL, ns); !errors.Is(err, sqlsnow.ErrNotDurable) {
				t.Errorf("Init without a LossWindow: got %v, want %v", err, sqlsnow.ErrNotDurable)
			}
			if ns.LossWindow = loss; loss < 0 {
				ns.LossWindow = time.Minute
				if err := sqlsnow.Init(t.Context(), db, sqlsnow.MySQL, ns); !errors.Is(err, sqlsnow.ErrNotDurable) {
					t.Errorf("Init with a LossWindow: got %v, want %v", err, sqlsnow.ErrNotDurable)
				}
				_, err := segments.Open(t.Context(), []*sql.DB{db}, sqlsnow.MySQL, segments.Config{Tag: "orders", Logger: quiet.Logger})
				if !errors.Is(err, sqlsnow.ErrNotDurable) {
					t.Errorf("segments.Open: got %v, want %v", err, sqlsnow.ErrNotDurable)
				}
				return
			}
			if err := sqlsnow.Init(t.Context(), db, sqlsnow.MySQL, ns); err != nil {
				t.Errorf("Init with a LossWindow of %v: %v", loss, err)
			}
		})
	}
}

func openMariaDB(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestLeasesOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	sqlsnowtest.Run(t, sqlsnow.MySQL, func(t *testing.T) sqlsnowtest.Database {
		dsn := server.DSN(server.CreateDatabase(t))
		open := func(parameters string) func(*testing.T) *sql.DB {
			return func(t *testing.T) *sql.DB { return openMariaDB(t, dsn+parameters) }
		}
		return sqlsnowtest.Database{
			Open:       open(""),
			ReadOnly:   open("&" + server.Variable("tx_read_only") + "=1"),
			NotDurable: open("&autocommit=0"), // nobody would commit
			Sessions: map[string]func(*testing.T) *sql.DB{
				"found-rows":   open("&clientFoundRows=true"),
				"interpolated": open("&interpolateParams=true"),
				"kolkata":      open("&time_zone=%27%2B05:30%27&loc=Asia%2FKolkata"),
				"serializable": open("&" + server.Variable("tx_isolation") + "=%27SERIALIZABLE%27"),
				"sloppy":       open("&sql_mode=%27%27"),
				"few-rows":     open("&sql_select_limit=1"),
				"chained":      open("&completion_type=CHAIN"),
				"ansi":         open("&sql_mode=%27ANSI,TRADITIONAL%27"),
			},
		}
	})
}
