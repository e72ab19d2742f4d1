package numbers_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/DATA-DOG/go-sqlmock"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/numbers"
)

// Invoices without gaps: the number is taken in the transaction that stores the invoice, as late as possible.
func Example() {
	db, mock, err := sqlmock.New() // in place of sql.Open
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	expectOpen(mock, "INV-{yyyy}-{000000}", "Europe/Berlin", 1, 1)
	mock.ExpectBegin()
	mock.ExpectExec("INSERT INTO `shop`.snow_numbers").WillReturnResult(sqlmock.NewResult(123, 2)) // earlier transactions took 122
	mock.ExpectExec("INSERT INTO invoices").WillReturnResult(sqlmock.NewResult(0, 1))
	mock.ExpectCommit()

	ctx := context.Background()
	invoices, err := numbers.OpenGapFree(ctx, db, sqlsnow.MySQL, numbers.Config{
		Series: "invoices", Pattern: "INV-{yyyy}-{000000}", Restart: numbers.Yearly, Zone: "Europe/Berlin",
	})
	if err != nil {
		log.Fatal(err)
	}

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	// whatever else the transaction does comes here
	number, err := invoices.Take(ctx, tx)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO invoices (number) VALUES (?)", number); err != nil {
		log.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(number[:4], number[8:])
	// Output: INV- -000123
}

