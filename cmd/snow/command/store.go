package command

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/cmd/snow/internal/service"
	"github.com/shardsnow/snow/lease"
	"github.com/shardsnow/snow/sqlsnow"
)

// A numberStore keeps worker numbers: a database, or a cluster that the scheme of the DSN names.
type numberStore interface {
	product() string
	host() string // for the page; empty for a database, which tells it
	init(ctx context.Context, ns lease.Namespace) error
	service.Numbers // with Close
	fence(ctx context.Context, namespace string) error
}

// clockOf returns the time that the times of workers are compared with.
func clockOf(ctx context.Context, store numberStore) (time.Time, error) {
	now, err := store.Clock(ctx)
	if err == nil && now.IsZero() { // the store has none
		now = time.Now()
	}
	return now, err
}

// A place is the host of a numberStore.
type place string

func (p place) host() string { return string(p) }

// clusters has the numberStore of each scheme. A new kind of cluster is a file with a function, and a line here.
var clusters = map[string]func(c *database.Cluster, timeout time.Duration) (numberStore, error){
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

// openNumbers opens the store of worker numbers that the flags name.
func (f *databaseFlags) openNumbers(ctx context.Context) (numberStore, error) {
	if f.timeout <= 0 {
		return nil, &usageError{"snow", errors.New("--timeout: want more than 0s")}
	}
	at, err := f.resolve(ctx, cmp.Or(f.flag, "--dsn"), f.value())
	if err != nil {
		return nil, err
	}
	if at.Cluster == nil {
		db, err := at.Open(ctx, f.access, f.timeout)
		if err != nil {
			return nil, err
		}
		return &connected{db, at.Dialect}, nil
	}
	open, ok := clusters[at.Cluster.Scheme]
	if !ok {
		return nil, &usageError{"snow", fmt.Errorf("--dsn: %s is not known", at.Cluster.Scheme)}
	}
	return open(at.Cluster, f.timeout)
}

func (db *connected) product() string { return db.dialect.String() }

func (db *connected) host() string { return "" }

func (db *connected) init(ctx context.Context, ns lease.Namespace) error {
	return sqlsnow.Init(ctx, db.DB, db.dialect, ns)
}

// Namespaces implements page.Store.
func (db *connected) Namespaces(ctx context.Context, names ...string) ([]lease.Namespace, error) {
	return sqlsnow.Namespaces(ctx, db.DB, db.dialect, names...)
}

// Clock implements page.Store.
func (db *connected) Clock(ctx context.Context) (time.Time, error) {
	return sqlsnow.Clock(ctx, db.DB, db.dialect)
}

// Workers implements page.Store.
func (db *connected) Workers(ctx context.Context, namespace string) ([]lease.WorkerInfo, error) {
	return sqlsnow.Workers(ctx, db.DB, db.dialect, namespace)
}

func (db *connected) fence(ctx context.Context, namespace string) error {
	return sqlsnow.Fence(ctx, db.DB, db.dialect, namespace)
}

// Acquire implements service.Numbers.
func (db *connected) Acquire(ctx context.Context, cfg lease.Config) (*lease.Lease, error) {
	return sqlsnow.Acquire(ctx, db.DB, db.dialect, cfg)
}
