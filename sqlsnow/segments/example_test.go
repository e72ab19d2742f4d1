package segments_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"

	"github.com/DATA-DOG/go-sqlmock"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// Dense ids from a counter in a database, a thousand at a time.
func Example() {
	db, mock, err := sqlmock.New() // in place of sql.Open
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	expectSettings(mock)
	// the check of the session
	mock.ExpectExec("SET").WillReturnResult(sqlmock.NewResult(0, 0))
	// earlier processes took 5,000
	mock.ExpectExec("UPDATE `shop`.snow_segments").WillReturnResult(sqlmock.NewResult(5001, 1))

	ctx := context.Background()
	keys, err := segments.Open(ctx, []*sql.DB{db}, sqlsnow.MySQL, segments.Config{Tag: "orders"})
	if err != nil {
		log.Fatal(err)
	}
	defer keys.Close(ctx)

	id, err := keys.Next(ctx)
	if err != nil {
		log.Fatal(err) // segments.ErrEmpty: all numbers are used up, and no database is in reach
	}
	lines := make([]snow.ID, 3)
	if err := keys.Fill(ctx, lines); err != nil {
		log.Fatal(err)
	}
	fmt.Println(id, lines)
	// Output: 5001 [5002 5003 5004]
}

// A tag names the counter. Programs with the same tag share its numbers, so it can't be
// left out.
func ExampleOpen() {
	_, err := segments.Open(context.Background(), []*sql.DB{new(sql.DB)}, sqlsnow.MySQL, segments.Config{})
	fmt.Println(err)
	// Output:
	// segments: open tag "": Tag "": want 1 to 64 ASCII letters, digits, dots, underscores, hyphens, colons or slashes
}

// After a restore from a backup: no process may have been given an id above this one.
func ExampleRaise() {
	db, mock, err := sqlmock.New() // in place of sql.Open
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	expectSettings(mock)
	mock.ExpectExec("SET").WillReturnResult(sqlmock.NewResult(0, 1)) // the check of the session
	mock.ExpectExec("UPDATE `shop`.snow_segments").WillReturnResult(sqlmock.NewResult(1, 1))

	const highest = 812_345 // of the tables that have the ids
	const held = 1_000_000  // what running processes may have, generously
	err = segments.Raise(context.Background(), db, sqlsnow.MySQL, "orders", highest+held)
	fmt.Println(err)
	// Output: <nil>
}

func ExampleCounters() {
	db, mock, err := sqlmock.New() // in place of sql.Open
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	expectSettings(mock)
	mock.ExpectQuery("FROM `shop`.snow_segments").WillReturnRows(mock.NewRows(make([]string, 5)).
		AddRow("invoices", 4001, 1, 0, 1).
		AddRow("orders", 812_345, 2, 1, 2))

	all, err := segments.Counters(context.Background(), db, sqlsnow.MySQL)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range all {
		fmt.Println(c.Tag, c.Next, c.Regressed)
	}
	// Output:
	// invoices 4001 false
	// orders 812345 true
}

// expectSettings answers the first question that a server is asked: its clock, its settings, the schema, and how
// the tables are stored.
func expectSettings(mock sqlmock.Sqlmock) {
	mock.ExpectQuery("UTC_TIMESTAMP").WillReturnRows(mock.NewRows(make([]string, 15)).
		AddRow(1, "0", "1", "1", "1", "1", "1", "0", "1", "fsync", "1", "0", "shop", "0", ""))
}
