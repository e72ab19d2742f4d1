package route_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/route"
)

// TestPrepared runs statements with the same text in all databases: each has prepared its own, once.
func TestPrepared(t *testing.T) {
	for _, opened := range []bool{false, true} {
		t.Run(fmt.Sprint("opened with it ", opened), func(t *testing.T) {
			fakes, shards := databases(t, 4, func(c *gorm.Config) { c.PrepareStmt = opened })
			db, err := route.New(shards, route.Global(&Product{}))
			if err != nil {
				t.Fatal(err)
			}
			// The first database has statements of its own under the same texts.
			if err := shards.At(0).Session(&gorm.Session{PrepareStmt: true}).Find(&[]Order{}, "id = ?", base).Error; err != nil {
				t.Fatal(err)
			}
			prepares := db.Session(&gorm.Session{PrepareStmt: true})
			var programs sync.WaitGroup
			errs := make(chan error, 64)
			for i := range snow.ID(16) {
				programs.Go(func() {
					one := func(db *gorm.DB) error {
						return errors.Join(
							db.Find(&[]Order{}, "id = ?", base+i).Error,
							db.Create(&Order{BuyerID: base + i}).Error,
							db.Model(&Order{}).Where("id = ?", base+i).Update("state", "x").Error,
						)
					}
					errs <- one(prepares)
					errs <- prepares.Transaction(func(tx *gorm.DB) error {
						return errors.Join(one(tx), tx.Transaction(func(tx *gorm.DB) error { return one(tx) }))
					})
					errs <- db.Transaction(func(tx *gorm.DB) error {
						return errors.Join(one(tx), one(tx.Session(&gorm.Session{PrepareStmt: true})), one(tx))
					})
					errs <- route.Scatter(prepares).Find(&[]Order{}).Error
				})
			}
			programs.Wait()
			close(errs)
			for err := range errs {
				if err != nil {
					t.Fatal(err)
				}
			}
			for i, f := range fakes {
				finds := 0
				for _, s := range f.take() {
					if s == "SELECT * FROM `orders` WHERE id = ? AND `orders`.`deleted_at` IS NULL" {
						finds++
					}
				}
				want := 4 * 6 // of each of its four shards: one, two in a transaction, three in the other
				if i == 0 {
					want++
				}
				if finds != want {
					t.Errorf("database %d got %d queries, want %d", i, finds, want)
				}
				for _, s := range f.prepared {
					if strings.Contains(s, "SAVEPOINT") {
						t.Errorf("prepared %s", s)
					}
				}
				if !slices.Contains(f.prepared, "SELECT * FROM `orders` WHERE id = ? AND `orders`.`deleted_at` IS NULL") {
					t.Errorf("database %d has prepared %q", i, f.prepared)
				}
			}
		})
	}
}
