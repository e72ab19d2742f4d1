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

// A migration runs the statements of Reading. Afterwards SQL takes ids apart.
func Example() {
	statements, err := functions.Reading(sqlsnow.MySQL, snow.DefaultLayout())
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range statements {
		if strings.HasPrefix(s, "CREATE FUNCTION snow_worker") {
			fmt.Println(s)
		}
	}
	// Output:
	// CREATE FUNCTION snow_worker(id bigint) RETURNS bigint
	//   DETERMINISTIC NO SQL SQL SECURITY INVOKER COMMENT 'snow 1: 41+0+10+12+0/1ms@2024-01-01T00:00:00Z'
	//   RETURN CASE WHEN id > 0 THEN ((id >> 12) & 1023) END
}

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

// A copy of a database gets a number of its own before it makes an id.
func ExampleRenumber() {
	ctx := context.Background()
	db, err := sql.Open("mysql", "shop@tcp(127.0.0.1:3306)/shop_copy?parseTime=true")
	if err != nil {
		log.Fatal(err)
	}
	worker, err := functions.Renumber(ctx, db, sqlsnow.MySQL, functions.Config{Namespace: "shop"})
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("the ids of the copy have worker number %d", worker)
}

func ExampleReading() {
	statements, err := functions.Reading(sqlsnow.Postgres, snow.DefaultLayout())
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

func ExamplePartition() {
	january := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	statement, err := functions.Partition(sqlsnow.MySQL, snow.DefaultLayout(), "orders", "id", january, 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Replace(statement, ", PARTITION", ",\nPARTITION", 1))
	// Output:
	// ALTER TABLE `orders` PARTITION BY RANGE (`id`) (PARTITION p202601 VALUES LESS THAN (276139553587200000),
	// PARTITION p202602 VALUES LESS THAN (286286413824000000))
}

func ExampleAddPartitions() {
	january := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	statements, err := functions.AddPartitions(sqlsnow.Postgres, snow.DefaultLayout(), "orders", january, 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Join(statements, "\n"))
	// Output:
	// CREATE TABLE "orders_p202601" PARTITION OF "orders" FOR VALUES FROM (264905529753600000) TO (276139553587200000)
	// CREATE TABLE "orders_p202602" PARTITION OF "orders" FOR VALUES FROM (276139553587200000) TO (286286413824000000)
}
