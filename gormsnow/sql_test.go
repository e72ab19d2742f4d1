package gormsnow_test

import (
	"database/sql/driver"
	"errors"
	"slices"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// mock returns a MySQL database that expects statements word for word.
func mock(tb testing.TB, src snow.Source, cfg *gorm.Config) (*gorm.DB, sqlmock.Sqlmock) {
	tb.Helper()
	conn, expect, err := sqlmock.New(sqlmock.QueryMatcherOption(sqlmock.QueryMatcherEqual))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := expect.ExpectationsWereMet(); err != nil {
			tb.Error(err)
		}
	})
	db, err := gorm.Open(mysql.New(mysql.Config{Conn: conn, SkipInitializeWithVersion: true}), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	if err := db.Use(gormsnow.New(src)); err != nil {
		tb.Fatal(err)
	}
	return db, expect
}

type (
	Cart struct {
		ID    snow.ID
		Buyer string
		Lines []Line
	}
	Line struct {
		ID     snow.ID
		CartID snow.ID
		Item   Item
		ItemID *snow.ID
	}
	Item struct {
		ID   snow.ID
		Name string
	}
	Coupon struct {
		Code  string  `gorm:"primaryKey;snowflake"`
		Token *uint64 `gorm:"snowflake"`
	}
)

