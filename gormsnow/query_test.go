package gormsnow_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// Models with keys of several names and types.
type (
	letter struct {
		Number   snow.ID `gorm:"column:letter_no;primaryKey"`
		Sender   string
		BoxID    snow.ID
		Box      *box
		ReadOnce bool
	}
	box struct {
		ID   *snow.ID
		Name string
	}
	unsigned struct {
		ID uint64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	}
	partitioned struct {
		ID   snow.ID `gorm:"primaryKey"`
		Year int     `gorm:"primaryKey"`
	}
	byText struct {
		ID string `gorm:"primaryKey;snowflake"`
	}
	byInt32 struct {
		ID int32
	}
	byPair struct {
		A snow.ID `gorm:"primaryKey"`
		B snow.ID `gorm:"primaryKey"`
	}
)

// day returns the bounds of the ids of a day, and the day.
func day(t *testing.T) (from, to time.Time, lo, hi int64) {
	t.Helper()
	from = time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	to = from.AddDate(0, 0, 1)
	for first, end := range snow.DefaultLayout().Between(from, to) {
		lo, hi = int64(first), int64(end)
	}
	if lo <= 0 || hi <= lo {
		t.Fatalf("the day's ids are in [%d, %d)", lo, hi)
	}
	return from, to, lo, hi
}

