//go:build unix

package gormsnow_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/internal/dbtest"
)

type (
	Customer struct {
		gormsnow.Model
		Name     string `gorm:"size:40"`
		Carts    []Basket
		Interest []Topic `gorm:"many2many:customer_topics"`
	}
	Basket struct {
		gormsnow.Model
		CustomerID *snow.ID
		Customer   *Customer
		Note       string `gorm:"size:40"`
	}
	Topic struct {
		ID   snow.ID
		Name string `gorm:"size:40"`
	}
	Voucher struct {
		ID     int64    `gorm:"primaryKey;autoIncrement:false;snowflake"`
		Code   string   `gorm:"snowflake;size:20"`
		Serial *uint64  `gorm:"snowflake"`
		Public *snow.ID `gorm:"snowflake"`
	}
	Visit struct {
		*Base
		Origin Ref `gorm:"embedded;embeddedPrefix:origin_"`
		Page   string
	}
)

// stored are ids that an insert claims to have stored.
type stored struct {
	table, column string
	ids           []any
}

func column(table, column string, ids ...any) stored { return stored{table, column, ids} }

// check compares what was claimed with the table.
func (s stored) check(t *testing.T, db *gorm.DB) {
	t.Helper()
	seen := make(map[any]bool)
	for _, id := range s.ids {
		if v := reflect.Indirect(reflect.ValueOf(id)); !v.IsValid() || v.IsZero() {
			t.Errorf("%s.%s: got no id: %#v", s.table, s.column, id)
		} else {
			seen[v.Interface()] = true
		}
	}
	if len(seen) != len(s.ids) {
		t.Errorf("%s.%s: %d different ids in %v", s.table, s.column, len(seen), s.ids)
	}
	var n int
	err := db.Raw("SELECT COUNT(*) FROM ? WHERE ? IN ?", clause.Table{Name: s.table}, clause.Column{Name: s.column}, s.ids).Scan(&n).Error
	if err != nil || n != len(s.ids) {
		t.Errorf("%s.%s: %d rows have the ids %v, want %d (%v)", s.table, s.column, n, s.ids, len(s.ids), err)
	}
}

