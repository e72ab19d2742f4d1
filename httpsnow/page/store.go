package page

import (
	"context"
	"database/sql"
	"time"

	"github.com/shardsnow/snow/lease"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Store keeps worker numbers outside of SQL, such as in etcd or ZooKeeper. The page calls one method at a time. Each
// must return when its ctx ends, which is after Config.Timeout.
type Store interface {
	// Clock returns the time that the states of workers are compared with. If the store has no clock, as etcd, it
	// returns the zero time, and this process's clock counts.
	Clock(ctx context.Context) (time.Time, error)

	// Namespaces returns the namespaces with these names, and all if there are no names. It returns an error if
	// one of the names does not exist.
	Namespaces(ctx context.Context, names ...string) ([]lease.Namespace, error)

	// Workers returns all worker numbers of a namespace, in ascending order.
	Workers(ctx context.Context, namespace string) ([]lease.WorkerInfo, error)
}

// store returns what is asked for worker numbers.
func (d Database) store() Store {
	if d.Store != nil {
		return d.Store
	}
	return sqlStore{d.DB, d.Dialect}
}

// A sqlStore has the tables of package sqlsnow.
type sqlStore struct {
	db      *sql.DB
	dialect sqlsnow.Dialect
}

func (s sqlStore) Clock(ctx context.Context) (time.Time, error) {
	return sqlsnow.Clock(ctx, s.db, s.dialect)
}

func (s sqlStore) Namespaces(ctx context.Context, names ...string) ([]lease.Namespace, error) {
	return sqlsnow.Namespaces(ctx, s.db, s.dialect, names...)
}

func (s sqlStore) Workers(ctx context.Context, namespace string) ([]lease.WorkerInfo, error) {
	return sqlsnow.Workers(ctx, s.db, s.dialect, namespace)
}
