package gormsnow_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

func ExampleCreatedBetween() {
	type Order struct {
		ID    snow.ID
		Buyer string
	}

	from := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	march := gormsnow.CreatedBetween(snow.DefaultLayout(), from, from.AddDate(0, 1, 0))

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

func ExampleCreated() {
	type Order struct {
		ID    snow.ID
		Buyer string
	}

	db := openDryRun()
	if err := db.Use(gormsnow.New(newGenerator())); err != nil { // which has a layout
		log.Fatal(err)
	}
	from := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	tx := db.Where(gormsnow.Created(from, from.AddDate(0, 1, 0))).Find(&[]Order{})
	if tx.Error != nil {
		log.Fatal(tx.Error)
	}
	fmt.Println(db.Explain(tx.Statement.SQL.String(), tx.Statement.Vars...))
	// Output:
	// SELECT * FROM `orders` WHERE (`orders`.`id` >= 154014842880000000 AND `orders`.`id` < 165248866713600000)
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
		last = 154014842880000000 // really the id of the last order
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

func ExampleFindAcross() {
	type Order struct {
		ID    snow.ID
		Buyer string
	}

	// newestOf returns the page of orders before last, from all shards.
	newestOf := func(ctx context.Context, shards *snow.Shards[*gorm.DB], buyer string, last snow.ID) ([]Order, error) {
		return gormsnow.FindAcross[Order](ctx, shards, gormsnow.Before(last, 50), func(db *gorm.DB) *gorm.DB {
			return db.Where("buyer = ?", buyer)
		})
	}

	layout, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond,
		snow.Bits{Timestamp: 41, Worker: 8, Sequence: 11, Shard: 3})
	if err != nil {
		log.Fatal(err)
	}
	shards, err := snow.NewShards(layout, openDryRun(), openDryRun()) // two databases, really
	if err != nil {
		log.Fatal(err)
	}
	orders, err := newestOf(context.Background(), shards, "ann", 0)
	fmt.Println(len(orders), err)
	// Output:
	// 0 <nil>
}

func ExampleAssociation() {
	type Company struct {
		ID   snow.ID
		Name string
	}
	type Employee struct {
		ID        snow.ID
		CompanyID *snow.ID
		Company   Company
	}

	company := Company{ID: 3, Name: "Acme"}
	employee := Employee{ID: 4, CompanyID: &company.ID, Company: company}
	if err := gormsnow.Association(openDryRun().Model(&employee), "Company").Delete(&company); err != nil {
		log.Fatal(err)
	}
	fmt.Println(employee.CompanyID)
	// Output:
	// <nil>
}