var shapes = map[string]func(ctx context.Context, db *gorm.DB) ([]stored, error){
	"struct": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{Name: "ann"}
		err := db.Create(&c).Error
		return []stored{column("customers", "id", c.ID)}, err
	},
	"pointer to a pointer": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := &Customer{}
		err := db.Create(&c).Error
		return []stored{column("customers", "id", c.ID)}, err
	},
	"slice": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := []Customer{{Name: "ann"}, {Name: "bob"}}
		err := db.Create(c).Error
		return []stored{column("customers", "id", c[0].ID, c[1].ID)}, err
	},
	"slice of pointers": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := []*Customer{{Name: "ann"}, {Name: "bob"}}
		err := db.Create(&c).Error
		return []stored{column("customers", "id", c[0].ID, c[1].ID)}, err
	},
	"array": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := [2]Topic{{Name: "tea"}, {Name: "milk"}}
		err := db.Create(&c).Error
		return []stored{column("topics", "id", c[0].ID, c[1].ID)}, err
	},
	"batches": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		topics := make([]Topic, 7)
		err := db.CreateInBatches(topics, 3).Error
		s := column("topics", "id")
		for _, topic := range topics {
			s.ids = append(s.ids, topic.ID)
		}
		return []stored{s}, err
	},
	"batch size of the session": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		topics := make([]Topic, 3)
		err := db.Session(&gorm.Session{CreateBatchSize: 2}).Create(&topics).Error
		return []stored{column("topics", "id", topics[0].ID, topics[1].ID, topics[2].ID)}, err
	},
	"map": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		row := map[string]any{"Name": "tea"}
		err := db.Model(&Topic{}).Create(row).Error
		return []stored{column("topics", "id", row["id"])}, err
	},
	"pointer to a map": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		row := map[string]any{"name": "tea", "ID": 0}
		err := db.Model(&Topic{}).Create(&row).Error
		return []stored{column("topics", "id", row["ID"])}, err
	},
	"maps": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		rows := []map[string]any{{"name": "tea"}, {"name": "milk", "id": nil}}
		err := db.Model(&Topic{}).Create(rows).Error
		return []stored{column("topics", "id", rows[0]["id"], rows[1]["id"])}, err
	},
	"batches of maps": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		rows := []map[string]any{{"name": "tea"}, {"name": "milk"}, {"name": "rum"}}
		err := db.Model(&Topic{}).CreateInBatches(&rows, 2).Error
		return []stored{column("topics", "id", rows[0]["id"], rows[1]["id"], rows[2]["id"])}, err
	},
	"map for keys of four types": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		row := map[string]any{}
		err := db.Model(&Voucher{}).Create(row).Error
		return []stored{
			column("vouchers", "id", row["id"]), column("vouchers", "code", row["code"]),
			column("vouchers", "serial", row["serial"]), column("vouchers", "public", row["public"]),
		}, err
	},
	"keys of four types": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		v := []Voucher{{}, {Public: new(snow.ID)}}
		err := db.Create(&v).Error
		return []stored{
			column("vouchers", "id", v[0].ID, v[1].ID), column("vouchers", "code", v[0].Code, v[1].Code),
			column("vouchers", "serial", v[0].Serial, v[1].Serial), column("vouchers", "public", v[0].Public, v[1].Public),
		}, err
	},
	"embedded structs": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		v := []Visit{{Page: "/"}, {Base: &Base{}}}
		err := db.Create(&v).Error
		return []stored{
			column("visits", "id", v[0].ID, v[1].ID),
			column("visits", "origin_code", v[0].Origin.Code, v[1].Origin.Code),
		}, err
	},
	"select": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := []Customer{{Name: "ann"}, {Name: "bob"}}
		err := db.Select("Name").Create(&c).Error
		return []stored{column("customers", "id", c[0].ID, c[1].ID)}, err
	},
	"omit associations": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{Carts: []Basket{{Note: "not stored"}}}
		err := db.Omit(clause.Associations).Create(&c).Error
		return []stored{column("customers", "id", c.ID)}, err
	},
	"has many": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{Carts: []Basket{{Note: "a"}, {Note: "b"}}}
		err := db.Create(&c).Error
		return []stored{
			column("customers", "id", c.ID), column("baskets", "id", c.Carts[0].ID, c.Carts[1].ID),
			column("customers", "id", c.Carts[0].CustomerID),
		}, err
	},
	"belongs to": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		b := Basket{Customer: &Customer{Name: "ann"}}
		err := db.Create(&b).Error
		return []stored{column("baskets", "id", b.ID), column("customers", "id", b.Customer.ID), column("baskets", "customer_id", b.Customer.ID)}, err
	},
	"many to many": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{Interest: []Topic{{Name: "tea"}, {Name: "milk"}}}
		err := db.Create(&c).Error
		return []stored{
			column("customers", "id", c.ID), column("topics", "id", c.Interest[0].ID, c.Interest[1].ID),
			column("customer_topics", "topic_id", c.Interest[0].ID, c.Interest[1].ID),
		}, err
	},
	"association mode": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{}
		if err := db.Create(&c).Error; err != nil {
			return nil, err
		}
		b := Basket{}
		err := db.Model(&c).Association("Carts").Append(&b)
		return []stored{column("baskets", "id", b.ID), column("baskets", "customer_id", c.ID)}, err
	},
	"save": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{Name: "ann"}
		err := db.Save(&c).Error
		return []stored{column("customers", "id", c.ID)}, err
	},
	"save a slice": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := []Customer{{Name: "ann"}, {Name: "bob"}}
		err := db.Save(&c).Error
		return []stored{column("customers", "id", c[0].ID, c[1].ID)}, err
	},
	"first or create": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		var c Customer
		err := db.Where(Customer{Name: "nobody yet"}).FirstOrCreate(&c).Error
		return []stored{column("customers", "id", c.ID)}, err
	},
	"generics": func(ctx context.Context, db *gorm.DB) ([]stored, error) {
		t := Topic{}
		err := gorm.G[Topic](db).Create(ctx, &t)
		return []stored{column("topics", "id", t.ID)}, err
	},
	"generics, batches": func(ctx context.Context, db *gorm.DB) ([]stored, error) {
		t := make([]Topic, 3)
		err := gorm.G[Topic](db).CreateInBatches(ctx, &t, 2)
		return []stored{column("topics", "id", t[0].ID, t[1].ID, t[2].ID)}, err
	},
	"without hooks": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{}
		err := db.Session(&gorm.Session{SkipHooks: true}).Create(&c).Error
		return []stored{column("customers", "id", c.ID)}, err
	},
	"without a transaction": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{}
		err := db.Session(&gorm.Session{SkipDefaultTransaction: true}).Create(&c).Error
		return []stored{column("customers", "id", c.ID)}, err
	},
	"prepared": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Customer{}
		err := db.Session(&gorm.Session{PrepareStmt: true}).Create(&c).Error
		return []stored{column("customers", "id", c.ID)}, err
	},
	"nested transactions": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		var outer, inner Customer
		err := db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(&outer).Error; err != nil {
				return err
			}
			return tx.Transaction(func(tx *gorm.DB) error { return tx.Create(&inner).Error })
		})
		return []stored{column("customers", "id", outer.ID, inner.ID)}, err
	},
	"dry run, then for real": func(_ context.Context, db *gorm.DB) ([]stored, error) {
		c := Topic{}
		if err := db.Session(&gorm.Session{DryRun: true}).Create(&c).Error; err != nil {
			return nil, err
		}
		id := c.ID
		err := db.Create(&c).Error
		if c.ID != id {
			err = fmt.Errorf("id %d became %d", id, c.ID)
		}
		return []stored{column("topics", "id", id)}, err
	},
}