func TestSQL(t *testing.T) {
	t.Parallel()
	type sent struct {
		sql  string
		args []driver.Value
		rows *sqlmock.Rows // of a query
	}
	ids := func(name string, ids ...int64) *sqlmock.Rows {
		rows := sqlmock.NewRows([]string{name})
		for _, id := range ids {
			rows.AddRow(id)
		}
		return rows
	}
	args := func(v ...driver.Value) []driver.Value { return v }
	for name, tt := range map[string]struct {
		create func(t *testing.T, db *gorm.DB) error
		want   []sent
		fills  []int
	}{
		"one row": {
			func(t *testing.T, db *gorm.DB) error {
				order := Order{Buyer: "ann"}
				err := db.Create(&order).Error
				if order.ID != 1001 {
					t.Errorf("id = %d, want 1001", order.ID)
				}
				return err
			},
			[]sent{{sql: "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?)", args: args(1001, "ann")}},
			[]int{1},
		},
		"a row with its own id": {
			func(t *testing.T, db *gorm.DB) error { return db.Create(&Order{ID: 5, Buyer: "ann"}).Error },
			[]sent{{sql: "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?)", args: args(5, "ann")}},
			nil,
		},
		"a slice, one row with its own id": {
			func(t *testing.T, db *gorm.DB) error {
				orders := []*Order{{Buyer: "ann"}, {ID: 5, Buyer: "bob"}, {Buyer: "cid"}}
				err := db.Create(orders).Error
				if orders[0].ID != 1001 || orders[1].ID != 5 || orders[2].ID != 1002 {
					t.Errorf("ids = %d %d %d, want 1001 5 1002", orders[0].ID, orders[1].ID, orders[2].ID)
				}
				return err
			},
			[]sent{{sql: "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?),(?,?),(?,?)", args: args(1001, "ann", 5, "bob", 1002, "cid")}},
			[]int{2},
		},
		"batches": {
			func(t *testing.T, db *gorm.DB) error {
				orders := make([]Order, 5)
				err := db.CreateInBatches(&orders, 2).Error
				for i, o := range orders {
					if want := snow.ID(1001 + i); o.ID != want {
						t.Errorf("row %d has id %d, want %d", i, o.ID, want)
					}
				}
				return err
			},
			[]sent{
				{sql: "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?),(?,?)", args: args(1001, "", 1002, "")},
				{sql: "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?),(?,?)", args: args(1003, "", 1004, "")},
				{sql: "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?)", args: args(1005, "")},
			},
			[]int{2, 2, 1},
		},
		"a map": {
			func(t *testing.T, db *gorm.DB) error {
				row := map[string]any{"buyer": "ann"}
				err := db.Model(&Order{}).Create(row).Error
				if row["id"] != snow.ID(1001) {
					t.Errorf("row = %#v, want the id", row)
				}
				return err
			},
			[]sent{{sql: "INSERT INTO `orders` (`buyer`,`id`) VALUES (?,?)", args: args("ann", 1001)}},
			[]int{1},
		},
		"maps, zero under the names that GORM takes": {
			func(t *testing.T, db *gorm.DB) error {
				rows := []map[string]any{
					{"Buyer": "ann", "ID": 0},
					{"buyer": "bob", "id": nil},
					{"buyer": "cid"},
					{"buyer": "dan", "Id": new(snow.ID)},
					{"buyer": "eve", "ID": 5},
					{"buyer": "fay", "id": (*int64)(nil)},
				}
				err := db.Model(&Order{}).Create(&rows).Error
				for i, want := range []map[string]any{
					{"Buyer": "ann", "ID": snow.ID(1001)},
					{"buyer": "bob", "id": snow.ID(1002)},
					{"buyer": "cid", "id": snow.ID(1003)},
					{"buyer": "dan", "Id": snow.ID(1004)},
					{"buyer": "eve", "ID": 5},
					{"buyer": "fay", "id": snow.ID(1005)},
				} {
					if len(rows[i]) != 2 {
						t.Errorf("row %d = %#v, want %#v", i, rows[i], want)
					}
					for k, v := range want {
						if rows[i][k] != v {
							t.Errorf("row %d = %#v, want %#v", i, rows[i], want)
						}
					}
				}
				return err
			},
			[]sent{{
				sql:  "INSERT INTO `orders` (`buyer`,`id`) VALUES (?,?),(?,?),(?,?),(?,?),(?,?),(?,?)",
				args: args("ann", 1001, "bob", 1002, "cid", 1003, "dan", 1004, "eve", 5, "fay", 1005),
			}},
			[]int{5},
		},
		"batches of maps": {
			func(t *testing.T, db *gorm.DB) error {
				return db.Model(&Order{}).CreateInBatches([]map[string]any{{"buyer": "ann"}, {"buyer": "bob"}, {"buyer": "cid"}}, 2).Error
			},
			[]sent{
				{sql: "INSERT INTO `orders` (`buyer`,`id`) VALUES (?,?),(?,?)", args: args("ann", 1001, "bob", 1002)},
				{sql: "INSERT INTO `orders` (`buyer`,`id`) VALUES (?,?)", args: args("cid", 1003)},
			},
			[]int{2, 1},
		},
		"a map for two keys of other types": {
			func(t *testing.T, db *gorm.DB) error {
				row := map[string]any{}
				err := db.Model(&Coupon{}).Create(&row).Error
				if row["code"] != "1001" || row["token"] != uint64(1002) {
					t.Errorf("row = %#v", row)
				}
				return err
			},
			[]sent{{sql: "INSERT INTO `coupons` (`code`,`token`) VALUES (?,?)", args: args("1001", 1002)}},
			[]int{2},
		},
		"two keys in a row, row by row": {
			func(t *testing.T, db *gorm.DB) error { return db.Create(&[2]Coupon{}).Error },
			[]sent{{sql: "INSERT INTO `coupons` (`code`,`token`) VALUES (?,?),(?,?)", args: args("1001", 1002, "1003", 1004)}},
			[]int{4},
		},
		"a map without a model": {
			func(t *testing.T, db *gorm.DB) error {
				return db.Table("orders").Create(map[string]any{"buyer": "ann"}).Error
			},
			[]sent{{sql: "INSERT INTO `orders` (`buyer`) VALUES (?)", args: args("ann")}},
			nil,
		},
		"selected columns": {
			func(t *testing.T, db *gorm.DB) error { return db.Select("Buyer").Create(&Order{Buyer: "ann"}).Error },
			[]sent{{sql: "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?)", args: args(1001, "ann")}},
			[]int{1},
		},
		"selected columns, a row with its own id": {
			func(t *testing.T, db *gorm.DB) error {
				return db.Select("Buyer").Create(&Order{ID: 5, Buyer: "ann"}).Error
			},
			[]sent{{sql: "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?)", args: args(5, "ann")}},
			nil,
		},
		"the id among the selected columns": {
			func(t *testing.T, db *gorm.DB) error { return db.Select("buyer", "id").Create(&Order{}).Error },
			[]sent{{sql: "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?)", args: args(1001, "")}},
			[]int{1},
		},
		"selected columns of maps": {
			func(t *testing.T, db *gorm.DB) error {
				return db.Model(&Order{}).Select("Buyer").Create([]map[string]any{{"buyer": "ann", "note": "no column"}}).Error
			},
			[]sent{{sql: "INSERT INTO `orders` (`buyer`,`id`) VALUES (?,?)", args: args("ann", 1001)}},
			[]int{1},
		},
		"another column omitted": {
			func(t *testing.T, db *gorm.DB) error { return db.Omit("Buyer").Create(&Order{}).Error },
			[]sent{{sql: "INSERT INTO `orders` (`id`) VALUES (?)", args: args(1001)}},
			[]int{1},
		},
		"associations": {
			func(t *testing.T, db *gorm.DB) error {
				return db.Create(&Cart{Buyer: "ann", Lines: []Line{{Item: Item{Name: "tea"}}, {Item: Item{Name: "milk"}}}}).Error
			},
			[]sent{
				{sql: "INSERT INTO `carts` (`id`,`buyer`) VALUES (?,?)", args: args(1001, "ann")},
				{sql: "INSERT INTO `items` (`id`,`name`) VALUES (?,?),(?,?) ON DUPLICATE KEY UPDATE `id`=IF(LAST_INSERT_ID(`id`|1),`id`,`id`)", args: args(1004, "tea", 1005, "milk")},
				{sql: "SELECT `id` FROM `items` WHERE `id` IN (?,?)", args: args(1004, 1005), rows: ids("id", 1004, 1005)},
				{sql: "INSERT INTO `lines` (`id`,`cart_id`,`item_id`) VALUES (?,?,?),(?,?,?) ON DUPLICATE KEY UPDATE `cart_id`=VALUES(`cart_id`),`id`=IF(LAST_INSERT_ID(`id`|1),`id`,`id`)", args: args(1002, 1001, 1004, 1003, 1001, 1005)},
				{sql: "SELECT `id` FROM `lines` WHERE `id` IN (?,?)", args: args(1002, 1003), rows: ids("id", 1003, 1002)},
			},
			[]int{1, 2, 2},
		},
		"Save of a row without id": {
			func(t *testing.T, db *gorm.DB) error { return db.Save(&Order{Buyer: "ann"}).Error },
			[]sent{{sql: "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?)", args: args(1001, "ann")}},
			[]int{1},
		},
		"Save of a slice": {
			func(t *testing.T, db *gorm.DB) error { return db.Save([]Order{{Buyer: "ann"}, {ID: 5}}).Error },
			[]sent{
				{sql: "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?),(?,?) ON DUPLICATE KEY UPDATE `buyer`=VALUES(`buyer`)", args: args(1001, "ann", 5, "")},
				{sql: "SELECT `id` FROM `orders` WHERE `id` IN (?)", args: args(1001), rows: ids("id", 1001)},
			},
			[]int{1},
		},
		"generics": {
			func(t *testing.T, db *gorm.DB) error {
				orders := []Order{{Buyer: "bob"}, {Buyer: "cid"}}
				return errors.Join(
					gorm.G[Order](db).Create(t.Context(), &Order{Buyer: "ann"}),
					gorm.G[Order](db).CreateInBatches(t.Context(), &orders, 10),
					gorm.G[Order](db).Select("Buyer").Create(t.Context(), &Order{Buyer: "dan"}),
					gorm.G[Order](db).Set(clause.Assignment{Column: clause.Column{Name: "buyer"}, Value: "eve"}).Create(t.Context()),
				)
			},
			[]sent{
				{sql: "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?)", args: args(1001, "ann")},
				{sql: "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?),(?,?)", args: args(1002, "bob", 1003, "cid")},
				{sql: "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?)", args: args(1004, "dan")},
				{sql: "INSERT INTO `orders` (`buyer`,`id`) VALUES (?,?)", args: args("eve", 1005)},
			},
			[]int{1, 2, 1, 1},
		},
		"without hooks": {
			func(t *testing.T, db *gorm.DB) error {
				return db.Session(&gorm.Session{SkipHooks: true}).Create(&Order{}).Error
			},
			[]sent{{sql: "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?)", args: args(1001, "")}},
			[]int{1},
		},
		"another table": {
			func(t *testing.T, db *gorm.DB) error { return db.Table("orders_7").Create(&Order{}).Error },
			[]sent{{sql: "INSERT INTO `orders_7` (`id`,`buyer`) VALUES (?,?)", args: args(1001, "")}},
			[]int{1},
		},
		"one pointer for two rows": {
			func(t *testing.T, db *gorm.DB) error {
				unset := new(snow.ID)
				err := db.Table("t").Create([]byTypePointer{{unset}, {unset}}).Error
				if *unset != 0 {
					t.Errorf("wrote %d through the caller's pointer", *unset)
				}
				return err
			},
			[]sent{{sql: "INSERT INTO `t` (`id`) VALUES (?),(?)", args: args(1001, 1002)}},
			[]int{2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			src := newSequence()
			db, expect := mock(t, src, &gorm.Config{SkipDefaultTransaction: true})
			for _, s := range tt.want {
				for i, a := range s.args {
					if n, ok := a.(int); ok {
						s.args[i] = int64(n)
					}
				}
				if s.rows != nil {
					expect.ExpectQuery(s.sql).WithArgs(s.args...).WillReturnRows(s.rows)
					continue
				}
				// An AUTO_INCREMENT column would report an id of its own.
				expect.ExpectExec(s.sql).WithArgs(s.args...).WillReturnResult(sqlmock.NewResult(77, 1))
			}
			if err := tt.create(t, db); err != nil {
				t.Error(err)
			}
			if !slices.Equal(src.fills, tt.fills) {
				t.Errorf("fills = %v, want %v", src.fills, tt.fills)
			}
		})
	}
}

