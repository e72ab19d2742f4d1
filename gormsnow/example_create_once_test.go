package gormsnow_test

import (
	"fmt"
	"io"
	"log"

	"github.com/DATA-DOG/go-sqlmock"
	mysqldriver "github.com/go-sql-driver/mysql"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow/gormsnow"
)

// openUnreliable returns a database that stores the first order and then loses the
// reply to its commit, and a function that closes it. In a program this is
// gorm.Open(mysql.Open(dsn)).
func openUnreliable() (*gorm.DB, func()) {
	conn, server, err := sqlmock.New()
	if err != nil {
		log.Fatal(err)
	}
	server.ExpectBegin()
	server.ExpectExec("INSERT INTO `orders`").WillReturnResult(sqlmock.NewResult(0, 1))
	server.ExpectCommit().WillReturnError(io.ErrUnexpectedEOF)
	server.ExpectBegin()
	server.ExpectExec("INSERT INTO `orders`").WillReturnError(&mysqldriver.MySQLError{Number: 1062, Message: "Duplicate entry"})
	server.ExpectRollback()
	server.ExpectBegin()
	server.ExpectQuery("SELECT (.+) FROM `orders`").WillReturnRows(sqlmock.NewRows([]string{"id", "buyer"}).AddRow(int64(154014842880000000), "ann"))
	server.ExpectCommit()
	server.ExpectClose()
	db, err := gorm.Open(mysql.New(mysql.Config{Conn: conn, SkipInitializeWithVersion: true}), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		log.Fatal(err)
	}
	return db, func() {
		if err := conn.Close(); err != nil {
			log.Fatal(err)
		}
	}
}

// A client makes an id once for each request. Its row is stored but the reply
// is lost, so it repeats the request with the same id.
func ExampleCreateOnce() {
	db, end := openUnreliable()
	defer end()
	if err := db.Use(gormsnow.New(newGenerator())); err != nil {
		log.Fatal(err)
	}

	for range 2 {
		order := Order{ID: 154014842880000000, Buyer: "ann"}
		created, err := gormsnow.CreateOnce(db, &order)
		if err != nil {
			fmt.Println("unknown:", err)
			continue
		}
		fmt.Println("created now:", created, "id:", order.ID)
	}
	// Output:
	// unknown: gormsnow: create once: unexpected EOF
	// created now: false id: 154014842880000000
}
