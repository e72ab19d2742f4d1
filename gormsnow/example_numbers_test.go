package gormsnow_test

import (
	"context"
	"fmt"
	"log"

	"github.com/DATA-DOG/go-sqlmock"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/numbers"
)

// An invoice gets its id and its number. The number is taken in the transaction that GORM begins for the Create.
func ExampleNumbers() {
	conn, mock, err := sqlmock.New() // in place of sql.Open
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	mock.ExpectQuery("UTC_TIMESTAMP").WillReturnRows(mock.NewRows(make([]string, 15)).
		AddRow(1, "0", "1", "1", "1", "1", "1", "0", "1", "fsync", "1", "0", "shop", "0", ""))
	mock.ExpectExec("SET").WillReturnResult(sqlmock.NewResult(0, 0)) // the check of the session
	mock.ExpectQuery("FROM `shop`.snow_numbers").WillReturnRows(mock.NewRows(make([]string, 5)).AddRow("{tenant}/{0000}", "UTC", 1, 0, 1))
	mock.ExpectBegin()
	mock.ExpectExec("INSERT INTO `shop`.snow_numbers").WillReturnResult(sqlmock.NewResult(123, 2)) // earlier invoices of acme have 122
	mock.ExpectExec("INSERT INTO `invoices`").WillReturnResult(sqlmock.NewResult(0, 1))
	mock.ExpectCommit()

	type Invoice struct {
		ID     snow.ID
		Number string `gorm:"uniqueIndex;size:40" snow:"number=invoices,tenant=Tenant"`
		Tenant string
	}
	series, err := numbers.OpenGapFree(context.Background(), conn, sqlsnow.MySQL, numbers.Config{Series: "invoices", Pattern: "{tenant}/{0000}"})
	if err != nil {
		log.Fatal(err)
	}
	db, err := gorm.Open(mysql.New(mysql.Config{Conn: conn, SkipInitializeWithVersion: true}))
	if err != nil {
		log.Fatal(err)
	}
	if err := db.Use(gormsnow.New(newSequence())); err != nil {
		log.Fatal(err)
	}
	if err := db.Use(gormsnow.Numbers(map[string]gormsnow.NumberSeries{"invoices": series})); err != nil {
		log.Fatal(err)
	}
	invoice := Invoice{Tenant: "acme"}
	err = db.Create(&invoice).Error
	fmt.Println(invoice.Number, err)
	// Output: acme/0123 <nil>
}
