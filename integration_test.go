//go:build unix

package snow_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// The promise on real servers: orders are inserted into two databases by many goroutines at once, and then one
// database is merged into the other. The control run does the same with AUTO_INCREMENT keys.

const (
	sellers         = 8   // goroutines for each database
	ordersPerSeller = 200 // each with two lines
)

// Ref is unique, whatever the ids are: a line repeats its order's, so that a line of the wrong order is found.
type (
	Order struct {
		ID      snow.ID
		BuyerID int64
		Item    string      `gorm:"size:40"`
		Ref     string      `gorm:"size:40;uniqueIndex"`
		Lines   []OrderLine // saved with their order
	}
	OrderLine struct {
		ID       snow.ID
		OrderID  snow.ID
		Ref      string `gorm:"size:40"`
		Quantity int
	}
)

type (
	AutoOrder struct {
		ID      int64
		BuyerID int64
		Item    string          `gorm:"size:40"`
		Ref     string          `gorm:"size:40;uniqueIndex"`
		Lines   []AutoOrderLine `gorm:"foreignKey:OrderID"`
	}
	AutoOrderLine struct {
		ID       int64
		OrderID  int64
		Ref      string `gorm:"size:40"`
		Quantity int
	}
)

func (AutoOrder) TableName() string     { return "orders" }
func (AutoOrderLine) TableName() string { return "order_lines" }

func newOrder(ref string, n int) *Order {
	return &Order{
		BuyerID: int64(n % 97), Item: "tea", Ref: ref,
		Lines: []OrderLine{{Ref: ref, Quantity: 1}, {Ref: ref, Quantity: 2}},
	}
}

func newAutoOrder(ref string, n int) *AutoOrder {
	return &AutoOrder{
		BuyerID: int64(n % 97), Item: "tea", Ref: ref,
		Lines: []AutoOrderLine{{Ref: ref, Quantity: 1}, {Ref: ref, Quantity: 2}},
	}
}

