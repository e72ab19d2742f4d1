//go:build unix

package number_test

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ncruces/go-sqlite3/gormlite"
	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/gormtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/numbers"
)

var (
	_ gormsnow.NumberSeries = (*numbers.GapFree)(nil)
	_ gormsnow.NumberSeries = (*numbers.Fast)(nil)
)

type invoice struct {
	ID     snow.ID
	Number string `gorm:"uniqueIndex;size:40" snow:"number=invoices,shop=Shop"`
	Order  string `gorm:"uniqueIndex;size:40" snow:"number=orders"`
	Shop   string
	Note   string `gorm:"uniqueIndex;size:40"`
}

// GORM's own transaction is enough for a number without gaps. A Create that fails leaves no gap.
func TestNumbersInGORM(t *testing.T) {
	for name, test := range map[string]struct {
		dialect sqlsnow.Dialect
		open    func() gorm.Dialector
	}{
		"SQLite": {sqlsnow.SQLite, func() gorm.Dialector {
			return gormlite.Open("file:" + filepath.Join(t.TempDir(), "db") + "?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=busy_timeout(60000)&_txlock=immediate")
		}},
		"PostgreSQL": {sqlsnow.Postgres, func() gorm.Dialector {
			server := dbtest.Postgres(t)
			return gormpostgres.Open(server.DSN(server.CreateDatabase(t)))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			db, err := gorm.Open(test.open(), &gorm.Config{Logger: logger.Discard})
			check(t, err)
			pool, err := db.DB()
			check(t, err)
			t.Cleanup(func() { _ = pool.Close() })
			pool.SetMaxOpenConns(8)
			check(t, sqlsnow.Migrate(ctx, pool, test.dialect))
			check(t, db.AutoMigrate(&invoice{}))
			invoices, err := numbers.OpenGapFree(ctx, pool, test.dialect, numbers.Config{Series: "invoices", Pattern: "{shop}/{0000}"})
			check(t, err)
			orders, err := numbers.OpenFast(ctx, pool, test.dialect, numbers.FastConfig{Config: numbers.Config{Series: "orders", Pattern: "{0000}"}, Step: 1000})
			check(t, err)
			_, err = orders.Next(ctx) // takes a block, so that no insert needs a second connection
			check(t, err)
			check(t, db.Use(gormsnow.New(gormtest.NewGenerator(t))))
			check(t, db.Use(gormsnow.Numbers(map[string]gormsnow.NumberSeries{"invoices": invoices, "orders": orders})))

			var stored atomic.Int64
			var all sync.WaitGroup
			for i := range 8 {
				all.Go(func() {
					for j := range 10 {
						row := invoice{Shop: "a", Note: string(rune('A'+i)) + string(rune('0'+j/2))} // every other one is there already
						if err := db.WithContext(ctx).Create(&row).Error; err == nil {
							stored.Add(1)
						} else if row.Number != "" {
							t.Errorf("%s after %v", row.Number, err)
						}
					}
				})
			}
			all.Wait()
			rows := []invoice{{Shop: "b", Note: "x"}, {Shop: "a", Note: "y"}, {Shop: "b", Note: "z"}}
			check(t, db.Create(rows).Error)
			if rows[0].Number != "b/0001" || rows[2].Number != "b/0002" {
				t.Errorf("got %+v", rows)
			}
			var texts []string
			check(t, db.Model(&invoice{}).Where("shop = ?", "a").Order("number").Pluck("number", &texts).Error)
			for i, text := range texts {
				if n, err := invoices.Pattern().Parse(text); err != nil || n.Number != int64(i)+1 {
					t.Errorf("place %d has %s, %v", i+1, text, err)
				}
			}
			if len(texts) != 41 || stored.Load() != 40 || !slices.IsSorted(texts) {
				t.Errorf("got %d rows, %d were stored; want 41 and 40", len(texts), stored.Load())
			}
			bare := db.Session(&gorm.Session{SkipDefaultTransaction: true})
			if err := bare.Create(&invoice{Shop: "a", Note: "bare"}).Error; !errors.Is(err, numbers.ErrNoTransaction) {
				t.Errorf("without a transaction: got %v", err)
			}
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
