package gormcheck_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// An Order carries the logical shard of its buyer in the lowest bits of its id.
type Order struct {
	ID      snow.ID `snow:"shard=BuyerID"`
	BuyerID int64
	Item    string
}

// openShards returns two databases with the tables orders_0 to orders_3 each, as eight targets for the eight logical
// shards of the layout. A target is a *gorm.DB whose statements go to its table.
func openShards(dir string, generator *snow.Generator) (*snow.Shards[*gorm.DB], func() error, error) {
	var targets []*gorm.DB
	var closers []func() error
	for name := range 2 {
		db, err := gorm.Open(gormlite.Open("file:" + filepath.Join(dir, fmt.Sprint("shop_", name, ".db"))))
		if err != nil {
			return nil, nil, err
		}
		pool, err := db.DB()
		if err != nil {
			return nil, nil, err
		}
		closers = append(closers, pool.Close)
		if err := db.Use(gormsnow.New(generator)); err != nil {
			return nil, nil, err
		}
		for i := range 4 {
			table := db.Table(fmt.Sprint("orders_", i))
			if err := table.AutoMigrate(&Order{}); err != nil {
				return nil, nil, err
			}
			targets = append(targets, table.Session(&gorm.Session{}))
		}
	}
	shards, err := snow.NewShards(generator.Layout(), targets...)
	return shards, func() error { return closeAll(closers) }, err
}

func closeAll(closers []func() error) error {
	for _, end := range closers {
		if err := end(); err != nil {
			return err
		}
	}
	return nil
}

// createdBetween queries all shards at the same time and merges their rows.
func createdBetween(ctx context.Context, layout snow.Layout, shards *snow.Shards[*gorm.DB], from, to time.Time) ([]Order, error) {
	parts := make([][]Order, shards.Len())
	err := shards.Each(ctx, func(ctx context.Context, i int, db *gorm.DB) error {
		return db.WithContext(ctx).Where(gormsnow.CreatedBetween(layout, from, to)).Order("id").Find(&parts[i]).Error
	})
	return merge(parts), err
}

// merge joins lists that ascend by id to one that does.
func merge(parts [][]Order) (all []Order) {
	for {
		next := -1
		for i, part := range parts {
			if len(part) > 0 && (next < 0 || part[0].ID < parts[next][0].ID) {
				next = i
			}
		}
		if next < 0 {
			return all
		}
		all = append(all, parts[next][0])
		parts[next] = parts[next][1:]
	}
}

// Two databases with four tables each hold the orders of a shop. The plugin puts the shard of the buyer into each
// order's id, so that an order is found by its id and by its buyer, each in one table.
func Example_shards() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	layout, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond,
		snow.Bits{Timestamp: 41, Worker: 8, Sequence: 11, Shard: 3})
	if err != nil {
		log.Fatal(err)
	}
	worker, err := snow.Fixed(layout, 7)
	if err != nil {
		log.Fatal(err)
	}
	generator, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		log.Fatal(err)
	}
	shards, end, err := openShards(dir, generator)
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := end(); err != nil {
			log.Fatal(err)
		}
	}()

	// New orders go where their buyer is.
	ofBuyer := func(buyer int64) *gorm.DB { return shards.At(snow.HashShardInt(buyer)) }
	from := time.Now().Truncate(layout.Tick()) // an id's time is the start of its tick
	var orders []Order
	for i, item := range []string{"tea", "milk", "rum", "salt", "rice", "oats"} {
		order := Order{BuyerID: int64(100 + i%3), Item: item}
		if err := ofBuyer(order.BuyerID).Create(&order).Error; err != nil {
			log.Fatal(err)
		}
		orders = append(orders, order)
	}
	to := time.Now().Add(time.Second) // ids may run ahead of the clock a little

	// By id: the id says which table.
	var order Order
	if err := shards.Of(orders[2].ID).First(&order, orders[2].ID).Error; err != nil {
		log.Fatal(err)
	}
	fmt.Println("order 2 is", order.Item)

	// By buyer: the same table.
	var ofBuyer102 []Order
	if err := ofBuyer(102).Where("buyer_id = ?", 102).Order("id").Find(&ofBuyer102).Error; err != nil {
		log.Fatal(err)
	}
	fmt.Println("buyer 102 has", ofBuyer102[0].Item, "and", ofBuyer102[1].Item)

	// By time: all tables, merged by id, which is the order of creation.
	all, err := createdBetween(ctx, layout, shards, from, to)
	if err != nil {
		log.Fatal(err)
	}
	for _, order := range all {
		index := shards.Index(layout.Shard(order.ID))
		fmt.Printf("buyer %d, %-4s database %d, table orders_%d\n", order.BuyerID, order.Item, index/4, index%4)
	}
	// In pages: the newest two of all tables, and the two before them.
	var last snow.ID
	for range 2 {
		page, err := gormsnow.FindAcross[Order](ctx, shards, gormsnow.Before(last, 2))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("page:", page[0].Item, page[1].Item)
		last = page[1].ID
	}
	// Output:
	// order 2 is rum
	// buyer 102 has rum and oats
	// buyer 100, tea  database 1, table orders_0
	// buyer 101, milk database 1, table orders_3
	// buyer 102, rum  database 0, table orders_3
	// buyer 100, salt database 1, table orders_0
	// buyer 101, rice database 1, table orders_3
	// buyer 102, oats database 0, table orders_3
	// page: oats rice
	// page: salt rum
}