// openMariaDB returns an empty database on server, through the driver's path
// for MariaDB, with RETURNING, or for MySQL, without.
func openMariaDB(tb testing.TB, server *dbtest.Server, returning bool) *gorm.DB {
	tb.Helper()
	db, err := gorm.Open(mysql.New(mysql.Config{
		DSN:                  server.DSN(server.CreateDatabase(tb)),
		DisableWithReturning: !returning,
	}))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		conn, err := db.DB()
		if err == nil {
			err = conn.Close()
		}
		if err != nil {
			tb.Error(err)
		}
	})
	if err := db.Use(gormsnow.New(newGenerator())); err != nil {
		tb.Fatal(err)
	}
	if err := db.AutoMigrate(&Customer{}, &Basket{}, &Topic{}, &Voucher{}, &Visit{}); err != nil {
		tb.Fatal(err)
	}
	return db
}

func TestMariaDB(t *testing.T) {
	t.Parallel()
	server := dbtest.MariaDB(t)
	for name, returning := range map[string]bool{"mariadb": true, "mysql": false} {
		t.Run(name, func(t *testing.T) {
			db := openMariaDB(t, server, returning)
			for shape, create := range shapes {
				t.Run(shape, func(t *testing.T) {
					claims, err := create(t.Context(), db)
					if err != nil {
						t.Fatal(err)
					}
					for _, claim := range claims {
						claim.check(t, db)
					}
				})
			}
			t.Run("columns", func(t *testing.T) { checkColumns(t, db) })
			t.Run("auto-increment table", func(t *testing.T) { checkAutoIncrementTable(t, db) })
			t.Run("goroutines", func(t *testing.T) { checkGoroutines(t, db) })
		})
	}
}

// AutoMigrate must make keys wide enough and not AUTO_INCREMENT.
func checkColumns(t *testing.T, db *gorm.DB) {
	for _, want := range [][2]string{
		{"customers.id", "bigint"},
		{"topics.id", "bigint"},
		{"visits.id", "bigint"},
		{"vouchers.id", "bigint"},
		{"vouchers.serial", "bigint unsigned"},
		{"vouchers.public", "bigint"},
		{"baskets.customer_id", "bigint"},
		{"customer_topics.topic_id", "bigint"},
	} {
		var got struct{ ColumnType, Extra string }
		err := db.Raw(`SELECT column_type, extra FROM information_schema.columns
			WHERE table_schema = DATABASE() AND CONCAT(table_name, '.', column_name) = ?`, want[0]).Scan(&got).Error
		got.ColumnType = strings.Replace(got.ColumnType, "(20)", "", 1) // the width that only MariaDB shows
		if err != nil || got.ColumnType != want[1] || got.Extra != "" {
			t.Errorf("%s is %q %q, want %q (%v)", want[0], got.ColumnType, got.Extra, want[1], err)
		}
	}
}

// A table that was AUTO_INCREMENT once reports ids of its own. GORM must not
// put them in place of ours.
func checkAutoIncrementTable(t *testing.T, db *gorm.DB) {
	type Legacy struct {
		ID   snow.ID
		Name string
	}
	if err := db.Exec("CREATE TABLE legacies (id BIGINT AUTO_INCREMENT PRIMARY KEY, name TEXT)").Error; err != nil {
		t.Fatal(err)
	}
	maps := []map[string]any{{"name": "a"}, {"name": "b"}, {"name": "c"}}
	if err := db.Model(&Legacy{}).Create(maps).Error; err != nil {
		t.Fatal(err)
	}
	rows := []Legacy{{Name: "d"}, {Name: "e"}}
	if err := db.Select("Name").Create(&rows).Error; err != nil {
		t.Fatal(err)
	}
	column("legacies", "id", maps[0]["id"], maps[1]["id"], maps[2]["id"], rows[0].ID, rows[1].ID).check(t, db)
}

func checkGoroutines(t *testing.T, db *gorm.DB) {
	const goroutines, inserts = 16, 5
	var mu sync.Mutex
	all := column("topics", "id")
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range inserts {
				topics := []Topic{{}, {}}
				if err := db.Create(&topics).Error; err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				all.ids = append(all.ids, topics[0].ID, topics[1].ID)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	all.check(t, db)
}