func TestSQLInTransaction(t *testing.T) {
	t.Parallel()
	src := newSequence()
	db, expect := mock(t, src, &gorm.Config{})
	expect.ExpectBegin()
	expect.ExpectExec("INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?)").WithArgs(1001, "ann").WillReturnResult(sqlmock.NewResult(0, 1))
	expect.ExpectCommit()
	expect.ExpectBegin()
	expect.ExpectRollback()
	if err := db.Create(&Order{Buyer: "ann"}).Error; err != nil {
		t.Error(err)
	}
	wantFieldError(t, db.Create(Order{}), "gormsnow_test.Order", "ID", "pass a pointer")
}

func TestSQLPrepared(t *testing.T) {
	t.Parallel()
	db, expect := mock(t, newSequence(), &gorm.Config{SkipDefaultTransaction: true, PrepareStmt: true})
	insert := expect.ExpectPrepare("INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?)")
	for id := range 2 {
		insert.ExpectExec().WithArgs(1001+id, "").WillReturnResult(sqlmock.NewResult(0, 1))
	}
	for range 2 {
		if err := db.Create(&Order{}).Error; err != nil {
			t.Error(err)
		}
	}
}

func TestSQLFirstOrCreate(t *testing.T) {
	t.Parallel()
	db, expect := mock(t, newSequence(), &gorm.Config{SkipDefaultTransaction: true})
	expect.ExpectQuery("SELECT * FROM `orders` WHERE `orders`.`buyer` = ? ORDER BY `orders`.`id` LIMIT ?").
		WithArgs("ann", 1).WillReturnRows(sqlmock.NewRows([]string{"id", "buyer"}))
	expect.ExpectExec("INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?)").WithArgs(1001, "ann").WillReturnResult(sqlmock.NewResult(0, 1))
	var order Order
	if err := db.Where(Order{Buyer: "ann"}).FirstOrCreate(&order).Error; err != nil || order.ID != 1001 {
		t.Errorf("FirstOrCreate: id %d, %v; want 1001", order.ID, err)
	}
}

// A retry must send the same row: the first attempt may have reached the server.
func TestRetryKeepsTheID(t *testing.T) {
	t.Parallel()
	src := newSequence()
	db, expect := mock(t, src, &gorm.Config{SkipDefaultTransaction: true})
	lost := errors.New("connection lost")
	const insert = "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?)"
	expect.ExpectExec(insert).WithArgs(1001, "").WillReturnError(lost)
	expect.ExpectExec(insert).WithArgs(1001, "").WillReturnResult(sqlmock.NewResult(0, 1))
	order := Order{}
	if err := db.Create(&order).Error; !errors.Is(err, lost) {
		t.Errorf("first attempt: %v, want %v", err, lost)
	}
	if err := db.Create(&order).Error; err != nil {
		t.Errorf("second attempt: %v", err)
	}
	if want := []int{1}; !slices.Equal(src.fills, want) {
		t.Errorf("fills = %v, want %v", src.fills, want)
	}
}
