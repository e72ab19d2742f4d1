//go:build unix

package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/gormsnow/route"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestShop(t *testing.T) {
	a, b := dbtest.MariaDB(t), dbtest.MariaDB(t)
	dsns := []string{a.DSN(a.CreateDatabase(t)), b.DSN(b.CreateDatabase(t))}
	const buyers = 8
	for round := 1; round <= 2; round++ { // the second one finds all tables
		var out bytes.Buffer
		if err := run(t.Context(), []string{"-dsn", dsns[0], "-dsn", dsns[1], "-buyers", fmt.Sprint(buyers)}, &out); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`^(buyer-\d ordered 2 things: \d+\n){%d}all databases have %d lines\n`+
			`refused: route: query main\.Order: the shard is unknown: no condition on ID or Buyer .*\n$`, buyers, 2*buyers*round)
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("round %d printed:\n%s\nwant %s", round, &out, want)
		}
	}
	// Each database has the rows of its own shards, and each buyer's orders are together.
	seen := map[string]int{}
	for i, dsn := range dsns {
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		rows, err := db.QueryContext(t.Context(), "SELECT o.buyer, o.id % 2 FROM orders AS o JOIN `lines` AS l ON l.order_id = o.id")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var buyer string
			var target int
			if err := rows.Scan(&buyer, &target); err != nil {
				t.Fatal(err)
			}
			if target != i {
				t.Errorf("database %d has a row of database %d", i, target)
			}
			seen[buyer]++
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if i == 0 && (len(seen) == 0 || len(seen) == buyers) {
			t.Errorf("database 0 has the orders of %d buyers, want some", len(seen))
		}
	}
	for buyer, lines := range seen {
		if lines != 4 {
			t.Errorf("%s has %d lines, want 4", buyer, lines)
		}
	}
	if len(seen) != buyers {
		t.Errorf("got %d buyers", len(seen))
	}
	db, err := sql.Open("mysql", dsns[0])
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	workers, err := sqlsnow.Workers(t.Context(), db, sqlsnow.MySQL, "shop")
	if err != nil || len(workers) == 0 {
		t.Fatalf("%d worker numbers, %v", len(workers), err)
	}
	for _, w := range workers {
		if w.State != sqlsnow.Free {
			t.Errorf("worker %d is %s, want it given back", w.Worker, w.State)
		}
	}
}

func TestBadArguments(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "give the databases with -dsn"},
		{[]string{"-dsn", "nonsense"}, "database 0: "},
		{[]string{"-dsn", "one", "-dsn", "one"}, `invalid value "one" for flag -dsn: this database is there already`},
		{[]string{"-dsn", "root@tcp(127.0.0.1:1)/shop"}, "database 0: "},
	} {
		if err := run(context.Background(), test.args, new(bytes.Buffer)); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %s", test.args, err, test.want)
		}
	}
}

// A database that is down is an error of its statements, and the others work.
func TestOneDatabaseDown(t *testing.T) {
	a, b := dbtest.MariaDB(t), dbtest.MariaDB(t)
	db, closeAll, err := open(t.Context(), []string{a.DSN(a.CreateDatabase(t)), b.DSN(b.CreateDatabase(t))})
	if err != nil {
		t.Fatal(err)
	}
	b.Kill(t)
	failed := 0
	for i := range 8 {
		if err := db.WithContext(t.Context()).Create(&Order{Buyer: fmt.Sprint(i)}).Error; err != nil {
			failed++
		}
	}
	if failed == 0 || failed == 8 {
		t.Errorf("%d of 8 orders failed, want the ones of one database", failed)
	}
	var n int64
	if err := route.Scatter(db.WithContext(t.Context())).Model(&Order{}).Count(&n).Error; err == nil {
		t.Errorf("all databases have %d orders, though one is down", n)
	}
	if err := closeAll(); err != nil {
		t.Error(err)
	}
}
