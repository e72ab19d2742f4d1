//go:build unix

package lease_test

import (
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/contractdb"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// Behind a pooler in transaction mode the driver's prepared statements clash, and the error says what to do. In the
// modes that the error names, leases and segments work as without a pooler.
func TestPgBouncer(t *testing.T) {
	server := dbtest.Postgres(t)
	name := server.CreateDatabase(t)
	direct := contractdb.Open(t, "pgx", server.DSN(name))
	defer direct.Close()
	ctx := t.Context()
	ns := sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout(), Workers: 16}
	if err := errors.Join(sqlsnow.Migrate(ctx, direct, sqlsnow.Postgres), sqlsnow.Init(ctx, direct, sqlsnow.Postgres, ns)); err != nil {
		t.Fatal(err)
	}
	dsn := server.Pooled(t, name, 1)
	silent := slog.New(slog.DiscardHandler)
	live := func(parameters string) error {
		db := contractdb.Open(t, "pgx", dsn+parameters)
		defer db.Close()
		err := sqlsnow.Init(ctx, db, sqlsnow.Postgres, ns)
		if err != nil {
			return err
		}
		lease, err := sqlsnow.Acquire(ctx, db, sqlsnow.Postgres, sqlsnow.LeaseConfig{Namespace: "orders", Logger: silent})
		if err != nil {
			return err
		}
		numbers, err := segments.Open(ctx, []*sql.DB{db}, sqlsnow.Postgres, segments.Config{Tag: "orders", Logger: silent})
		if err == nil {
			_, err = numbers.Next(ctx)
			err = errors.Join(err, numbers.Close(ctx))
		}
		return errors.Join(err, lease.Renew(ctx), lease.Close(ctx))
	}
	for _, mode := range []string{"cache_describe", "exec", "simple_protocol"} {
		for range 3 {
			if err := live("&default_query_exec_mode=" + mode); err != nil {
				t.Errorf("%s: %v", mode, err)
			}
		}
	}
	var failed *sqlsnow.DatabaseError
	err := errors.Join(live(""), live("")) // the second meets the statements that the first has prepared
	if !errors.As(err, &failed) || failed.Code != "42P05" || !strings.Contains(err.Error(), "cache_describe") {
		t.Errorf("in the usual mode: got %v, want code 42P05 with what to do", err)
	}
}
