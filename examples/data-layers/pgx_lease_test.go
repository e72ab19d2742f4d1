//go:build unix

package datalayers

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

// A lease with a *sql.DB of its own is renewed while the application holds all
// connections of its pool, and one with a *sql.DB of that pool is not.
func TestPgxLease(t *testing.T) {
	ctx, server := t.Context(), dbtest.Postgres(t)
	config, err := pgxpool.ParseConfig(server.DSN(server.CreateDatabase(t)))
	check(t, err)
	config.MaxConns = 2
	pool, err := pgxpool.NewWithConfig(ctx, config)
	check(t, err)
	t.Cleanup(pool.Close)
	ns := sqlsnow.Namespace{Name: "shop", Layout: snow.DefaultLayout()}

	db := stdlib.OpenDB(*config.ConnConfig)
	db.SetMaxOpenConns(2)
	keys, lease, err := sqlsnow.Open(ctx, db, sqlsnow.Postgres, ns, sqlsnow.LeaseConfig{})

	check(t, err)
	t.Cleanup(func() { check(t, db.Close()) })
	t.Cleanup(func() { check(t, lease.Close(context.WithoutCancel(ctx))) })
	shared := stdlib.OpenDBFromPool(pool)
	t.Cleanup(func() { check(t, shared.Close()) })
	_, second, err := sqlsnow.Open(ctx, shared, sqlsnow.Postgres, ns, sqlsnow.LeaseConfig{})
	check(t, err)
	t.Cleanup(func() { check(t, second.Close(context.WithoutCancel(ctx))) })

	for range config.MaxConns {
		conn, err := pool.Acquire(ctx)
		check(t, err)
		t.Cleanup(conn.Release)
	}
	check(t, lease.Renew(ctx))
	if _, err := keys.Next(ctx); err != nil {
		t.Error(err)
	}
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	if err := second.Renew(short); err == nil {
		t.Error("a pool that is used up has a connection for the lease: the page warns of nothing")
	}
}
