//go:build unix

package gormcheck_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

type (
	order struct {
		ID        snow.ID
		Buyer     string  `gorm:"size:40"`
		Reference *string `gorm:"size:40;uniqueIndex"`
		Coupon    *string `gorm:"size:40;unique"`
		Lines     []line
		DeletedAt gorm.DeletedAt
	}
	line struct {
		ID      snow.ID
		OrderID snow.ID
		Text    string `gorm:"size:40"`
	}
	// Names are unique among rows that are not deleted.
	nickname struct {
		ID        snow.ID
		Name      string `gorm:"uniqueIndex:,where:deleted_at IS NULL"`
		Note      string
		DeletedAt gorm.DeletedAt
	}
	// Its hook makes every insert one that never fails.
	lenient struct {
		ID   snow.ID
		Name string `gorm:"size:40"`
	}
)

func (lenient) BeforeCreate(tx *gorm.DB) error {
	tx.Statement.AddClause(clause.OnConflict{DoNothing: true})
	return nil
}

func count(t *testing.T, db *gorm.DB, model any) (n int64) {
	t.Helper()
	if err := db.Model(model).Unscoped().Count(&n).Error; err != nil {
		t.Fatal(err)
	}
	return n
}

// once calls CreateOnce and fails the test unless it creates or loads, as wanted.
func once[T any](t *testing.T, db *gorm.DB, want bool, row *T, on ...string) {
	t.Helper()
	if created, err := gormsnow.CreateOnce(db, row, on...); err != nil || created != want {
		t.Fatalf("CreateOnce = %t, %v; want %t", created, err, want)
	}
}

func TestCreateOnce(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		for _, config := range []gorm.Config{
			{},
			{TranslateError: true, PrepareStmt: true},
			{SkipDefaultTransaction: true, DisableNestedTransaction: true},
		} {
			db := d.open(t, config)
			for name, test := range map[string]func(*testing.T, *gorm.DB){
				"by id":                     testByID,
				"by columns":                testByColumns,
				"another key":               testAnotherKey,
				"soft-deleted":              testSoftDeleted,
				"partial index":             testPartialIndex,
				"tables and conditions":     testTables,
				"failing association":       testFailingAssociation,
				"clauses that hide":         testHidden,
				"in a caller's transaction": testInTransaction,
			} {
				t.Run(name, func(t *testing.T) {
					if err := db.Migrator().DropTable(&order{}, &line{}, &lenient{}, &nickname{}, "orders_1"); err != nil {
						t.Fatal(err)
					}
					migrate(t, db, &order{}, &line{}, &lenient{})
					if db.Name() != "mysql" {
						migrate(t, db, &nickname{})
					}
					test(t, db.WithContext(t.Context()))
				})
			}
		}
	})
}

func testByID(t *testing.T, db *gorm.DB) {
	first := order{Buyer: "ann", Lines: []line{{Text: "tea"}, {Text: "milk"}}}
	once(t, db, true, &first)
	if first.ID.IsZero() || first.Lines[1].OrderID != first.ID {
		t.Fatalf("after the first call: %+v", first)
	}
	again := order{ID: first.ID, Buyer: "not ann", Lines: []line{{Text: "rum"}}}
	once(t, db, false, &again)
	if again.ID != first.ID || again.Buyer != "ann" || again.Lines != nil {
		t.Errorf("loaded %+v, want the stored row without associations", again)
	}
	again = order{ID: first.ID}
	once(t, db.Preload("Lines").Select("ID"), false, &again)
	if again.Buyer != "ann" || len(again.Lines) != 2 {
		t.Errorf("loaded %+v, want all columns and the stored lines", again)
	}
	if orders, lines := count(t, db, &order{}), count(t, db, &line{}); orders != 1 || lines != 2 {
		t.Errorf("%d orders and %d lines, want 1 and 2", orders, lines)
	}
}

func testByColumns(t *testing.T, db *gorm.DB) {
	reference, other := "r-1", "r-2"
	first := order{Reference: &reference, Buyer: "ann"}
	once(t, db, true, &first, "Reference")
	second := order{Reference: &reference, Buyer: "bob"}
	once(t, db, false, &second, "reference")
	if second.ID != first.ID || second.Buyer != "ann" {
		t.Errorf("loaded %+v, want order %d", second, first.ID)
	}
	// With more columns than the unique ones, all of them must match the row.
	third := order{Reference: &reference, Buyer: "ann"}
	once(t, db, false, &third, "reference", "buyer")
	fourth := order{Reference: &reference, Buyer: "bob"}
	if created, err := gormsnow.CreateOnce(db, &fourth, "reference", "buyer"); created || !errors.Is(err, gorm.ErrDuplicatedKey) {
		t.Errorf("the reference of another buyer: %t, %v; want ErrDuplicatedKey", created, err)
	}
	once(t, db, true, &order{Reference: &other}, "Reference")
}

