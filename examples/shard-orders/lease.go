package main

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/url"
	"path/filepath"

	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

const namespace = "shop"

// A maker makes the keys of one process, with a worker number that is leased
// from the registry.
type maker struct {
	*snow.Generator
	lease *sqlsnow.Lease
	pool  *sql.DB
}

// sqliteDSN returns a DSN for a database that several processes use: writers wait
// for their turn, and commits are durable.
func sqliteDSN(file string) string {
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(file), RawQuery: url.Values{
		"_txlock": {"immediate"}, // a transaction that becomes a writer halfway can't wait for its turn
		"_pragma": {"busy_timeout(10000)", "journal_mode(wal)", "synchronous(full)", "foreign_keys(on)"},
	}.Encode()}
	return dsn.String()
}

// makeRegistry creates the database of the leases. In production it is a database
// that all processes can reach, such as the shop's.
func makeRegistry(ctx context.Context, file string, layout snow.Layout) error {
	pool, err := sql.Open("sqlite3", sqliteDSN(file))
	if err != nil {
		return err
	}
	err = sqlsnow.Migrate(ctx, pool, sqlsnow.SQLite)
	if err == nil {
		err = sqlsnow.Init(ctx, pool, sqlsnow.SQLite, sqlsnow.Namespace{Name: namespace, Layout: layout})
	}
	return errors.Join(err, pool.Close())
}

// newMaker leases a worker number.
func newMaker(ctx context.Context, registry string) (*maker, error) {
	pool, err := sql.Open("sqlite3", sqliteDSN(registry))
	if err != nil {
		return nil, err
	}
	lease, err := sqlsnow.Acquire(ctx, pool, sqlsnow.SQLite, sqlsnow.LeaseConfig{
		Namespace: namespace,
		Logger:    slog.New(slog.DiscardHandler), // errors are returned as well
	})
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	m := &maker{lease: lease, pool: pool}
	if m.Generator, err = snow.NewGenerator(lease, snow.Config{}); err != nil {
		return nil, errors.Join(err, m.close(ctx))
	}
	return m, nil
}

// newKey makes the key of an order, which carries the shard of its buyer.
func (m *maker) newKey(ctx context.Context, buyer string) (snow.ID, error) {
	id, err := m.Next(ctx)
	if err != nil {
		return 0, err
	}
	return m.Layout().WithShard(id, shardOf(buyer))
}

// close hands the number back, so that another process can lease it at once.
func (m *maker) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return errors.Join(m.lease.Close(ctx), m.pool.Close())
}
