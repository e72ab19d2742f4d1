package gormsnow_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// openDryRun returns a MySQL database that builds statements and sends none.
// In a program this is gorm.Open(mysql.Open(dsn)).
func openDryRun() *gorm.DB {
	db, err := gorm.Open(
		mysql.New(mysql.Config{DSN: "root@/shop", SkipInitializeWithVersion: true}),
		&gorm.Config{DryRun: true, DisableAutomaticPing: true, SkipDefaultTransaction: true},
	)
	if err != nil {
		log.Fatal(err)
	}
	return db
}

// newGenerator returns a generator for worker 7. Every process that inserts needs
// its own number.
func newGenerator() *snow.Generator {
	worker, err := snow.Fixed(snow.DefaultLayout(), 7)
	if err != nil {
		log.Fatal(err)
	}
	generator, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		log.Fatal(err)
	}
	return generator
}

// Orders get keys before the insert, and their lines point to them. In a program the
// generator is from sqlsnow.Open, and the database from gorm.Open.
func Example() {
	type Line struct {
		gormsnow.Model
		OrderID snow.ID
		Item    string
	}
	type Order struct {
		gormsnow.Model
		Buyer string
		Lines []Line
	}

	db := openDryRun()
	if err := db.Use(gormsnow.New(newGenerator())); err != nil {
		log.Fatal(err)
	}
	order := Order{Buyer: "ann", Lines: []Line{{Item: "tea"}, {Item: "cup"}}}
	if err := db.Create(&order).Error; err != nil {
		log.Fatal(err)
	}
	fmt.Println(order.ID > 0, order.Lines[0].OrderID == order.ID, order.Lines[0].ID < order.Lines[1].ID)
	// Output: true true true
}

// Clients go on reading DeletedAt. They must expect that an id is a string.
func ExampleSoftModel() {
	type Order struct {
		gormsnow.SoftModel
		Buyer string
	}

	order := Order{SoftModel: gormsnow.SoftModel{ID: 286467607756828714}, Buyer: "ann"}
	text, err := json.Marshal(order)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	// Output:
	// {"ID":"286467607756828714","CreatedAt":"0001-01-01T00:00:00Z","UpdatedAt":"0001-01-01T00:00:00Z","DeletedAt":null,"Buyer":"ann"}
}

func ExampleNew() {
	type Order struct {
		ID    snow.ID
		Buyer string
	}

	db := openDryRun()
	if err := db.Use(gormsnow.New(newGenerator())); err != nil {
		log.Fatal(err)
	}

	orders := []Order{{Buyer: "ann"}, {Buyer: "bob"}}
	tx := db.Create(&orders)
	fmt.Println(tx.Statement.SQL.String())
	fmt.Println("ascending:", orders[0].ID < orders[1].ID)

	parts, err := snow.DefaultLayout().Decompose(orders[0].ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("made by worker", parts.Worker)
	// Output:
	// INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?),(?,?)
	// ascending: true
	// made by worker 7
}

type Parcel struct {
	gormsnow.Model
	Address string
	Events  []Event
}

type Event struct {
	gormsnow.Model
	ParcelID snow.ID
	Text     string
}

func ExampleModel() {
	db := openDryRun()
	if err := db.Use(gormsnow.New(newGenerator())); err != nil {
		log.Fatal(err)
	}

	parcel := Parcel{Address: "12 Elm Street", Events: []Event{{Text: "packed"}, {Text: "sent"}}}
	if err := db.Create(&parcel).Error; err != nil {
		log.Fatal(err)
	}
	for _, event := range parcel.Events {
		fmt.Printf("%-6s  has an id: %t, points to its parcel: %t\n",
			event.Text, !event.ID.IsZero(), event.ParcelID == parcel.ID)
	}
	// Output:
	// packed  has an id: true, points to its parcel: true
	// sent    has an id: true, points to its parcel: true
}

func ExampleModel_BeforeCreate() {
	db := openDryRun() // and no db.Use

	err := db.Create(&Parcel{Address: "12 Elm Street"}).Error
	fmt.Println(err)
	// Output:
	// gormsnow: plugin not registered: call db.Use(gormsnow.New(source)) after gorm.Open
}

func ExampleFieldError() {
	type Invoice struct {
		ID int64 `gorm:"primaryKey;snowflake"`
	}

	db := openDryRun()
	if err := db.Use(gormsnow.New(newGenerator())); err != nil {
		log.Fatal(err)
	}

	var field *gormsnow.FieldError
	if err := db.Create(&Invoice{}).Error; errors.As(err, &field) {
		fmt.Println(field.Model, field.Field)
		fmt.Println(field.Reason)
	}
	// Output:
	// gormsnow_test.Invoice ID
	// the column would be AUTO_INCREMENT: add autoIncrement:false to the gorm tag, or make it a snow.ID
}

// Keys of other types than snow.ID have a tag.
func Example_tag() {
	type Invoice struct {
		ID     int64  `gorm:"primaryKey;autoIncrement:false;snowflake"`
		Number string `gorm:"snowflake"`
		Total  int64
	}

	db := openDryRun()
	if err := db.Use(gormsnow.New(newGenerator())); err != nil {
		log.Fatal(err)
	}

	invoice := Invoice{Total: 1250}
	tx := db.Create(&invoice)
	fmt.Println(tx.Statement.SQL.String())
	fmt.Println("id set:", invoice.ID > 0)
	fmt.Println("number set:", invoice.Number != "")
	// Output:
	// INSERT INTO `invoices` (`id`,`number`,`total`) VALUES (?,?,?)
	// id set: true
	// number set: true
}

// A map gets its key under the name of the column.
func Example_map() {
	type Order struct {
		ID    snow.ID
		Buyer string
	}

	db := openDryRun()
	if err := db.Use(gormsnow.New(newGenerator())); err != nil {
		log.Fatal(err)
	}

	row := map[string]any{"buyer": "ann"}
	tx := db.Model(&Order{}).Create(row)
	fmt.Println(tx.Statement.SQL.String())
	fmt.Printf("%T\n", row["id"])
	// Output:
	// INSERT INTO `orders` (`buyer`,`id`) VALUES (?,?)
	// snow.ID
}