func TestQuerySQL(t *testing.T) {
	t.Parallel()
	from, to, lo, hi := day(t)
	created := gormsnow.CreatedBetween(snow.DefaultLayout(), from, to)
	const top = int64(math.MaxInt64)
	for name, tt := range map[string]struct {
		find func(db *gorm.DB) *gorm.DB
		want string
		vars []any
	}{
		"range": {
			func(db *gorm.DB) *gorm.DB { return db.Where(created).Find(&[]Order{}) },
			"SELECT * FROM `orders` WHERE (`orders`.`id` >= ? AND `orders`.`id` < ?)",
			[]any{lo, hi},
		},
		"range in Clauses": {
			func(db *gorm.DB) *gorm.DB { return db.Clauses(created).Find(&[]Order{}) },
			"SELECT * FROM `orders` WHERE (`orders`.`id` >= ? AND `orders`.`id` < ?)",
			[]any{lo, hi},
		},
		"range in Find": {
			func(db *gorm.DB) *gorm.DB { return db.Find(&[]Order{}, created) },
			"SELECT * FROM `orders` WHERE (`orders`.`id` >= ? AND `orders`.`id` < ?)",
			[]any{lo, hi},
		},
		"range among others": {
			func(db *gorm.DB) *gorm.DB {
				return db.Where("buyer = ?", "ann").Or(created).Where(created).Find(&[]Order{})
			},
			"SELECT * FROM `orders` WHERE buyer = ? OR (`orders`.`id` >= ? AND `orders`.`id` < ?) AND (`orders`.`id` >= ? AND `orders`.`id` < ?)",
			[]any{"ann", lo, hi, lo, hi},
		},
		"not in the range": {
			func(db *gorm.DB) *gorm.DB { return db.Not(created).Find(&[]Order{}) },
			"SELECT * FROM `orders` WHERE (`orders`.`id` < ? OR `orders`.`id` >= ?)",
			[]any{lo, hi},
		},
		"empty range": {
			func(db *gorm.DB) *gorm.DB {
				return db.Where(gormsnow.CreatedBetween(snow.DefaultLayout(), to, from)).Find(&[]Order{})
			},
			"SELECT * FROM `orders` WHERE (`orders`.`id` >= ? AND `orders`.`id` < ?)",
			[]any{hi, hi},
		},
		"another key column": {
			func(db *gorm.DB) *gorm.DB { return db.Where(created).Find(&[]letter{}) },
			"SELECT * FROM `letters` WHERE (`letters`.`letter_no` >= ? AND `letters`.`letter_no` < ?)",
			[]any{lo, hi},
		},
		"an integer key": {
			func(db *gorm.DB) *gorm.DB { return db.Where(created).Find(&[]unsigned{}) },
			"SELECT * FROM `unsigneds` WHERE (`unsigneds`.`id` >= ? AND `unsigneds`.`id` < ?)",
			[]any{lo, hi},
		},
		"a key of several columns": {
			func(db *gorm.DB) *gorm.DB { return db.Where(created).Find(&[]partitioned{}) },
			"SELECT * FROM `partitioneds` WHERE (`partitioneds`.`id` >= ? AND `partitioneds`.`id` < ?)",
			[]any{lo, hi},
		},
		"another table": {
			func(db *gorm.DB) *gorm.DB { return db.Table("orders_3").Where(created).Find(&[]Order{}) },
			"SELECT * FROM `orders_3` WHERE (`orders_3`.`id` >= ? AND `orders_3`.`id` < ?)",
			[]any{lo, hi},
		},
		"an alias": {
			func(db *gorm.DB) *gorm.DB { return db.Table("orders AS o").Where(created).Find(&[]Order{}) },
			"SELECT * FROM orders AS o WHERE (`o`.`id` >= ? AND `o`.`id` < ?)",
			[]any{lo, hi},
		},
		"a join": {
			func(db *gorm.DB) *gorm.DB {
				return db.Select("sender").InnerJoins("Box", db.Select("name")).Clauses(gormsnow.After(7, 2)).Find(&[]letter{})
			},
			"SELECT `sender`,`Box`.`name` AS `Box__name` FROM `letters` INNER JOIN `boxes` `Box` ON `letters`.`box_id` = `Box`.`id`" +
				" WHERE `letters`.`letter_no` > ? ORDER BY `letters`.`letter_no` LIMIT ?",
			[]any{int64(7), 2},
		},
		"delete": {
			func(db *gorm.DB) *gorm.DB { return db.Where(created).Delete(&Order{}) },
			"DELETE FROM `orders` WHERE (`orders`.`id` >= ? AND `orders`.`id` < ?)",
			[]any{lo, hi},
		},
		"update": {
			func(db *gorm.DB) *gorm.DB { return db.Model(&Order{}).Where(created).Update("buyer", "bob") },
			"UPDATE `orders` SET `buyer`=? WHERE (`orders`.`id` >= ? AND `orders`.`id` < ?)",
			[]any{"bob", lo, hi},
		},
		"subquery": {
			func(db *gorm.DB) *gorm.DB {
				page := db.Model(&Order{}).Select("id").Where(gormsnow.After(7, 2))
				return db.Where("box_id IN (?)", page).Where(created).Find(&[]letter{})
			},
			"SELECT * FROM `letters` WHERE box_id IN (SELECT `id` FROM `orders` WHERE `orders`.`id` > ? ORDER BY `orders`.`id` LIMIT ?)" +
				" AND (`letters`.`letter_no` >= ? AND `letters`.`letter_no` < ?)",
			[]any{int64(7), 2, lo, hi},
		},
		"first page": {
			func(db *gorm.DB) *gorm.DB { return db.Clauses(gormsnow.After(0, 50)).Find(&[]Order{}) },
			"SELECT * FROM `orders` WHERE `orders`.`id` > ? ORDER BY `orders`.`id` LIMIT ?",
			[]any{int64(0), 50},
		},
		"first page, newest first": {
			func(db *gorm.DB) *gorm.DB { return db.Clauses(gormsnow.Before(0, 50)).Find(&[]Order{}) },
			"SELECT * FROM `orders` WHERE `orders`.`id` <= ? ORDER BY `orders`.`id` DESC LIMIT ?",
			[]any{top, 50},
		},
		"next page, newest first": {
			func(db *gorm.DB) *gorm.DB { return db.Clauses(gormsnow.Before(7, 50)).Find(&[]Order{}) },
			"SELECT * FROM `orders` WHERE `orders`.`id` < ? ORDER BY `orders`.`id` DESC LIMIT ?",
			[]any{int64(7), 50},
		},
		"page in Where": {
			func(db *gorm.DB) *gorm.DB {
				return db.Where(gormsnow.Before(7, 50)).Where("buyer = ?", "ann").Find(&[]Order{})
			},
			"SELECT * FROM `orders` WHERE `orders`.`id` < ? AND buyer = ? ORDER BY `orders`.`id` DESC LIMIT ?",
			[]any{int64(7), "ann", 50},
		},
		"page in Find": {
			func(db *gorm.DB) *gorm.DB { return db.Find(&[]Order{}, gormsnow.After(7, 50)) },
			"SELECT * FROM `orders` WHERE `orders`.`id` > ? ORDER BY `orders`.`id` LIMIT ?",
			[]any{int64(7), 50},
		},
		"a second order": {
			func(db *gorm.DB) *gorm.DB { return db.Clauses(gormsnow.After(7, 50)).Order("buyer").Find(&[]Order{}) },
			"SELECT * FROM `orders` WHERE `orders`.`id` > ? ORDER BY `orders`.`id`,buyer LIMIT ?",
			[]any{int64(7), 50},
		},
		"a smaller limit before": {
			func(db *gorm.DB) *gorm.DB { return db.Limit(3).Clauses(gormsnow.After(7, 50)).Find(&[]Order{}) },
			"SELECT * FROM `orders` WHERE `orders`.`id` > ? ORDER BY `orders`.`id` LIMIT ?",
			[]any{int64(7), 3},
		},
		"a larger limit before": {
			func(db *gorm.DB) *gorm.DB { return db.Limit(99).Where(gormsnow.After(7, 50)).Find(&[]Order{}) },
			"SELECT * FROM `orders` WHERE `orders`.`id` > ? ORDER BY `orders`.`id` LIMIT ?",
			[]any{int64(7), 50},
		},
		"first of a page": {
			func(db *gorm.DB) *gorm.DB { return db.Where(gormsnow.After(7, 50)).First(&Order{}) },
			"SELECT * FROM `orders` WHERE `orders`.`id` > ? ORDER BY `orders`.`id`,`orders`.`id` LIMIT ?",
			[]any{int64(7), 1},
		},
		"a range of pages": {
			func(db *gorm.DB) *gorm.DB { return db.Clauses(created, gormsnow.After(7, 50)).Find(&[]Order{}) },
			"SELECT * FROM `orders` WHERE `orders`.`id` > ? AND (`orders`.`id` >= ? AND `orders`.`id` < ?) ORDER BY `orders`.`id` LIMIT ?",
			[]any{int64(7), lo, hi, 50},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tx := tt.find(dry(t, newSequence()))
			if tx.Error != nil {
				t.Fatal(tx.Error)
			}
			if got := tx.Statement.SQL.String(); got != tt.want {
				t.Errorf("SQL:\ngot  %s\nwant %s", got, tt.want)
			}
			if !reflect.DeepEqual(tx.Statement.Vars, tt.vars) {
				t.Errorf("vars = %v, want %v", tx.Statement.Vars, tt.vars)
			}
		})
	}
}

