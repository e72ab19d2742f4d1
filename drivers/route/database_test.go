//go:build unix

// Package route_test runs gormsnow/route on MariaDB, PostgreSQL and SQLite: random programs, with one database
// that is not sharded as the oracle.
package route_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/gormsnow/route"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

type (
	User struct {
		ID     snow.ID `gorm:"primaryKey;not null" snow:"shard=Name"`
		Name   string  `gorm:"type:varchar(64)"`
		Email  string  `gorm:"size:64"`
		Orders []Order `gorm:"foreignKey:BuyerID"`
	}
	Order struct {
		ID        snow.ID `gorm:"primaryKey;not null" snow:"shard=BuyerID"`
		BuyerID   snow.ID
		Buyer     *User
		State     string `gorm:"size:64"`
		Amount    int
		Lines     []Line
		DeletedAt gorm.DeletedAt
	}
	Line struct {
		ID        snow.ID `gorm:"primaryKey;not null" snow:"shard=OrderID"`
		OrderID   snow.ID
		Item      string `gorm:"size:64"`
		ProductID *int
		Product   *Product
	}
	Product struct {
		ID   int    `gorm:"primaryKey;autoIncrement:false"`
		Name string `gorm:"size:64"`
	}
)

func layout(t testing.TB) snow.Layout {
	l, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 10, Sequence: 8, Shard: 4})
	check(t, err)
	return l
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A world is a router over n databases, and one database with the same rows.
type world struct {
	db, oracle *gorm.DB
	shards     *snow.Shards[*gorm.DB]
}

// newWorld returns a world of empty databases of a product.
func newWorld(t testing.TB, product string, n int, options ...func(*gorm.Config)) world {
	t.Helper()
	worker, err := snow.Fixed(layout(t), 7)
	check(t, err)
	keys, err := snow.NewGenerator(worker, snow.Config{})
	check(t, err)
	var server *dbtest.Server
	switch product {
	case "mariadb":
		server = dbtest.MariaDB(t)
	case "postgres":
		server = dbtest.Postgres(t)
	}
	dir := t.TempDir()
	open := func(name string) *gorm.DB {
		var dialector gorm.Dialector
		switch product {
		case "mariadb":
			dialector = mysql.Open(server.DSN(server.CreateDatabase(t)))
		case "postgres":
			dialector = postgres.Open(server.DSN(server.CreateDatabase(t)))
		default:
			dialector = gormlite.Open("file:" + filepath.Join(dir, name) + "?_txlock=immediate&_pragma=busy_timeout(60000)&_pragma=journal_mode(wal)&_pragma=synchronous(off)")
		}
		config := gorm.Config{
			Logger: logger.Discard, DisableForeignKeyConstraintWhenMigrating: true,
			NowFunc: func() time.Time { return time.Unix(1790000000, 0).UTC() },
		}
		for _, option := range options {
			option(&config)
		}
		db, err := gorm.Open(dialector, &config)
		check(t, err)
		t.Cleanup(func() {
			if pool, err := db.DB(); err == nil {
				pool.Close()
			}
		})
		check(t, db.Use(gormsnow.New(keys)))
		return db
	}
	dbs := make([]*gorm.DB, n)
	for i := range dbs {
		dbs[i] = open(fmt.Sprint("shard", i))
	}
	w := world{oracle: open("oracle")}
	w.shards, err = snow.NewShards(layout(t), dbs...)
	check(t, err)
	models := []any{&User{}, &Order{}, &Line{}, &Product{}}
	check(t, route.MigrateAcross(t.Context(), w.shards, models...))
	check(t, w.oracle.AutoMigrate(models...))
	for _, db := range append(dbs, w.oracle) {
		check(t, db.Create(&[]Product{{1, "tea"}, {2, "cup"}}).Error)
	}
	w.db, err = route.New(w.shards, route.Global(&Product{}))
	check(t, err)
	return w
}
