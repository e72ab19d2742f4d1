//go:build unix

package route_test

import (
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
)

// A session with PrepareStmt has statements of each database, also where the first database has the same texts.
func TestWalkPreparedSession(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		w.db = w.db.Session(&gorm.Session{PrepareStmt: true})
		check(t, w.shards.At(0).Session(&gorm.Session{PrepareStmt: true}).Find(&[]Order{}, "buyer_id = ?", snow.ID(1)).Error)
		walk(t, w)
	})
}

func TestRandomPreparedSession(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		w.db = w.db.Session(&gorm.Session{PrepareStmt: true})
		seed := uint64(time.Now().UnixNano())
		t.Log("seed", seed)
		_, err := random(t, w, seed, 300, upTo(300))
		check(t, err)
	})
}

// A nested transaction has savepoints, which MySQL does not prepare.
func TestNestedPrepared(t *testing.T) {
	for name, option := range map[string]func(*gorm.Config){
		"in the databases": func(c *gorm.Config) { c.PrepareStmt = true }, "in the session": func(*gorm.Config) {},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w world) {
				a := buyers(t, w)[0]
				err := w.db.Session(&gorm.Session{PrepareStmt: true}).Transaction(func(tx *gorm.DB) error {
					for range 2 { // before the first statement, and after it
						err := tx.Transaction(func(tx *gorm.DB) error {
							return tx.Create(&Order{BuyerID: a.ID}).Error
						})
						if err != nil {
							return err
						}
					}
					return nil
				})
				check(t, err)
				var n int64
				check(t, w.db.Model(&Order{}).Where("buyer_id = ?", a.ID).Count(&n).Error)
				if n != 2 {
					t.Errorf("%d orders", n)
				}
			}, option)
		})
	}
}