// A session that holds a page can be used again and again.
func TestPageInSession(t *testing.T) {
	t.Parallel()
	for name, db := range map[string]*gorm.DB{
		"Clauses": dry(t, newSequence()).Clauses(gormsnow.After(7, 50)).Session(&gorm.Session{}),
		"Where":   dry(t, newSequence()).Where(gormsnow.After(7, 50)).Session(&gorm.Session{}),
	} {
		for range 3 {
			tx := db.Find(&[]Order{})
			if got, want := tx.Statement.SQL.String(), "SELECT * FROM `orders` WHERE `orders`.`id` > ? ORDER BY `orders`.`id` LIMIT ?"; got != want || tx.Error != nil {
				t.Errorf("%s: %s, %v; want %s", name, got, tx.Error, want)
			}
		}
	}
}

func TestQueryGenerics(t *testing.T) {
	t.Parallel()
	from, to, _, _ := day(t)
	created := gormsnow.CreatedBetween(snow.DefaultLayout(), from, to)
	const page = "SELECT * FROM `orders` WHERE `orders`.`id` > ? ORDER BY `orders`.`id` LIMIT ?"
	for name, tt := range map[string]struct {
		find func(db *gorm.DB) error
		want string
	}{
		"range in Where": {
			func(db *gorm.DB) error {
				_, err := gorm.G[Order](db).Where(created).Find(t.Context())
				return err
			}, "SELECT * FROM `orders` WHERE (`orders`.`id` >= ? AND `orders`.`id` < ?)",
		},
		"page in G": {
			func(db *gorm.DB) error {
				_, err := gorm.G[Order](db, gormsnow.After(7, 50)).Find(t.Context())
				return err
			}, page,
		},
		"page in Where": {
			func(db *gorm.DB) error {
				_, err := gorm.G[Order](db).Where(gormsnow.After(7, 50)).Find(t.Context())
				return err
			}, page,
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := dry(t, newSequence())
			var got string
			err := db.Callback().Query().After("gorm:query").Register("see", func(tx *gorm.DB) { got = tx.Statement.SQL.String() })
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.find(db); err != nil || got != tt.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, tt.want)
			}
		})
	}
}