func testAnotherKey(t *testing.T, db *gorm.DB) {
	reference, coupon := "r-1", "c-1"
	once(t, db, true, &order{Reference: &reference, Coupon: &coupon})
	for name, call := range map[string]func(tx *gorm.DB) (bool, error){
		"by id": func(tx *gorm.DB) (bool, error) { return gormsnow.CreateOnce(tx, &order{Reference: &reference}) },
		"by reference": func(tx *gorm.DB) (bool, error) {
			r := "r-2"
			return gormsnow.CreateOnce(tx, &order{Reference: &r, Coupon: &coupon}, "Reference")
		},
	} {
		err := db.Transaction(func(tx *gorm.DB) error {
			created, err := call(tx)
			if created || !errors.Is(err, gorm.ErrDuplicatedKey) || !strings.HasPrefix(err.Error(), "gormsnow: create once: ") {
				t.Errorf("%s: %t, %v; want ErrDuplicatedKey", name, created, err)
			}
			return tx.Create(&line{Text: name}).Error // the transaction lives on
		})
		if err != nil {
			t.Errorf("%s: the caller's transaction: %v", name, err)
		}
	}
	if orders, lines := count(t, db, &order{}), count(t, db, &line{}); orders != 1 || lines != 2 {
		t.Errorf("%d orders and %d lines, want 1 and 2", orders, lines)
	}
}

func testSoftDeleted(t *testing.T, db *gorm.DB) {
	first := order{Buyer: "ann"}
	once(t, db, true, &first)
	if err := db.Delete(&order{ID: first.ID}).Error; err != nil {
		t.Fatal(err)
	}
	again := order{ID: first.ID}
	once(t, db, false, &again)
	if again.Buyer != "ann" || !again.DeletedAt.Valid {
		t.Errorf("loaded %+v, want the deleted row", again)
	}
}

func testPartialIndex(t *testing.T, db *gorm.DB) {
	if db.Name() == "mysql" {
		t.Skip("MySQL has no partial indexes")
	}
	for _, note := range []string{"first", "second", "third"} {
		row := nickname{Name: "ann", Note: note}
		once(t, db, true, &row, "Name")
		again := nickname{Name: "ann"}
		once(t, db, false, &again, "Name")
		if again.ID != row.ID || again.Note != note || again.DeletedAt.Valid {
			t.Errorf("loaded %+v, want the row that is not deleted, %d", again, row.ID)
		}
		if err := db.Delete(&row).Error; err != nil {
			t.Fatal(err)
		}
	}
}

func testTables(t *testing.T, db *gorm.DB) {
	type order struct { // without indexes, whose names would meet in PostgreSQL and SQLite
		ID    snow.ID
		Buyer string `gorm:"size:40"`
	}
	scope := func(db *gorm.DB) *gorm.DB { return db.Table("orders_1") }
	migrate(t, db.Table("orders_1"), &order{})
	first := order{Buyer: "ann"}
	once(t, db.Table("orders_1"), true, &first)
	once(t, db.Table("orders_1"), true, &order{Buyer: "bob"})
	for name, tx := range map[string]*gorm.DB{
		"table":     db.Table("orders_1"),
		"scope":     db.Scopes(scope),
		"session":   db.Table("orders_1").Session(&gorm.Session{}),
		"condition": db.Scopes(scope).Where("buyer = ?", "bob").Or("1 = 0"),
	} {
		again := order{ID: first.ID}
		if created, err := gormsnow.CreateOnce(tx, &again); err != nil || created || again.Buyer != "ann" {
			t.Errorf("%s: %t, %v, loaded %+v", name, created, err, again)
		}
	}
	once(t, db, true, &order{ID: first.ID}) // in the table orders
}

func testFailingAssociation(t *testing.T, db *gorm.DB) {
	if err := db.Migrator().DropTable(&line{}); err != nil {
		t.Fatal(err)
	}
	row := order{Lines: []line{{Text: "milk"}}}
	if created, err := gormsnow.CreateOnce(db, &row); created || err == nil {
		t.Errorf("without a table for the lines: %t, %v; want an error", created, err)
	}
	if n := count(t, db, &order{}); n != 0 {
		t.Errorf("%d orders are stored, want 0", n)
	}
	id := row.ID
	migrate(t, db, &line{})
	once(t, db, true, &row)
	if row.ID != id || id.IsZero() {
		t.Errorf("id %d after a failed call and %d after the next: want one", id, row.ID)
	}
}

// What turns a duplicate into a success must not pass for a creation.
func testHidden(t *testing.T, db *gorm.DB) {
	first := lenient{ID: 5}
	if err := db.Session(&gorm.Session{SkipHooks: true}).Create(&first).Error; err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() (bool, error){
		"hook": func() (bool, error) { return gormsnow.CreateOnce(db, &lenient{ID: 5}) },
		"hook of a new row": func() (bool, error) {
			return gormsnow.CreateOnce(db, &lenient{ID: 6})
		},
		"clause": func() (bool, error) {
			return gormsnow.CreateOnce(db.Clauses(clause.OnConflict{UpdateAll: true}), &order{ID: 5})
		},
	} {
		if created, err := call(); created || err == nil || !strings.Contains(err.Error(), "ON CONFLICT") {
			t.Errorf("%s: %t, %v; want an error", name, created, err)
		}
	}
	if n := count(t, db, &lenient{}); n != 1 {
		t.Errorf("%d rows, want the first one", n)
	}
}

