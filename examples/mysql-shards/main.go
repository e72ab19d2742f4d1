// Command mysql-shards keeps orders in several MySQL or MariaDB databases, with ordinary GORM code:
//
//	go run . -dsn 'app:secret@tcp(10.0.0.1)/shop?parseTime=true' -dsn 'app:secret@tcp(10.0.0.2)/shop?parseTime=true'
//
// It makes the tables that are missing, leases a worker number from the first database, stores an order for each
// buyer, and finds it again. The databases stay in their order: it says which shards each has.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/gormsnow/route"
	"github.com/shardsnow/snow/sqlsnow"
)

// An Order is in the database of its buyer. Its key carries the buyer's shard, so the key leads there, too. The
// column compares bytes: most collations of MySQL take 'ann' and 'ANN' as equal, which have different shards.
type Order struct {
	gormsnow.Model `snow:"shard=Buyer"`
	Buyer          string `gorm:"type:varbinary(64);not null;index"`
	Lines          []Line
}

// A Line is in the database of its order.
type Line struct {
	ID      snow.ID `gorm:"primaryKey" snow:"shard=OrderID"`
	OrderID snow.ID `gorm:"not null;index"`
	Item    string  `gorm:"size:200;not null"`
}

// ids is the meaning of the keys and of their worker numbers, which never changes: 64 shards, and so 64 databases at
// most. For replicas that may be promoted, a LossWindow belongs here.
func ids() sqlsnow.Namespace {
	return sqlsnow.Namespace{Name: "shop", Layout: snow.DefaultShards()}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mysql-shards:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) (err error) {
	var dsns []string
	flags := flag.NewFlagSet("mysql-shards", flag.ContinueOnError)
	flags.Func("dsn", "`DSN` of a database, in the form of go-sql-driver/mysql; once for each", func(dsn string) error {
		if slices.Contains(dsns, dsn) { // its rows would be counted twice
			return errors.New("this database is there already")
		}
		dsns = append(dsns, dsn)
		return nil
	})
	buyers := flags.Int("buyers", 4, "how many buyers order something")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if len(dsns) == 0 {
		return errors.New("give the databases with -dsn")
	}
	db, closeAll, err := open(ctx, dsns)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	return shop(db.WithContext(ctx), *buyers, stdout)
}

// open returns one database over all databases. closeAll gives the worker number back.
func open(ctx context.Context, dsns []string) (db *gorm.DB, closeAll func() error, err error) {
	var closers []func() error
	closeAll = func() (err error) {
		for _, f := range slices.Backward(closers) {
			err = errors.Join(err, f())
		}
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	var databases []*gorm.DB
	for i, dsn := range dsns {
		each, err := gorm.Open(mysql.Open(dsn), &gorm.Config{TranslateError: true})
		if err != nil {
			return nil, closeAll, fmt.Errorf("database %d: %w", i, err)
		}
		pool, err := each.DB()
		if err != nil {
			return nil, closeAll, err
		}
		closers, databases = append(closers, pool.Close), append(databases, each)
	}

	// The lease has a pool of its own: a program that has used up its connections still renews it.
	pool, err := sql.Open("mysql", dsns[0])
	if err != nil {
		return nil, closeAll, err
	}
	pool.SetMaxOpenConns(2)
	closers = append(closers, pool.Close)
	keys, lease, err := sqlsnow.Open(ctx, pool, sqlsnow.MySQL, ids(), sqlsnow.LeaseConfig{})
	if err != nil {
		return nil, closeAll, err
	}
	closers = append(closers, func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // also after a signal
		defer cancel()
		return lease.Close(ctx)
	})

	shards, err := snow.NewShards(ids().Layout, databases...)
	if err != nil {
		return nil, closeAll, err
	}
	models := []any{&Order{}, &Line{}}
	if err := route.MigrateAcross(ctx, shards, models...); err != nil {
		return nil, closeAll, err
	}
	for i, each := range databases {
		if err := each.Use(gormsnow.New(keys)); err != nil {
			return nil, closeAll, err
		}
		if err := gormsnow.Check(each.WithContext(ctx), models...); err != nil {
			return nil, closeAll, fmt.Errorf("database %d: %w", i, err)
		}
	}
	db, err = route.New(shards)
	return db, closeAll, err
}

// shop is ordinary GORM code.
func shop(db *gorm.DB, buyers int, stdout io.Writer) error {
	var order Order
	for i := range buyers {
		buyer := fmt.Sprintf("buyer-%d", i)
		order = Order{Buyer: buyer, Lines: []Line{{Item: "tea"}, {Item: "cup"}}}
		if err := db.Create(&order).Error; err != nil {
			return err
		}
		var found []Order
		if err := db.Preload("Lines").Where("buyer = ?", buyer).Order("id desc").Limit(1).Find(&found).Error; err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s ordered %d things: %d\n", buyer, len(found[0].Lines), order.ID)
	}
	if err := db.First(&order, "id = ?", order.ID).Error; err != nil { // the key is enough
		return err
	}
	var all int64
	if err := route.Scatter(db).Model(&Line{}).Count(&all).Error; err != nil {
		return err
	}
	fmt.Fprintf(stdout, "all databases have %d lines\n", all)

	err := db.Where("created_at > ?", time.Now().Add(-time.Hour)).Find(&[]Order{}).Error
	fmt.Fprintf(stdout, "refused: %v\n", err)
	return nil
}
