// Package store has the stores of worker numbers: databases, and a file for each kind of cluster.
package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"fmt"
	"os"
	"time"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/cmd/snow/internal/service"
	"github.com/shardsnow/snow/lease"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Store keeps worker numbers: a database, or a cluster that the scheme of the DSN names.
type Store interface {
	Product() string
	Host() string // for the page; empty for a database, which tells it
	Init(ctx context.Context, ns lease.Namespace) error
	service.Numbers // with Close
	Fence(ctx context.Context, namespace string) error
}

// Clock returns the time that the times of workers are compared with.
func Clock(ctx context.Context, store Store) (time.Time, error) {
	now, err := store.Clock(ctx)
	if err == nil && now.IsZero() { // the store has none
		now = time.Now()
	}
	return now, err
}

// A place is the host of a Store.
type place string

// Host implements Store.
func (p place) Host() string { return string(p) }

// clusters has the Store of each scheme. A new kind of cluster is a file with a function, and a line here.
var clusters = map[string]func(c *database.Cluster, timeout time.Duration) (Store, error){
	"etcd":      openEtcd,
	"zookeeper": openZooKeeper,
}

// clusterTLS returns how to encrypt the connections to a cluster, or nil for not at all.
func clusterTLS(c *database.Cluster) (*tls.Config, error) {
	if !c.TLS {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CA != "" {
		text, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("ca: %q has no certificate as PEM", c.CA)
		}
	}
	if c.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return nil, fmt.Errorf("cert: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// Open opens the store that a DSN names.
func Open(ctx context.Context, at *database.Location, access database.Access, timeout time.Duration) (Store, error) {
	if at.Cluster == nil {
		db, err := at.Open(ctx, access, timeout)
		if err != nil {
			return nil, err
		}
		return &Database{db, at.Dialect}, nil
	}
	open, ok := clusters[at.Cluster.Scheme]
	if !ok {
		return nil, fmt.Errorf("%s is not known", at.Cluster.Scheme)
	}
	return open(at.Cluster, timeout)
}

// A Database is a database that answers.
type Database struct {
	*sql.DB
	Dialect sqlsnow.Dialect
}

// Product implements Store.
func (db *Database) Product() string { return db.Dialect.String() }

// Host implements Store.
func (db *Database) Host() string { return "" }

// Init implements Store.
func (db *Database) Init(ctx context.Context, ns lease.Namespace) error {
	return sqlsnow.Init(ctx, db.DB, db.Dialect, ns)
}

// Namespaces implements page.Store.
func (db *Database) Namespaces(ctx context.Context, names ...string) ([]lease.Namespace, error) {
	return sqlsnow.Namespaces(ctx, db.DB, db.Dialect, names...)
}

// Clock implements page.Store.
func (db *Database) Clock(ctx context.Context) (time.Time, error) {
	return sqlsnow.Clock(ctx, db.DB, db.Dialect)
}

// Workers implements page.Store.
func (db *Database) Workers(ctx context.Context, namespace string) ([]lease.WorkerInfo, error) {
	return sqlsnow.Workers(ctx, db.DB, db.Dialect, namespace)
}

// Fence implements Store.
func (db *Database) Fence(ctx context.Context, namespace string) error {
	return sqlsnow.Fence(ctx, db.DB, db.Dialect, namespace)
}

// Acquire implements service.Numbers.
func (db *Database) Acquire(ctx context.Context, cfg lease.Config) (*lease.Lease, error) {
	return sqlsnow.Acquire(ctx, db.DB, db.Dialect, cfg)
}
