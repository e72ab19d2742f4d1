//go:build unix

package sharding_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/sharding"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/gormsnow/route"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// A Sale is an order behind a router, with a key of its own.
type Sale struct {
	ID      snow.ID `gorm:"primaryKey" snow:"shard=BuyerID"`
	BuyerID int64   `gorm:"not null;index"`
	Code    string  `gorm:"size:40"`
}

// A SaleID is the key that an old order has now.
type SaleID struct {
	ID      snow.ID `gorm:"primaryKey" snow:"shard=BuyerID"`
	BuyerID int64   `gorm:"not null;uniqueIndex:old"`
	Old     int64   `gorm:"not null;uniqueIndex:old"`
	SaleID  snow.ID `gorm:"not null"`
}

// An oldOrder is a row of gorm.io/sharding.
type oldOrder struct {
	ID      int64
	BuyerID int64
	Code    string
}

// move gives new keys to the rows of an old table, and may be repeated: rows that have one are left alone.
func move(ctx context.Context, from, db *gorm.DB, table string) error {
	var rows []oldOrder
	return from.WithContext(ctx).Table(table).FindInBatches(&rows, 500, func(*gorm.DB, int) error {
		for _, old := range rows {
			sale := Sale{BuyerID: old.BuyerID, Code: old.Code}
			err := db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
				if err := tx.Create(&sale).Error; err != nil {
					return err
				}
				return tx.Create(&SaleID{BuyerID: old.BuyerID, Old: old.ID, SaleID: sale.ID}).Error
			})
			if err != nil && !errors.Is(err, gorm.ErrDuplicatedKey) {
				return err
			}
		}
		return nil
	}).Error
}

// leavingShards returns a router over two new databases of a server.
func leavingShards(t *testing.T, server *dbtest.Server, layout snow.Layout, models ...any) (db *gorm.DB, databases []*gorm.DB, names []string) {
	t.Helper()
	worker, err := snow.Fixed(layout, 1)
	check(t, err)
	keys, err := snow.NewGenerator(worker, snow.Config{})
	check(t, err)
	for range 2 {
		names = append(names, server.CreateDatabase(t))
		each, err := gorm.Open(mysql.Open(server.DSN(names[len(names)-1])), &gorm.Config{Logger: logger.Discard, TranslateError: true})
		check(t, err)
		pool, err := each.DB()
		check(t, err)
		t.Cleanup(func() { check(t, pool.Close()) })
		check(t, each.Use(gormsnow.New(keys)))
		databases = append(databases, each)
	}
	shards, err := snow.NewShards(layout, databases...)
	check(t, err)
	check(t, route.MigrateAcross(t.Context(), shards, models...))
	for _, each := range databases {
		check(t, gormsnow.Check(each, models...))
	}
	db, err = route.New(shards)
	check(t, err)
	return db, databases, names
}

func leavingLayout(t *testing.T) snow.Layout {
	t.Helper()
	layout, err := snow.NewLayout(snow.DefaultLayout().Epoch(), snow.DefaultLayout().Tick(), snow.Bits{Timestamp: 41, Worker: 8, Sequence: 12, Shard: 2})
	check(t, err)
	return layout
}

// suffixes are the tables of gorm.io/sharding.
var suffixes = []string{"_0", "_1", "_2", "_3"}

