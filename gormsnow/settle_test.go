package gormsnow_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/DATA-DOG/go-sqlmock"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
)

type (
	Brand struct {
		ID   snow.ID
		Name string `gorm:"uniqueIndex"`
	}
	// An Outlet is unique in several ways. Not all of them tell which row it is.
	Outlet struct {
		ID     snow.ID
		Street string  `gorm:"uniqueIndex:address"`
		Number int     `gorm:"uniqueIndex:address"`
		Phone  *string `gorm:"unique"`
		Email  string  `gorm:"uniqueIndex:,where:closed = 0"`
		Title  string  `gorm:"uniqueIndex:,expression:lower(title)"`
		Serial string  `gorm:"unique;default:gen()"`
		Till   *uint64 `gorm:"snowflake"`
	}
	// A lenient row says itself that it may exist.
	lenient struct {
		ID   snow.ID
		Name string `gorm:"uniqueIndex"`
		Kind string `gorm:"index"` // tells nothing
	}
)

func (*lenient) BeforeCreate(tx *gorm.DB) error {
	tx.Statement.AddClause(clause.OnConflict{DoNothing: true})
	return nil
}

var doNothing = clause.OnConflict{DoNothing: true}

func TestSettle(t *testing.T) {
	t.Parallel()
	const (
		insertBrand  = "INSERT INTO `brands` (`id`,`name`) VALUES (?,?) ON DUPLICATE KEY UPDATE `id`=IF(LAST_INSERT_ID(`id`|1),`id`,`id`)"
		insertBrands = "INSERT INTO `brands` (`id`,`name`) VALUES (?,?),(?,?) ON DUPLICATE KEY UPDATE `id`=IF(LAST_INSERT_ID(`id`|1),`id`,`id`)"
		own          = "SELECT `id` FROM `brands` WHERE `id` IN "
		byName       = "(SELECT 0,`id` FROM `brands` WHERE `name` = ? FOR UPDATE)"
	)
	lost := errors.New("connection lost")
	rows := func(columns string, rows ...[]driver.Value) *sqlmock.Rows {
		r := sqlmock.NewRows(strings.Split(columns, ","))
		for _, row := range rows {
			r.AddRow(row...)
		}
		return r
	}
	type row = []driver.Value
	brands := func(n int) func(*gorm.DB) ([]any, error) {
		return func(db *gorm.DB) ([]any, error) {
			rows := make([]Brand, n)
			for i := range rows {
				rows[i].Name = string(rune('a' + i))
			}
			err := db.Clauses(doNothing).Create(&rows).Error
			ids := make([]any, n)
			for i := range rows {
				ids[i] = rows[i].ID
			}
			return ids, err
		}
	}
	for name, tt := range map[string]struct {
		create func(db *gorm.DB) ([]any, error)
		expect func(e sqlmock.Sqlmock)
		want   []any
		err    error // any error if text is set
		text   string
	}{
		"inserted": {
			create: brands(1),
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec(insertBrand).WithArgs(1001, "a").WillReturnResult(driver.RowsAffected(1))
				e.ExpectQuery(own + "(?)").WithArgs(1001).WillReturnRows(rows("id", row{1001}))
			},
			want: []any{snow.ID(1001)},
		},
		"inserted, as the last insert id says": {
			create: brands(2),
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec(insertBrands).WillReturnResult(sqlmock.NewResult(0, 2))
			},
			want: []any{snow.ID(1001), snow.ID(1002)},
		},
		"a last insert id of zero from a server that does not know the function": {
			create: brands(2),
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec(insertBrands).WillReturnResult(sqlmock.NewResult(0, 3))
				e.ExpectQuery(own + "(?,?)").WillReturnRows(rows("id", row{1001}))
				e.ExpectQuery(byName).WithArgs("b").WillReturnRows(rows("n,id", row{0, 7}))
			},
			want: []any{snow.ID(1001), snow.ID(7)},
		},
		"met, as the last insert id says": {
			create: brands(1),
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec(insertBrand).WillReturnResult(sqlmock.NewResult(7, 1))
				e.ExpectQuery(own + "(?)").WillReturnRows(rows("id"))
				e.ExpectQuery(byName).WithArgs("a").WillReturnRows(rows("n,id", row{0, 7}))
			},
			want: []any{snow.ID(7)},
		},
		"skipped": {
			create: brands(1),
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec(insertBrand).WithArgs(1001, "a").WillReturnResult(driver.RowsAffected(0))
				e.ExpectQuery(byName).WithArgs("a").WillReturnRows(rows("n,id", row{0, 7}))
			},
			want: []any{snow.ID(7)},
		},
		"found by a driver that counts rows that it found": {
			create: brands(1),
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec(insertBrand).WithArgs(1001, "a").WillReturnResult(driver.RowsAffected(1))
				e.ExpectQuery(own + "(?)").WithArgs(1001).WillReturnRows(rows("id"))
				e.ExpectQuery(byName).WithArgs("a").WillReturnRows(rows("n,id", row{0, 7}))
			},
			want: []any{snow.ID(7)},
		},
		"one of two": {
			create: brands(2),
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec(insertBrands).WithArgs(1001, "a", 1002, "b").WillReturnResult(driver.RowsAffected(1))
				e.ExpectQuery(own+"(?,?)").WithArgs(1001, 1002).WillReturnRows(rows("id", row{1001}))
				e.ExpectQuery(byName).WithArgs("b").WillReturnRows(rows("n,id", row{0, 7}))
			},
			want: []any{snow.ID(1001), snow.ID(7)},
		},
		"gone meanwhile": {
			create: brands(2),
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec(insertBrands).WillReturnResult(driver.RowsAffected(0))
				e.ExpectQuery(byName+" UNION (SELECT 1,`id` FROM `brands` WHERE `name` = ? FOR UPDATE)").
					WithArgs("a", "b").WillReturnRows(rows("n,id", row{1, 7}))
			},
			want: []any{snow.ID(0), snow.ID(7)},
		},
		"without an id": {
			create: brands(1),
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec(insertBrand).WillReturnResult(driver.RowsAffected(0))
				e.ExpectQuery(byName).WillReturnRows(rows("n,id", row{0, nil}))
			},
			want: []any{snow.ID(0)},
		},
		"nothing unique to look for": {
			create: func(db *gorm.DB) ([]any, error) {
				order, entry := Order{Buyer: "ann"}, map[string]any{"buyer": "bob"}
				err := errors.Join(db.Clauses(doNothing).Create(&order).Error, db.Model(&Order{}).Clauses(doNothing).Create(entry).Error)
				return []any{order.ID, entry["id"]}, err
			},
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec("INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?) ON DUPLICATE KEY UPDATE `id`=IF(LAST_INSERT_ID(`id`|1),`id`,`id`)").WillReturnResult(driver.RowsAffected(0))
				e.ExpectExec("INSERT INTO `orders` (`buyer`,`id`) VALUES (?,?) ON DUPLICATE KEY UPDATE `id`=IF(LAST_INSERT_ID(`id`|1),`id`,`id`)").WillReturnResult(driver.RowsAffected(0))
			},
			want: []any{snow.ID(0), snow.ID(0)},
		},
		"the name not sent": {
			create: func(db *gorm.DB) ([]any, error) {
				brand := Brand{Name: "a"}
				err := db.Clauses(doNothing).Omit("Name").Create(&brand).Error
				return []any{brand.ID}, err
			},
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec("INSERT INTO `brands` (`id`) VALUES (?) ON DUPLICATE KEY UPDATE `id`=IF(LAST_INSERT_ID(`id`|1),`id`,`id`)").WillReturnResult(driver.RowsAffected(0))
			},
			want: []any{snow.ID(0)},
		},
		"another table": {
			create: func(db *gorm.DB) ([]any, error) {
				brand := Brand{Name: "a"}
				err := db.Table("brands_7").Clauses(doNothing).Create(&brand).Error
				return []any{brand.ID}, err
			},
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec("INSERT INTO `brands_7` (`id`,`name`) VALUES (?,?) ON DUPLICATE KEY UPDATE `id`=IF(LAST_INSERT_ID(`id`|1),`id`,`id`)").WillReturnResult(driver.RowsAffected(1))
				e.ExpectQuery("SELECT `id` FROM `brands_7` WHERE `id` IN (?)").WillReturnRows(rows("id"))
				e.ExpectQuery("(SELECT 0,`id` FROM `brands_7` WHERE `name` = ? FOR UPDATE)").WillReturnRows(rows("n,id", row{0, 7}))
			},
			want: []any{snow.ID(7)},
		},
		"a table of the INSERT clause, ignoring duplicates": {
			create: func(db *gorm.DB) ([]any, error) {
				brand := Brand{Name: "a"}
				err := db.Clauses(clause.Insert{Modifier: "IGNORE", Table: clause.Table{Name: "brands_8"}}).Create(&brand).Error
				return []any{brand.ID}, err
			},
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec("INSERT IGNORE INTO `brands_8` (`id`,`name`) VALUES (?,?)").WillReturnResult(driver.RowsAffected(0))
				e.ExpectQuery("(SELECT 0,`id` FROM `brands_8` WHERE `name` = ? FOR UPDATE)").WillReturnRows(rows("n,id", row{0, 7}))
			},
			want: []any{snow.ID(7)},
		},
		"a clause that a hook adds": {
			create: func(db *gorm.DB) ([]any, error) {
				r := lenient{Name: "a"}
				err := db.Create(&r).Error
				return []any{r.ID}, err
			},
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec("INSERT INTO `lenients` (`id`,`name`,`kind`) VALUES (?,?,?) ON DUPLICATE KEY UPDATE `id`=IF(LAST_INSERT_ID(`id`|1),`id`,`id`)").WillReturnResult(driver.RowsAffected(0))
				e.ExpectQuery("(SELECT 0,`id` FROM `lenients` WHERE `name` = ? FOR UPDATE)").WillReturnRows(rows("n,id", row{0, 7}))
			},
			want: []any{snow.ID(7)},
		},
		"unique in several ways": {
			create: func(db *gorm.DB) ([]any, error) {
				o := Outlet{Street: "Elm", Number: 3, Phone: ptr("555"), Email: "e", Title: "t"}
				err := db.Clauses(doNothing).Create(&o).Error
				return []any{o.ID, *o.Till}, err
			},
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec("INSERT INTO `outlets` (`id`,`street`,`number`,`phone`,`email`,`title`,`till`) VALUES (?,?,?,?,?,?,?) ON DUPLICATE KEY UPDATE `id`=IF(LAST_INSERT_ID(`id`|1),`id`,`id`)").
					WithArgs(1001, "Elm", 3, "555", "e", "t", 1002).WillReturnResult(driver.RowsAffected(0))
				e.ExpectQuery("(SELECT 0,`id`,`till` FROM `outlets` WHERE `phone` = ? FOR UPDATE)"+
					" UNION (SELECT 0,`id`,`till` FROM `outlets` WHERE `street` = ? AND `number` = ? FOR UPDATE)"+
					" UNION (SELECT 0,`id`,`till` FROM `outlets` WHERE `email` = ? AND (closed = 0) FOR UPDATE)").
					WithArgs("555", "Elm", 3, "e").WillReturnRows(rows("n,id,till", row{0, 7, 8}))
			},
			want: []any{snow.ID(7), uint64(8)},
		},
		"two rows": {
			create: func(db *gorm.DB) ([]any, error) {
				o := Outlet{Street: "Elm"}
				err := db.Clauses(doNothing).Create(&o).Error
				return []any{o.ID, o.Till}, err
			},
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec("INSERT INTO `outlets` (`id`,`street`,`number`,`phone`,`email`,`title`,`till`) VALUES (?,?,?,?,?,?,?) ON DUPLICATE KEY UPDATE `id`=IF(LAST_INSERT_ID(`id`|1),`id`,`id`)").
					WillReturnResult(driver.RowsAffected(0))
				e.ExpectQuery("(SELECT 0,`id`,`till` FROM `outlets` WHERE `street` = ? AND `number` = ? FOR UPDATE)" +
					" UNION (SELECT 0,`id`,`till` FROM `outlets` WHERE `email` = ? AND (closed = 0) FOR UPDATE)").
					WillReturnRows(rows("n,id,till", row{0, 7, 8}, row{0, 9, 10}))
			},
			want: []any{snow.ID(0), (*uint64)(nil)},
		},
		"an error of the first query": {
			create: brands(1),
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec(insertBrand).WillReturnResult(driver.RowsAffected(1))
				e.ExpectQuery(own + "(?)").WillReturnError(lost)
			},
			want: []any{snow.ID(1001)},
			err:  lost,
			text: "gormsnow: look for the ids of gormsnow_test.Brand after the insert: connection lost",
		},
		"an error of the second query": {
			create: brands(1),
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec(insertBrand).WillReturnResult(driver.RowsAffected(0))
				e.ExpectQuery(byName).WillReturnError(lost)
			},
			want: []any{snow.ID(1001)},
			err:  lost,
		},
		"an error within the rows": {
			create: brands(2),
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec(insertBrands).WillReturnResult(driver.RowsAffected(2))
				e.ExpectQuery(own + "(?,?)").WillReturnRows(rows("id", row{1001}, row{1002}).RowError(1, lost))
			},
			want: []any{snow.ID(1001), snow.ID(1002)},
			err:  lost,
		},
		"an id that is none": {
			create: brands(1),
			expect: func(e sqlmock.Sqlmock) {
				e.ExpectExec(insertBrand).WillReturnResult(driver.RowsAffected(0))
				e.ExpectQuery(byName).WillReturnRows(rows("n,id", row{0, "seven"}))
			},
			want: []any{snow.ID(1001)},
			text: "seven",
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, expect := mock(t, newSequence(), &gorm.Config{SkipDefaultTransaction: true, Logger: logger.Discard})
			tt.expect(expect)
			ids, err := tt.create(db)
			if !slices.Equal(ids, tt.want) {
				t.Errorf("keys %v, want %v", ids, tt.want)
			}
			if (err != nil) != (tt.err != nil || tt.text != "") || tt.err != nil && !errors.Is(err, tt.err) || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %v, want %v %q", err, tt.err, tt.text)
			}
		})
	}
}