// The row was stored after the caller's transaction took its snapshot.
func testInTransaction(t *testing.T, db *gorm.DB) {
	if db.Name() == "sqlite" {
		t.Skip("in SQLite, a transaction that has read can't write once another has")
	}
	err := db.Transaction(func(tx *gorm.DB) error {
		if db.Name() == "mysql" {
			// from 11.6 on it ends the transaction
			execute(t, tx, "SET /*M!100618 innodb_snapshot_isolation = OFF, */ @x = 1")
		}
		if n := count(t, tx, &order{}); n != 0 {
			t.Errorf("%d orders at the start", n)
		}
		first := order{Buyer: "ann"}
		once(t, db, true, &first) // on another connection
		again := order{ID: first.ID}
		once(t, tx, false, &again)
		if again.Buyer != "ann" {
			t.Errorf("loaded %+v", again)
		}
		return tx.Create(&line{}).Error
	})
	if err != nil {
		t.Error(err)
	}
}

// PostgreSQL shows a transaction of this isolation no newer row, under a lock neither.
func TestCreateOnceInOldSnapshot(t *testing.T) {
	t.Parallel()
	db := newDatabase(t, "postgres").open(t, gorm.Config{}).WithContext(t.Context())
	migrate(t, db, &order{}, &line{})
	first := order{Buyer: "ann"}
	err := db.Transaction(func(tx *gorm.DB) error {
		if n := count(t, tx, &order{}); n != 0 {
			t.Errorf("%d orders at the start", n)
		}
		once(t, db, true, &first) // on another connection
		_, err := gormsnow.CreateOnce(tx, &order{ID: first.ID})
		return err
	}, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if !errors.Is(err, gorm.ErrDuplicatedKey) {
		t.Errorf("error = %v, want ErrDuplicatedKey", err)
	}
	once(t, db, false, &order{ID: first.ID})
}

func TestCreateOnceConcurrently(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		db := d.open(t, gorm.Config{})
		migrate(t, db, &order{}, &line{})
		reference := "r-1"
		for name, on := range map[string][]string{"by id": nil, "by columns": {"Reference"}} {
			row := order{ID: 7, Buyer: name}
			if on != nil {
				row = order{Buyer: name, Reference: &reference}
			}
			const retries = 100
			var created atomic.Int64
			ids := make([]snow.ID, retries)
			var group sync.WaitGroup
			for i := range retries {
				group.Go(func() {
					row := row
					row.Lines = []line{{Text: "tea"}}
					ok, err := gormsnow.CreateOnce(db.WithContext(t.Context()), &row, on...)
					if err != nil {
						t.Errorf("%s: %v", name, err)
					}
					if ok {
						created.Add(1)
					}
					ids[i] = row.ID
				})
			}
			group.Wait()
			if created.Load() != 1 {
				t.Errorf("%s: created is true %d times, want once", name, created.Load())
			}
			for _, id := range ids {
				if id != ids[0] || id.IsZero() {
					t.Errorf("%s: ids %d and %d, want one", name, ids[0], id)
				}
			}
			var n int64
			if err := db.Model(&order{}).Where("buyer = ?", name).Count(&n).Error; err != nil || n != 1 {
				t.Errorf("%s: %d rows (%v), want 1", name, n, err)
			}
			if err := db.Model(&line{}).Where("order_id = ?", ids[0]).Count(&n).Error; err != nil || n != 1 {
				t.Errorf("%s: %d lines (%v), want 1", name, n, err)
			}
		}
	})
}

// A client makes an id, its row is committed, and the reply is lost.
func TestCreateOnceAfterLostReply(t *testing.T) {
	t.Parallel()
	for _, product := range []string{"mariadb", "postgres"} {
		t.Run(product, func(t *testing.T) {
			t.Parallel()
			direct := newDatabase(t, product)
			migrate(t, direct.open(t, gorm.Config{}), &order{}, &line{})
			through, proxy := throughProxy(t, direct)
			db := through.open(t, gorm.Config{})
			id, err := newGenerator(t).Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			request := func(ctx context.Context) (bool, error) {
				return gormsnow.CreateOnce(db.WithContext(ctx), &order{ID: id, Buyer: "ann", Lines: []line{{Text: "tea"}}})
			}
			proxy.armed.Store(true)
			if created, err := request(t.Context()); created || err == nil || proxy.cuts.Load() != 1 {
				t.Fatalf("request with its reply cut off: %t, %v, %d cuts", created, err, proxy.cuts.Load())
			}
			if n := count(t, direct.openBare(t, gorm.Config{}), &order{}); n != 1 {
				t.Fatalf("%d orders after the cut, want the committed one", n)
			}
			if created, err := request(t.Context()); created || err != nil {
				t.Errorf("retry: %t, %v; want the stored row", created, err)
			}
			if orders, lines := count(t, db, &order{}), count(t, db, &line{}); orders != 1 || lines != 1 {
				t.Errorf("%d orders and %d lines, want 1 and 1", orders, lines)
			}
		})
	}
}
