package functions_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/functions"
)

// A trigger gives ids to the rows of programs that are not Go.
func ExampleInstall() {
	ctx := context.Background()
	db, err := sql.Open("mysql", "shop@tcp(127.0.0.1:3306)/shop?parseTime=true")
	if err != nil {
		log.Fatal(err)
	}
	worker, err := functions.Install(ctx, db, sqlsnow.MySQL, functions.Config{Namespace: "shop"})
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("the ids of the database have worker number %d", worker)
	const trigger = "CREATE TRIGGER orders_id BEFORE INSERT ON orders FOR EACH ROW SET NEW.id = IF(NEW.id = 0, snow_next_id(), NEW.id)"
	if _, err := db.ExecContext(ctx, trigger); err != nil {
		log.Fatal(err)
	}
}

func ExampleReading() {
	statements, err := functions.Reading(sqlsnow.Postgres, snow.Default())
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range statements {
		if first, _, ok := strings.Cut(s, "\n"); ok {
			fmt.Println(first)
		}
	}
	// Output:
	// CREATE OR REPLACE FUNCTION snow_time(id bigint) RETURNS timestamptz
	// CREATE OR REPLACE FUNCTION snow_datacenter(id bigint) RETURNS bigint
	// CREATE OR REPLACE FUNCTION snow_worker(id bigint) RETURNS bigint
	// CREATE OR REPLACE FUNCTION snow_sequence(id bigint) RETURNS bigint
	// CREATE OR REPLACE FUNCTION snow_shard(id bigint) RETURNS bigint
	// CREATE OR REPLACE FUNCTION snow_id_from(instant timestamptz) RETURNS bigint
	// CREATE OR REPLACE FUNCTION snow_id_until(instant timestamptz) RETURNS bigint
}

func ExampleAddPartitions() {
	january := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	statements, err := functions.AddPartitions(sqlsnow.Postgres, snow.Default(), "orders", january, 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Join(statements, "\n"))
	// Output:
	// CREATE TABLE "orders_p202601" PARTITION OF "orders" FOR VALUES FROM (264905529753600000) TO (276139553587200000)
	// CREATE TABLE "orders_p202602" PARTITION OF "orders" FOR VALUES FROM (276139553587200000) TO (286286413824000000)
}
