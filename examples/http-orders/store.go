package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/sqlsnow"
)

// An Order is stored in the database of its buyer. Its key carries the shard of the
// buyer, so the key alone leads to that database, too.
type Order struct {
	ID        snow.ID `gorm:"primaryKey;not null" snow:"shard=Buyer"`
	Buyer     string  `gorm:"size:64;not null;uniqueIndex:request"`
	Request   string  `gorm:"size:64;not null;uniqueIndex:request"` // the Idempotency-Key of the client
	Item      string  `gorm:"size:200;not null"`
	CreatedAt time.Time
}

// layout returns the meaning of the bits of a key. It never changes. It has bits for
// 16 shards, so the orders can move to 4, 8 or 16 databases later, and keep their keys.
func layout() (snow.Layout, error) {
	epoch := time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)
	return snow.NewLayout(epoch, time.Millisecond, snow.Bits{Timestamp: 41, Worker: 10, Sequence: 8, Shard: 4})
}

// A store keeps orders in several databases.
type store struct {
	orders  *snow.Shards[*gorm.DB]
	lease   *sqlsnow.Lease
	closers []func() error // of the databases
}

// openStore opens so many databases in dir, makes tables that are missing, and
// leases a worker number for the keys of this process. All instances may do that at
// the same time.
func openStore(ctx context.Context, dir string, databases int) (*store, error) {
	s := new(store)
	if err := s.open(ctx, dir, databases); err != nil {
		return nil, errors.Join(err, s.close(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *store) open(ctx context.Context, dir string, databases int) error {
	bits, err := layout()
	if err != nil {
		return err
	}
	// The leases have a database, or at least a pool, of their own: an application that has used up its connections
	// still renews its lease.
	registry, err := sql.Open("sqlite3", dsn(dir, "registry"))
	if err != nil {
		return err
	}
	s.closers = append(s.closers, registry.Close)
	registry.SetMaxOpenConns(2)
	keys, lease, err := sqlsnow.Open(ctx, registry, sqlsnow.SQLite, sqlsnow.Namespace{Name: "shop", Layout: bits}, sqlsnow.LeaseConfig{})
	if err != nil {
		return err
	}
	s.lease = lease

	var dbs []*gorm.DB
	for i := range databases {
		// errors are returned as well
		db, err := gorm.Open(gormlite.Open(dsn(dir, fmt.Sprint("orders_", i))), &gorm.Config{Logger: logger.Discard})
		if err != nil {
			return err
		}
		pool, err := db.DB()
		if err != nil {
			return err
		}
		s.closers = append(s.closers, pool.Close)
		if err := migrate(ctx, db); err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
		if err := db.Use(gormsnow.New(keys)); err != nil {
			return err
		}
		if err := gormsnow.Check(db.WithContext(ctx), &Order{}); err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
		dbs = append(dbs, db)
	}
	s.orders, err = snow.NewShards(bits, dbs...)
	return err
}

// migrate makes the table. AutoMigrate first looks whether the table is there, and
// then creates it, so two processes must not do that at the same time. Here a
// transaction that takes the write lock when it begins (_txlock=immediate) lets one
// through after the other. On MySQL, where a table can't be created in a
// transaction, use GET_LOCK, or make the tables in a step of the deployment.
func migrate(ctx context.Context, db *gorm.DB) error {
	return db.WithContext(ctx).Transaction(func(tx *gorm.DB) error { return tx.AutoMigrate(&Order{}) })
}

// dsn returns the DSN of a database that several processes use: writers wait for
// their turn, and commits are durable.
func dsn(dir, name string) string {
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(filepath.Join(dir, name+".db")), RawQuery: url.Values{
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(10000)", "journal_mode(wal)", "synchronous(full)"},
	}.Encode()}
	return u.String()
}

// close ends the lease first, because it needs its database.
func (s *store) close(ctx context.Context) (err error) {
	if s.lease != nil {
		err = s.lease.Close(ctx)
	}
	for _, f := range slices.Backward(s.closers) {
		err = errors.Join(err, f())
	}
	return err
}

// ready reports whether there will be keys for another minute even if the
// lease database can't be reached any more.
func (s *store) ready() bool { return s.lease.Stats().Ready() }

// of returns the database of a buyer.
func (s *store) of(ctx context.Context, buyer string) *gorm.DB {
	return s.orders.At(snow.HashShard(buyer)).WithContext(ctx)
}

// create stores an order, or loads the one that the same request has stored before:
// by another attempt, perhaps at another instance.
func (s *store) create(ctx context.Context, o *Order) (created bool, err error) {
	return gormsnow.CreateOnce(s.of(ctx, o.Buyer), o, "Buyer", "Request")
}

// find returns an order by its key alone, or gorm.ErrRecordNotFound.
func (s *store) find(ctx context.Context, id snow.ID) (o Order, err error) {
	err = s.orders.Of(id).WithContext(ctx).First(&o, "id = ?", id).Error
	return o, err
}

// page returns up to limit orders that follow the order after, oldest first: one
// buyer's orders from one database, or all orders from all of them.
func (s *store) page(ctx context.Context, buyer string, after snow.ID, limit int) (orders []Order, err error) {
	if buyer == "" {
		return gormsnow.FindAcross[Order](ctx, s.orders, gormsnow.After(after, limit))
	}
	err = s.of(ctx, buyer).Clauses(gormsnow.After(after, limit)).Where("buyer = ?", buyer).Find(&orders).Error
	return orders, err
}