// With two lanes, an hour that begins and ends inside spans is three ranges of keys.
func TestQuerySQLOfLanes(t *testing.T) {
	t.Parallel()
	l, err := snow.NewLayout(snow.DefaultLayout().Epoch(), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 10, Sequence: 12, Lane: 1, Span: 20})
	if err != nil {
		t.Fatal(err)
	}
	span := l.Tick() << 20
	hour := l.Epoch().Add(60_000*span + span/2)
	for name, tt := range map[string]struct {
		from, to         time.Time
		inside, outsides string
		ranges           int
	}{
		"an hour": {
			hour, hour.Add(time.Hour),
			"((`orders`.`id` >= ? AND `orders`.`id` < ?) OR (`orders`.`id` >= ? AND `orders`.`id` < ?) OR (`orders`.`id` >= ? AND `orders`.`id` < ?))",
			"((`orders`.`id` < ? OR `orders`.`id` >= ?) AND (`orders`.`id` < ? OR `orders`.`id` >= ?) AND (`orders`.`id` < ? OR `orders`.`id` >= ?))", 3,
		},
		"two spans": {
			l.Epoch().Add(60_000 * span), l.Epoch().Add(60_002 * span),
			"((`orders`.`id` >= ? AND `orders`.`id` < ?))", "((`orders`.`id` < ? OR `orders`.`id` >= ?))", 1,
		},
		"nothing": {
			hour, hour,
			"((`orders`.`id` >= ? AND `orders`.`id` < ?))", "((`orders`.`id` < ? OR `orders`.`id` >= ?))", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var vars []any
			for lo, hi := range l.Between(tt.from, tt.to) {
				vars = append(vars, int64(lo), int64(hi))
			}
			created := gormsnow.CreatedBetween(l, tt.from, tt.to)
			for want, tx := range map[string]*gorm.DB{
				tt.inside:   dry(t, newSequence()).Where(created).Find(&[]Order{}),
				tt.outsides: dry(t, newSequence()).Not(created).Find(&[]Order{}),
			} {
				want = "SELECT * FROM `orders` WHERE " + want
				if got := tx.Statement.SQL.String(); tx.Error != nil || got != want || len(vars) != 2*tt.ranges || !reflect.DeepEqual(tx.Statement.Vars, vars) {
					t.Errorf("%v, vars %v, want %v\ngot  %s\nwant %s", tx.Error, tx.Statement.Vars, vars, got, want)
				}
			}
		})
	}
}

// The plugin's source gives the layout.
func TestCreated(t *testing.T) {
	t.Parallel()
	from, to, lo, hi := day(t)
	tx := dry(t, &sharded{layout: snow.DefaultLayout()}).Not(gormsnow.Created(from, to)).Where(gormsnow.Created(from, to)).Find(&[]Order{})
	want := "SELECT * FROM `orders` WHERE (`orders`.`id` < ? OR `orders`.`id` >= ?) AND (`orders`.`id` >= ? AND `orders`.`id` < ?)"
	if got := tx.Statement.SQL.String(); tx.Error != nil || got != want || !reflect.DeepEqual(tx.Statement.Vars, []any{lo, hi, lo, hi}) {
		t.Errorf("%v, vars %v\ngot  %s\nwant %s", tx.Error, tx.Statement.Vars, got, want)
	}
	for name, tt := range map[string]struct {
		db   *gorm.DB
		dest any
		want string
	}{
		"no plugin": {bare(t), &[]Order{}, gormsnow.ErrNoPlugin.Error()},
		"no layout": {dry(t, newSequence()), &[]Order{}, "pass one to CreatedBetween"},
		"no model":  {dry(t, &sharded{layout: snow.DefaultLayout()}).Table("orders"), &map[string]any{}, gorm.ErrModelValueRequired.Error()},
	} {
		err := tt.db.Where(gormsnow.Created(from, to)).Find(tt.dest).Error
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "gormsnow: created between: ") {
			t.Errorf("%s: error %v, want one that says %q", name, err, tt.want)
		}
	}
}
