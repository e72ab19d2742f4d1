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
	"github.com/shardsnow/snow/internal/testkit/contractdb"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
	"github.com/shardsnow/snow/sqlsnow/sqlsnowtest"
)

// A replica has read_only set, and its applications are no administrators.
func TestReadOnlyMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t, "read_only=0") // a server of its own, because the test sets read_only
	dsn := server.DSN(server.CreateDatabase(t))
	root := contractdb.Open(t, "mysql", dsn)
	ctx, ns := t.Context(), sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout(), Workers: 2}
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
	app := contractdb.Open(t, "mysql", "app:app@"+dsn[strings.LastIndexByte(dsn, '@')+1:])
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
			db := contractdb.Open(t, "mysql", server.DSN(server.CreateDatabase(t)))
			if err := sqlsnow.Migrate(t.Context(), db, sqlsnow.MySQL); err != nil {
				t.Fatal(err)
			}
			ns := sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout(), Workers: 2}
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

func TestLeasesOnMariaDB(t *testing.T) {
	sqlsnowtest.Run(t, sqlsnow.MySQL, contractdb.MariaDB(dbtest.MariaDB(t)))
}
