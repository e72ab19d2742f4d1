//go:build unix

package snow_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

// The whole way of a key on real servers: migrate, init, lease worker numbers to processes, insert into two
// databases, lose a process, merge, verify.

const (
	sellerVariable = "SNOW_TEST_SELLER" // makes TestSeller a seller: what comes after it is the argument
	ordersOfSeller = 300
)

func TestLeasedKeysMerge(t *testing.T) {
	t.Parallel()
	servers := [2]*dbtest.Server{dbtest.MariaDB(t), dbtest.MariaDB(t)}
	var dsns [2]string
	var shops [2]*gorm.DB
	for i, s := range servers {
		dsns[i] = s.DSN(s.CreateDatabase(t))
		db, err := gorm.Open(mysql.Open(dsns[i]), &gorm.Config{TranslateError: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.AutoMigrate(&Order{}, &OrderLine{}); err != nil {
			t.Fatal(err)
		}
		pool, err := db.DB()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { pool.Close() })
		shops[i] = db
	}

	// One of the two databases also leases the worker numbers of both.
	registry, err := shops[0].DB()
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlsnow.Migrate(t.Context(), registry, sqlsnow.MySQL); err != nil {
		t.Fatal(err)
	}
	if err := sqlsnow.Init(t.Context(), registry, sqlsnow.MySQL, sqlsnow.Namespace{Name: "shop", Layout: snow.DefaultLayout()}); err != nil {
		t.Fatal(err)
	}

	// Two sellers for each database, at the same time. The first never ends by itself.
	sell := func(name string, shop, orders int) (*exec.Cmd, *bufio.Scanner) {
		t.Helper()
		seller := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSeller$")
		seller.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s %s", sellerVariable, name, orders, dsns[shop], dsns[0]))
		seller.Stderr = os.Stderr
		out, err := seller.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := seller.Start(); err != nil {
			t.Fatal(err)
		}
		return seller, bufio.NewScanner(out)
	}
	wait := func(name string, seller *exec.Cmd, lines *bufio.Scanner) {
		t.Helper()
		for lines.Scan() {
		}
		if err := seller.Wait(); err != nil {
			t.Errorf("seller %s: %v", name, err)
		}
	}
	doomed, lines := sell("doomed", 0, 1<<30)
	sellers := map[string]*exec.Cmd{}
	outputs := map[string]*bufio.Scanner{}
	for i, name := range []string{"ann", "bob", "cat"} {
		sellers[name], outputs[name] = sell(name, (i+1)%2, ordersOfSeller)
	}
	for n := 0; n < 100 && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "sold ") {
			n++
		}
	}
	if err := doomed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	_ = doomed.Wait()
	// Its number is not leased again before its window ends, so the next seller has another one.
	next, nextLines := sell("next", 0, ordersOfSeller)
	wait("next", next, nextLines)
	for name := range sellers {
		wait(name, sellers[name], outputs[name])
	}

	workers, err := sqlsnow.Workers(t.Context(), registry, sqlsnow.MySQL, "shop")
	if err != nil {
		t.Fatal(err)
	}
	var held, used int
	for _, w := range workers {
		if w.State == sqlsnow.Granted {
			held++
		}
		if w.Fence > 0 {
			used++
		}
	}
	if held != 1 || used < 2 {
		t.Errorf("%d worker numbers are held and %d were used, want the one of the seller that was killed, and several", held, used)
	}

	seen := map[int64]bool{}
	var orders, orderLines int
	for _, db := range shops {
		for _, table := range []string{"orders", "order_lines"} {
			for _, id := range ids(t, db, table) {
				if id <= 0 || seen[id] {
					t.Fatalf("%s: id %d clashes", table, id)
				}
				seen[id] = true
			}
		}
		orders += len(ids(t, db, "orders"))
		orderLines += len(ids(t, db, "order_lines"))
	}
	if orders < 4*ordersOfSeller+100 || orderLines != 2*orders {
		t.Errorf("%d orders with %d lines, want at least %d and two for each", orders, orderLines, 4*ordersOfSeller+100)
	}
	if err := merge[Order, OrderLine](t.Context(), shops[0], shops[1]); err != nil {
		t.Fatalf("merge: %v", err)
	}
	if got := len(ids(t, shops[0], "orders")); got != orders {
		t.Errorf("orders after the merge: got %d, want %d", got, orders)
	}
	if got := linesOfTheirOrder(t, shops[0]); got != orderLines {
		t.Errorf("lines that point to their order: got %d, want %d", got, orderLines)
	}
}

// TestSeller is a process of TestLeasedKeysMerge.
func TestSeller(t *testing.T) {
	argument := os.Getenv(sellerVariable)
	if argument == "" {
		t.Skip("a process of TestLeasedKeysMerge")
	}
	var name, shop, registry string
	var orders int
	if _, err := fmt.Sscanf(argument, "%s %d %s %s", &name, &orders, &shop, &registry); err != nil {
		t.Fatal(err)
	}
	leases, err := sql.Open("mysql", registry)
	if err != nil {
		t.Fatal(err)
	}
	defer leases.Close()
	lease, err := sqlsnow.Acquire(t.Context(), leases, sqlsnow.MySQL, sqlsnow.LeaseConfig{Namespace: "shop", Holder: name})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := lease.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	keys, err := snow.NewGenerator(lease, snow.Config{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := gorm.Open(mysql.Open(shop), &gorm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Use(gormsnow.New(keys)); err != nil {
		t.Fatal(err)
	}
	for n := range orders {
		if err := db.WithContext(t.Context()).Create(newOrder(fmt.Sprint(name, "-", n), n)).Error; err != nil {
			t.Fatal(err)
		}
		fmt.Println("sold", n)
	}
}