func TestSnowKeysMerge(t *testing.T) {
	t.Parallel()
	a, b := openDatabase(t), openDatabase(t)
	for worker, db := range []*gorm.DB{a, b} {
		w, err := snow.Fixed(snow.DefaultLayout(), uint64(worker))
		if err != nil {
			t.Fatal(err)
		}
		generator, err := snow.NewGenerator(w, snow.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Use(gormsnow.New(generator)); err != nil {
			t.Fatal(err)
		}
	}
	sell[Order, OrderLine](t, a, b, newOrder)

	// Orders and lines draw from one generator, so their ids are compared as one set.
	seen := make(map[int64]bool)
	for _, db := range []*gorm.DB{a, b} {
		for _, table := range []string{"orders", "order_lines"} {
			for _, id := range ids(t, db, table) {
				if id <= 0 {
					t.Fatalf("%s has a row with the id %d", table, id)
				}
				if seen[id] {
					t.Errorf("%s: id %d clashes", table, id)
				}
				seen[id] = true
			}
		}
	}
	const orders, lines = 2 * sellers * ordersPerSeller, 4 * sellers * ordersPerSeller
	if got := len(seen); got != orders+lines {
		t.Errorf("different ids in both databases: got %d, want %d", got, orders+lines)
	}

	if err := merge[Order, OrderLine](t.Context(), a, b); err != nil {
		t.Fatalf("merge: %v", err)
	}
	for table, want := range map[string]int{"orders": orders, "order_lines": lines} {
		merged := ids(t, a, table)
		if got := len(merged); got != want {
			t.Errorf("%s after the merge: got %d rows, want %d", table, got, want)
		}
		for _, id := range merged {
			if !seen[id] {
				t.Errorf("%s: the merge made up id %d", table, id)
			}
		}
	}
	if got := linesOfTheirOrder(t, a); got != lines {
		t.Errorf("lines that point to their order: got %d, want %d", got, lines)
	}
}

func TestAutoIncrementKeysDoNot(t *testing.T) {
	t.Parallel()
	a, b := openDatabase(t), openDatabase(t)
	sell[AutoOrder, AutoOrderLine](t, a, b, newAutoOrder)

	const orders, lines = sellers * ordersPerSeller, 2 * sellers * ordersPerSeller
	inA := make(map[int64]bool)
	for _, id := range ids(t, a, "orders") {
		inA[id] = true
	}
	clashes := 0
	for _, id := range ids(t, b, "orders") {
		if inA[id] {
			clashes++
		}
	}
	t.Logf("%d of %d keys are in both databases", clashes, orders)
	if clashes == 0 || !inA[1] {
		t.Errorf("clashes: got %d, want both databases to count 1, 2, 3 …", clashes)
	}

	err := merge[AutoOrder, AutoOrderLine](t.Context(), a, b)
	if !errors.Is(err, gorm.ErrDuplicatedKey) {
		t.Errorf("merge: got %v, want %v", err, gorm.ErrDuplicatedKey)
	}
	for table, want := range map[string]int{"orders": orders, "order_lines": lines} {
		if got := len(ids(t, a, table)); got != want {
			t.Errorf("%s after the refused merge: got %d rows, want %d as before", table, got, want)
		}
	}
	if got := linesOfTheirOrder(t, a); got != lines {
		t.Errorf("lines that point to their order after the refused merge: got %d, want %d", got, lines)
	}
}

// openDatabase opens a new database on a server of its own.
func openDatabase(t *testing.T) *gorm.DB {
	t.Helper()
	server := dbtest.MariaDB(t)
	db, err := gorm.Open(mysql.Open(server.DSN(server.CreateDatabase(t))), &gorm.Config{
		TranslateError: true,
		Logger:         logger.Discard, // the control run's refusal is no news
	})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	pool.SetMaxIdleConns(sellers)
	return db
}

// sell creates the tables in both databases and fills them, with all sellers of both at the same time.
func sell[O, L any](t *testing.T, a, b *gorm.DB, order func(ref string, n int) *O) {
	t.Helper()
	var wg sync.WaitGroup
	for _, db := range []*gorm.DB{a, b} {
		if err := db.AutoMigrate(new(O), new(L)); err != nil {
			t.Fatal(err)
		}
	}
	for name, db := range map[string]*gorm.DB{"a": a, "b": b} {
		for seller := range sellers {
			wg.Go(func() {
				for n := range ordersPerSeller {
					if err := db.WithContext(t.Context()).Create(order(fmt.Sprint(name, "-", seller, "-", n), n)).Error; err != nil {
						t.Errorf("database %s, order %d of seller %d: %v", name, n, seller, err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// merge inserts the rows of one database into another, as they are, all or none.
func merge[O, L any](ctx context.Context, into, from *gorm.DB) error {
	var orders []O
	var lines []L
	if err := errors.Join(from.WithContext(ctx).Find(&orders).Error, from.WithContext(ctx).Find(&lines).Error); err != nil {
		return err
	}
	return into.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if err := tx.CreateInBatches(orders, 500).Error; err != nil {
			return err
		}
		return tx.CreateInBatches(lines, 500).Error
	})
}

func ids(t *testing.T, db *gorm.DB, table string) (ids []int64) {
	t.Helper()
	if err := db.WithContext(t.Context()).Table(table).Pluck("id", &ids).Error; err != nil {
		t.Fatal(err)
	}
	return ids
}

// linesOfTheirOrder counts the lines whose order is there and is the one that they were bought with.
func linesOfTheirOrder(t *testing.T, db *gorm.DB) (n int) {
	t.Helper()
	const query = "SELECT COUNT(*) FROM order_lines l JOIN orders o ON o.id = l.order_id AND o.ref = l.ref"
	if err := db.WithContext(t.Context()).Raw(query).Scan(&n).Error; err != nil {
		t.Fatal(err)
	}
	return n
}
