package route_test

import (
	"fmt"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/route"
)

// An order is in the shard of its buyer, so both its key and its buyer tell the database.
func ExampleNew() {
	shards := exampleShards() // snow.NewShards(layout, databases...), each with gormsnow.New(source)
	db, err := route.New(shards, route.Global(&Product{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	buyer := snow.ID(1<<40 + 5)
	order := Order{BuyerID: buyer, State: "open"}
	fmt.Println("create:", db.Create(&order).Error)
	fmt.Println("by key:", db.Model(&order).Update("state", "paid").Error)
	fmt.Println("by buyer:", db.Where("buyer_id = ? AND (state = ? OR amount > ?)", buyer, "open", 100).Find(&[]Order{}).Error)
	fmt.Println("by state:", db.Where("state = ?", "open").Find(&[]Order{}).Error)
	// Output: create: <nil> by key: <nil> by buyer: <nil> by state: route: query route_test.Order: the shard is
	// unknown: no condition on ID or BuyerID with = or IN holds for all its rows: add one, or name the shard
	// with On, or ask all shards with Scatter
}

// A program that chooses the database itself is told when it chooses the wrong one.
func ExampleGuard() {
	shards := exampleShards()
	for i := range shards.Len() {
		if err := shards.At(uint64(i)).Use(route.Guard(shards, i)); err != nil {
			fmt.Println(err)
			return
		}
	}
	buyer := snow.ID(1<<40 + 5)
	right := shards.Of(buyer).Find(&[]Order{}, "buyer_id = ?", buyer)
	fmt.Println(right.Error)
	wrong := shards.At(0).Find(&[]Order{}, "buyer_id = ?", buyer)
	fmt.Println(wrong.Error)
	// Output: <nil> route: query route_test.Order: another shard: it belongs to the shard 5 in database 1, and
	// this is database 0: use Shards.Of or At
}

func ExampleOn() {
	db, err := route.New(exampleShards())
	if err != nil {
		fmt.Println(err)
		return
	}
	buyer := "ann"
	err = route.On(db, snow.HashShard(buyer)).Transaction(func(tx *gorm.DB) error {
		return tx.Exec("UPDATE users SET email = lower(email) WHERE name = ?", buyer).Error
	})
	fmt.Println(err)
	fmt.Println(db.Exec("UPDATE users SET email = lower(email)").Error)
	// Output:
	// <nil>
	// route: raw: the shard is unknown: it is raw SQL: name the shard with On
}

func ExampleScatter() {
	db, err := route.New(exampleShards())
	if err != nil {
		fmt.Println(err)
		return
	}
	var orders []Order
	fmt.Println(route.Scatter(db).Where("state = ?", "open").Order("id desc").Limit(20).Find(&orders).Error)
	fmt.Println(route.Scatter(db).Where("state = ?", "open").Order("amount").Find(&orders).Error)
	// Output: <nil> route: query route_test.Order: several shards: it is about all shards, and its rows are
	// merged by ID only: order by it, or sort the rows
}
