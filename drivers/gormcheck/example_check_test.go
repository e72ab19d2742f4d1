package gormcheck_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/ncruces/go-sqlite3/gormlite"
	_ "github.com/ncruces/go-sqlite3/vfs/memdb"
	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// A table that was made for AUTO_INCREMENT keys is found at start-up.
func Example_check() {
	type Invoice struct {
		ID         snow.ID
		CustomerID snow.ID
	}

	db, err := gorm.Open(gormlite.Open("file:/invoices?vfs=memdb"))
	if err != nil {
		log.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	worker, err := snow.Fixed(snow.DefaultLayout(), 7)
	if err != nil {
		log.Fatal(err)
	}
	generator, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if err := db.Use(gormsnow.New(generator)); err != nil {
		log.Fatal(err)
	}
	if err := db.Exec("CREATE TABLE invoices (id INTEGER PRIMARY KEY AUTOINCREMENT, customer_id VARCHAR(20))").Error; err != nil {
		log.Fatal(err)
	}

	err = gormsnow.Check(db, &Invoice{})
	if findings, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range findings.Unwrap() {
			var finding *gormsnow.CheckError
			if !errors.As(err, &finding) {
				log.Fatal(err) // a query failed
			}
			fmt.Println(finding.Column)
			fmt.Println("  problem:", finding.Problem)
			fmt.Println("  remedy: ", finding.Remedy)
		}
	}
	// Output:
	// invoices.id
	//   problem: the table makes up its own numbers where an id is missing: it is AUTOINCREMENT
	//   remedy:  copy the rows to a table with "id" BIGINT, PRIMARY KEY ("id")
	// invoices.customer_id
	//   problem: it is VARCHAR(20), which sorts and compares ids as texts
	//   remedy:  change its type to bigint
}
