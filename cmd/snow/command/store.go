package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/cmd/snow/internal/service"
	"github.com/shardsnow/snow/lease"
	"github.com/shardsnow/snow/sqlsnow"
)

// A numberStore keeps worker numbers: a database, or a cluster that the scheme of the DSN names.
type numberStore interface {
	product() string
	init(ctx context.Context, ns lease.Namespace) error
	service.Numbers                               // with Close
	clock(ctx context.Context) (time.Time, error) // which the times of workers are compared with
	workers(ctx context.Context, namespace string) ([]lease.WorkerInfo, error)
	fence(ctx context.Context, namespace string) error
}

// clusters has the numberStore of each scheme. A new kind of cluster is a file with a function, and a line here.
var clusters = map[string]func(c *database.Cluster, timeout time.Duration) (numberStore, error){
	"etcd": openEtcd,
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

func (db *connected) init(ctx context.Context, ns lease.Namespace) error {
	return sqlsnow.Init(ctx, db.DB, db.dialect, ns)
}

// Namespaces implements service.Numbers.
func (db *connected) Namespaces(ctx context.Context, names ...string) ([]lease.Namespace, error) {
	return sqlsnow.Namespaces(ctx, db.DB, db.dialect, names...)
}

func (db *connected) clock(ctx context.Context) (time.Time, error) {
	return sqlsnow.Clock(ctx, db.DB, db.dialect)
}

func (db *connected) workers(ctx context.Context, namespace string) ([]lease.WorkerInfo, error) {
	return sqlsnow.Workers(ctx, db.DB, db.dialect, namespace)
}

func (db *connected) fence(ctx context.Context, namespace string) error {
	return sqlsnow.Fence(ctx, db.DB, db.dialect, namespace)
}

// Acquire implements service.Numbers.
func (db *connected) Acquire(ctx context.Context, cfg lease.Config) (*lease.Lease, error) {
	return sqlsnow.Acquire(ctx, db.DB, db.dialect, cfg)
}
