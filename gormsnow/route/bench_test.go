//go:build unix

package route_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"syscall"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/gormsnow/route"
)

// BenchmarkOverhead compares a router, and a guarded database, with a plain one. cpu-ns/op is the time of this
// process, which others on the machine disturb less.
func BenchmarkOverhead(b *testing.B) {
	open := func(skip bool) *gorm.DB {
		pool := sql.OpenDB(silent{})
		b.Cleanup(func() { pool.Close() })
		db, err := gorm.Open(mysql.New(mysql.Config{Conn: pool, SkipInitializeWithVersion: true}), &gorm.Config{Logger: logger.Discard, SkipDefaultTransaction: skip})
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Use(gormsnow.New(generator(b))); err != nil {
			b.Fatal(err)
		}
		return db
	}
	buyer := base + 5
	measure := func(name string, db *gorm.DB, run func(db *gorm.DB) error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			at := func() int64 {
				var u syscall.Rusage
				_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
				return u.Utime.Nano() + u.Stime.Nano()
			}
			start := at()
			for b.Loop() {
				if err := run(db); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(at()-start)/float64(b.N), "cpu-ns/op")
		})
	}
	for _, skip := range []bool{true, false} {
		for _, way := range []string{"plain", "routed", "guarded"} {
			dbs := []*gorm.DB{open(skip), open(skip), open(skip), open(skip)}
			shards, err := snow.NewShards(layout(b), dbs...)
			if err != nil {
				b.Fatal(err)
			}
			db := dbs[1]
			switch way {
			case "routed":
				if db, err = route.New(shards); err != nil {
					b.Fatal(err)
				}
			case "guarded":
				if err := db.Use(route.Guard(shards, 1)); err != nil {
					b.Fatal(err)
				}
			}
			if skip {
				measure("find-key/"+way, db, func(db *gorm.DB) error { return db.Limit(1).Find(&[]Order{}, "id = ?", buyer).Error })
				measure("find-text/"+way, db, func(db *gorm.DB) error {
					return db.Where("buyer_id = ? AND (state = ? OR amount > ?)", buyer, "x", 4).Order("id").Limit(20).Find(&[]Order{}).Error
				})
				measure("create/"+way, db, func(db *gorm.DB) error { return db.Create(&Order{BuyerID: buyer}).Error })
				measure("update/"+way, db, func(db *gorm.DB) error {
					return db.Model(&Order{}).Where("id = ?", buyer).Update("amount", 5).Error
				})
			} else {
				measure("create-in-tx/"+way, db, func(db *gorm.DB) error { return db.Create(&Order{BuyerID: buyer}).Error })
			}
		}
	}
}

// silent is a database that answers at once and remembers nothing.
type silent struct{}

func (silent) Connect(context.Context) (driver.Conn, error) { return silent{}, nil }
func (silent) Driver() driver.Driver                        { return nil }
func (silent) Prepare(string) (driver.Stmt, error)          { return nil, driver.ErrSkip }
func (silent) Close() error                                 { return nil }
func (silent) Begin() (driver.Tx, error)                    { return silent{}, nil }
func (silent) Commit() error                                { return nil }
func (silent) Rollback() error                              { return nil }
func (silent) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return &someRows{query: "SELECT *"}, nil
}

func (silent) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(1), nil
}