// One *gorm.DB that inserts twice must not mistake the second row for the first.
func TestSettleTwice(t *testing.T) {
	t.Parallel()
	db, expect := mock(t, newSequence(), &gorm.Config{SkipDefaultTransaction: true})
	const insert = "INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?) ON DUPLICATE KEY UPDATE `id`="
	lost := errors.New("connection lost")
	expect.ExpectExec(insert+"IF(LAST_INSERT_ID(`id`|1),`id`,`id`)").WithArgs(1001, "ann").WillReturnError(lost)
	expect.ExpectExec(insert+"`id`").WithArgs(1001, "ann").WillReturnResult(driver.RowsAffected(0))
	first := Order{Buyer: "ann"}
	tx := db.Clauses(doNothing)
	if err := tx.Create(&first).Error; !errors.Is(err, lost) {
		t.Errorf("error %v, want %v", err, lost)
	}
	tx.Error = nil
	if err := tx.Create(&first).Error; err != nil || first.ID != 1001 {
		t.Errorf("id %d, %v; want 1001, which is the caller's now", first.ID, err)
	}
}

// A filter hides what queries look for.
type filter struct {
	logger.Interface
	traced []string
}

func (*filter) ParamsFilter(_ context.Context, sql string, _ ...interface{}) (string, []interface{}) {
	return sql, nil
}