// Order numbers with gaps. Each tenant has its own.
func ExampleFast() {
	db, mock, err := sqlmock.New() // in place of sql.Open
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	expectOpen(mock, "{tenant}/{0000}", "UTC", 2, 0)
	expectSeries(mock, "{tenant}/{0000}", "UTC", 2, 0)                                      // the database's clock
	mock.ExpectExec("SET").WillReturnResult(sqlmock.NewResult(0, 0))                        // the check of the session
	mock.ExpectExec("UPDATE `shop`.snow_numbers").WillReturnResult(sqlmock.NewResult(1, 1)) // 100 at once

	ctx := context.Background()
	orders, err := numbers.OpenFast(ctx, db, sqlsnow.MySQL, numbers.FastConfig{
		Config: numbers.Config{Series: "orders", Pattern: "{tenant}/{0000}"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		number, err := orders.Next(ctx, "acme")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(number)
	}
	// Output:
	// acme/0001
	// acme/0002
	// acme/0003
}

// The database has an asynchronous replica, which may lack up to 5 s of commits when it takes over.
func ExampleFastConfig() {
	db, mock, err := sqlmock.New() // in place of sql.Open
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	expectOpen(mock, "{yyMMdd}-{000000}", "UTC", 2, 3)
	expectSeries(mock, "{yyMMdd}-{000000}", "UTC", 2, 3)
	mock.ExpectExec("SET").WillReturnResult(sqlmock.NewResult(0, 0))                        // the check of the session
	mock.ExpectExec("UPDATE `shop`.snow_numbers").WillReturnResult(sqlmock.NewResult(1, 1)) // marks the configuration

	ctx := context.Background()
	orders, err := numbers.OpenFast(ctx, db, sqlsnow.MySQL, numbers.FastConfig{
		Config:     numbers.Config{Series: "orders", Pattern: "{yyMMdd}-{000000}", Restart: numbers.Daily},
		LossWindow: 5 * time.Second,
	})
	if err != nil {
		log.Fatal(err)
	}
	// The first number comes 5.5 s later, so a program takes one when it starts. After that nobody waits.
	fmt.Println(orders.Pattern())
	// Output: {yyMMdd}-{000000}
}

// A pattern is checked before anything is stored, and the error says where it is wrong.
func ExampleParsePattern() {
	day := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	for _, text := range []string{"INV-{yyyy}-{000000}", "{tenant}/{yyMMdd}/{0000}{luhn}", "INV-{yyyy}-{000"} {
		p, err := numbers.ParsePattern(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		number, err := p.Format(day, 42, []string{"acme"}[:len(p.Partitions())]...)
		fmt.Println(number, err)
	}
	// Output:
	// INV-2026-000042 <nil>
	// acme/261126/00429 <nil>
	// pattern "INV-{yyyy}-{000", offset 11: there is no } after this {
}

// A customer reads a number out on the phone.
func ExamplePattern_Parse() {
	p, err := numbers.ParsePattern("{00000000}{luhn}")
	if err != nil {
		log.Fatal(err)
	}
	n, err := p.Parse("000000018")
	fmt.Println(n.Number, err)
	_, err = p.Parse("000000081")
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// text "000000081": the check digit is wrong: a digit was mistyped, or two were swapped
}

// Yearly numbers need the year in their text, or they would repeat.
func ExampleOpenGapFree() {
	_, err := numbers.OpenGapFree(context.Background(), nil, sqlsnow.MySQL, numbers.Config{
		Series: "invoices", Pattern: "INV-{000000}", Restart: numbers.Yearly,
	})
	var field *snow.FieldError
	if errors.As(err, &field) {
		fmt.Println(field.Bound)
	}
	// Output: the pattern shows no year, so numbers would repeat: add {yyyy} or {yy}
}

// Without a transaction there is no number without gaps.
func ExampleGapFree_Take() {
	db, mock, err := sqlmock.New() // in place of sql.Open
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	expectOpen(mock, "INV-{0000}", "UTC", 1, 0)
	ctx := context.Background()
	invoices, err := numbers.OpenGapFree(ctx, db, sqlsnow.MySQL, numbers.Config{Series: "invoices", Pattern: "INV-{0000}"})
	if err != nil {
		log.Fatal(err)
	}
	_, err = invoices.Take(ctx, nil)
	fmt.Println(errors.Is(err, numbers.ErrNoTransaction))
	// Output: true
}

// expectOpen answers what a series asks when it is opened and its row is there.
func expectOpen(mock sqlmock.Sqlmock, pattern, zone string, kind, restart int64) {
	expectSettings(mock)
	expectSeries(mock, pattern, zone, kind, restart)
}

// expectSettings answers the first question that a server is asked: its clock, its settings, the schema, and how
// the tables are stored.
func expectSettings(mock sqlmock.Sqlmock) {
	mock.ExpectQuery("UTC_TIMESTAMP").WillReturnRows(mock.NewRows(make([]string, 15)).
		AddRow(1, "0", "1", "1", "1", "1", "1", "0", "1", "fsync", "1", "0", "shop", "0", ""))
}

func expectSeries(mock sqlmock.Sqlmock, pattern, zone string, kind, restart int64) {
	mock.ExpectExec("SET").WillReturnResult(sqlmock.NewResult(0, 0)) // the check of the session
	mock.ExpectQuery("FROM `shop`.snow_numbers").WillReturnRows(mock.NewRows(make([]string, 5)).
		AddRow(pattern, zone, kind, restart, time.Now().UnixMicro()))
}

func ExampleOpenFast() {
	_, err := numbers.OpenFast(context.Background(), nil, sqlsnow.MySQL, numbers.FastConfig{
		Config: numbers.Config{Series: "orders", Pattern: "{tenant}/{0000}", Zone: "Mars/Olympus"},
	})
	var field *snow.FieldError
	fmt.Println(errors.As(err, &field), field.Field, field.Value)
	// Output: true Zone "Mars/Olympus"
}

// The names are as people type them in a configuration.
func ExampleParseRestart() {
	r, err := numbers.ParseRestart("monthly")
	fmt.Println(r == numbers.Monthly, err)
	// Output: true <nil>
}

func ExampleList() {
	db, mock, err := sqlmock.New() // in place of sql.Open
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	expectList(mock)

	all, err := numbers.List(context.Background(), db, sqlsnow.MySQL)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range all {
		fmt.Println(s.Name, s.Pattern, s.Restart, s.Zone)
		for _, c := range s.Counters {
			fmt.Println(c.Scope, c.Last)
		}
	}
	// Output:
	// invoices INV-{yyyy}-{000000} yearly Europe/Berlin
	// 2025 4108
	// 2026 122
}

// Another program has made the invoices of this year so far.
func ExampleRaise() {
	db, mock, err := sqlmock.New() // in place of sql.Open
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	expectList(mock)
	expectSettings(mock)
	for range 2 { // the row of the counter, unless it is there; the last number
		mock.ExpectExec("SET").WillReturnResult(sqlmock.NewResult(0, 0)) // the check of the session
		mock.ExpectExec("`shop`.snow_numbers").WillReturnResult(sqlmock.NewResult(1, 1))
	}

	err = numbers.Raise(context.Background(), db, sqlsnow.MySQL, "invoices", "2026", 4711)
	fmt.Println(err)
	// Output: <nil>
}

func expectList(mock sqlmock.Sqlmock) {
	expectSettings(mock)
	mock.ExpectQuery("FROM `shop`.snow_numbers").WillReturnRows(mock.NewRows(make([]string, 8)).
		AddRow("invoices", "", "INV-{yyyy}-{000000}", "Europe/Berlin", 1, 1, 1, 0).
		AddRow("invoices", "2025", "", "", 1, 0, 1, 4108).
		AddRow("invoices", "2026", "", "", 1, 0, 1, 122))
}