// Rows with ids of gorm.io/sharding get new keys, and no row is moved twice.
func TestLeavingWithNewKeys(t *testing.T) {
	server := dbtest.MariaDB(t)
	from, err := gorm.Open(mysql.Open(server.DSN(server.CreateDatabase(t))), &gorm.Config{Logger: logger.Discard})
	check(t, err)
	pool, err := from.DB()
	check(t, err)
	t.Cleanup(func() { check(t, pool.Close()) })
	for _, suffix := range suffixes {
		check(t, from.Exec("CREATE TABLE orders"+suffix+" (id BIGINT NOT NULL PRIMARY KEY, buyer_id BIGINT NOT NULL, code VARCHAR(40))").Error)
	}
	old, err := gorm.Open(mysql.New(mysql.Config{Conn: pool}), &gorm.Config{Logger: logger.Discard})
	check(t, err)
	check(t, old.Use(sharding.Register(sharding.Config{ShardingKey: "buyer_id", NumberOfShards: 4, PrimaryKeyGenerator: sharding.PKSnowflake}, "orders")))
	const buyers, each = 20, 60
	for i := range buyers * each {
		check(t, old.Table("orders").Create(&oldOrder{BuyerID: int64(i%buyers + 1), Code: fmt.Sprint("c", i)}).Error)
	}
	want := map[int64]oldOrder{}
	for _, suffix := range suffixes {
		var rows []oldOrder
		check(t, from.Table("orders"+suffix).Find(&rows).Error)
		for _, r := range rows {
			want[r.ID] = r
		}
	}
	if len(want) != buyers*each {
		t.Fatalf("%d old rows", len(want))
	}

	db, _, _ := leavingShards(t, server, leavingLayout(t), &Sale{}, &SaleID{})
	ctx, cancel := context.WithCancel(t.Context())
	created := 0
	stop := func(*gorm.DB) {
		if created++; created == 333 {
			cancel()
		}
	}
	check(t, db.Callback().Create().After("gorm:create").Register("stop", stop))
	if err := move(ctx, from, db, "orders_0"); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want the move cut short", err)
	}
	for range 2 {
		for _, suffix := range suffixes {
			check(t, move(t.Context(), from, db, "orders"+suffix))
		}
	}

	var sales []Sale
	check(t, route.Scatter(db).Find(&sales).Error)
	if len(sales) != len(want) {
		t.Errorf("%d sales, want %d", len(sales), len(want))
	}
	for old, r := range want {
		var id SaleID
		check(t, db.First(&id, "buyer_id = ? AND old = ?", r.BuyerID, old).Error)
		var sale Sale
		check(t, db.First(&sale, "id = ?", id.SaleID).Error)
		if sale.BuyerID != r.BuyerID || sale.Code != r.Code {
			t.Fatalf("got %+v, want %+v", sale, r)
		}
	}
}

// Rows whose ids carry the shard of their buyer keep them, and the tables are copied.
func TestLeavingWithTheSameKeys(t *testing.T) {
	server := dbtest.MariaDB(t)
	layout := leavingLayout(t)
	name := server.CreateDatabase(t)
	from, err := gorm.Open(mysql.Open(server.DSN(name)), &gorm.Config{Logger: logger.Discard})
	check(t, err)
	pool, err := from.DB()
	check(t, err)
	t.Cleanup(func() { check(t, pool.Close()) })
	var want []Sale
	for i, suffix := range suffixes {
		check(t, from.Exec("CREATE TABLE orders"+suffix+" (id BIGINT NOT NULL PRIMARY KEY, buyer_id BIGINT NOT NULL, code VARCHAR(40))").Error)
		for buyer := int64(1); buyer <= 40; buyer++ {
			if snow.HashShardInt(buyer)%4 != uint64(i) {
				continue
			}
			id, err := layout.WithShard(snow.ID(buyer)<<22, snow.HashShardInt(buyer))
			check(t, err)
			s := Sale{ID: id, BuyerID: buyer, Code: fmt.Sprint(buyer)}
			check(t, from.Table("orders"+suffix).Create(&s).Error)
			want = append(want, s)
		}
	}

	db, databases, _ := leavingShards(t, server, layout, &Sale{})
	for i, suffix := range suffixes { // the shard i is in the database i % 2
		check(t, databases[i%len(databases)].Exec("INSERT INTO sales (id, buyer_id, code) SELECT id, buyer_id, code FROM "+name+".orders"+suffix).Error)
	}
	var all []Sale
	check(t, route.Scatter(db).Order("id").Find(&all).Error)
	slices.SortFunc(want, func(a, b Sale) int { return int(a.ID - b.ID) })
	if !slices.Equal(all, want) {
		t.Errorf("got %d sales, want %d, or they differ", len(all), len(want))
	}
	for _, s := range want {
		var byID, byBuyer Sale
		check(t, db.First(&byID, "id = ?", s.ID).Error)
		check(t, db.First(&byBuyer, "buyer_id = ?", s.BuyerID).Error)
		if byID != s || byBuyer != s {
			t.Errorf("got %+v and %+v, want %+v", byID, byBuyer, s)
		}
	}
}
