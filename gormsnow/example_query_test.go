package gormsnow_test

import (
	"fmt"
	"log"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

func ExampleCreatedBetween() {
	type Order struct {
		ID    snow.ID
		Buyer string
	}

	from := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	march := gormsnow.CreatedBetween(snow.Default(), from, from.AddDate(0, 1, 0))

	tx := openDryRun().Where("buyer = ?", "ann").Where(march).Find(&[]Order{})
	if tx.Error != nil {
		log.Fatal(tx.Error)
	}
	fmt.Println(tx.Statement.SQL.String())
	fmt.Println(tx.Statement.Vars[1:])
	// Output:
	// SELECT * FROM `orders` WHERE buyer = ? AND (`orders`.`id` >= ? AND `orders`.`id` < ?)
	// [154014842880000000 165248866713600000]
}

func ExampleAfter() {
	type Order struct {
		ID    snow.ID
		Buyer string
	}

	db := openDryRun()
	var last snow.ID // of the page before; zero for the first page
	for range 2 {
		var orders []Order
		tx := db.Clauses(gormsnow.After(last, 50)).Find(&orders)
		if tx.Error != nil {
			log.Fatal(tx.Error)
		}
		fmt.Println(db.Explain(tx.Statement.SQL.String(), tx.Statement.Vars...))
		last = 154014842880000000 // really that of the last order
	}
	// Output:
	// SELECT * FROM `orders` WHERE `orders`.`id` > 0 ORDER BY `orders`.`id` LIMIT 50
	// SELECT * FROM `orders` WHERE `orders`.`id` > 154014842880000000 ORDER BY `orders`.`id` LIMIT 50
}

func ExampleBefore() {
	type Order struct {
		ID    snow.ID
		Buyer string
	}

	tx := openDryRun().Where("buyer = ?", "ann").Clauses(gormsnow.Before(154014842880000000, 50)).Find(&[]Order{})
	if tx.Error != nil {
		log.Fatal(tx.Error)
	}
	fmt.Println(tx.Statement.SQL.String())
	// Output:
	// SELECT * FROM `orders` WHERE buyer = ? AND `orders`.`id` < ? ORDER BY `orders`.`id` DESC LIMIT ?
}