func (f *filter) Trace(_ context.Context, _ time.Time, sql func() (string, int64), _ error) {
	text, _ := sql()
	f.traced = append(f.traced, text)
}

func TestSettleIsLogged(t *testing.T) {
	t.Parallel()
	log := &filter{Interface: logger.Discard}
	db, expect := mock(t, newSequence(), &gorm.Config{SkipDefaultTransaction: true, Logger: log})
	expect.ExpectExec("INSERT INTO `brands` (`id`,`name`) VALUES (?,?) ON DUPLICATE KEY UPDATE `id`=IF(LAST_INSERT_ID(`id`|1),`id`,`id`)").WillReturnResult(driver.RowsAffected(1))
	expect.ExpectQuery("SELECT `id` FROM `brands` WHERE `id` IN (?)").WillReturnRows(sqlmock.NewRows([]string{"id"}).AddRow(1001))
	if err := db.Clauses(doNothing).Create(&Brand{Name: "a"}).Error; err != nil {
		t.Error(err)
	}
	want := []string{
		"SELECT `id` FROM `brands` WHERE `id` IN (?)",
		"INSERT INTO `brands` (`id`,`name`) VALUES (?,?) ON DUPLICATE KEY UPDATE `id`=IF(LAST_INSERT_ID(`id`|1),`id`,`id`)",
	}
	if !slices.Equal(log.traced, want) {
		t.Errorf("logged %q, want %q", log.traced, want)
	}
}
