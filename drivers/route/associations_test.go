//go:build unix

package route_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/route"
)

type (
	Basket struct {
		ID       snow.ID `gorm:"primaryKey;not null" snow:"shard=OwnerID"`
		OwnerID  snow.ID
		Products []Product `gorm:"many2many:basket_products"`
		Friends  []Basket  `gorm:"many2many:basket_friends"`
		Remarks  []Remark  `gorm:"polymorphic:Subject"`
		Cover    *Cover    `gorm:"polymorphic:Subject"`
	}
	Remark struct {
		ID          snow.ID `gorm:"primaryKey;not null" snow:"shard=SubjectID"`
		SubjectID   snow.ID
		SubjectType string `gorm:"size:64"`
		Text        string `gorm:"size:64"`
	}
	Cover struct {
		ID          snow.ID `gorm:"primaryKey;not null" snow:"shard=SubjectID"`
		SubjectID   snow.ID
		SubjectType string `gorm:"size:64"`
		Color       string `gorm:"size:64"`
	}
)

// TestAssociations does the same with associations of many-to-many and polymorphic tables in all shards and in one
// database.
func TestAssociations(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		models := []any{&Basket{}, &Remark{}, &Cover{}}
		check(t, route.MigrateAcross(t.Context(), w.shards, models...))
		check(t, w.oracle.AutoMigrate(models...))
		db, err := route.New(w.shards, route.Global(&Product{}), route.Models(models...))
		check(t, err)
		tea, cup := Product{1, "tea"}, Product{2, "cup"}
		var baskets []Basket
		for i := range 8 {
			b := Basket{
				OwnerID: snow.ID(1<<40 + int64(i)), Products: []Product{tea}, Remarks: []Remark{{Text: "a"}, {Text: "b"}}, Cover: &Cover{Color: "red"},
			}
			if i > 0 {
				b.Friends = []Basket{{ID: baskets[0].ID, OwnerID: baskets[0].OwnerID}, {ID: baskets[i-1].ID, OwnerID: baskets[i-1].OwnerID}}
			}
			check(t, db.Omit("Products.*", "Friends.*").Create(&b).Error)
			check(t, w.oracle.Omit("Products.*", "Friends.*").Create(&b).Error)
			baskets = append(baskets, Basket{ID: b.ID, OwnerID: b.OwnerID})
		}
		same := func(what string, run func(db *gorm.DB) (any, error)) {
			t.Helper()
			got, err := run(db)
			want, wantErr := run(w.oracle)
			if err != nil || wantErr != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s:\ngot  %+v, %v\nwant %+v, %v", what, got, err, want, wantErr)
			}
		}
		loaded := func(db *gorm.DB) (any, error) {
			byID := func(db *gorm.DB) *gorm.DB { return db.Order("id") }
			var all []Basket
			err := route.Scatter(db).Preload("Products", byID).Preload("Friends", byID).Preload("Friends.Remarks", byID).Preload("Remarks", byID).Preload("Cover").Order("id").Find(&all).Error
			for i := range all { // rows of a table without an order
				slices.SortFunc(all[i].Products, func(a, b Product) int { return a.ID - b.ID })
				slices.SortFunc(all[i].Friends, func(a, b Basket) int { return int(a.ID - b.ID) })
			}
			return all, err
		}
		same("preload", loaded)
		var rows int64
		for i := range w.shards.Len() {
			var here, elsewhere int64
			check(t, w.shards.At(uint64(i)).Table("basket_friends").Count(&here).Error)
			check(t, w.shards.At(uint64(i)).Table("basket_friends").Where("basket_id % 4 <> ?", i).Count(&elsewhere).Error)
			if rows += here; elsewhere != 0 {
				t.Errorf("%d rows of basket_friends in database %d have owners elsewhere", elsewhere, i)
			}
		}
		if rows != 13 { // the first two of a basket may be one
			t.Errorf("basket_friends has %d rows", rows)
		}
		some := []Basket{baskets[1], baskets[2], baskets[7]}
		find := func(db *gorm.DB) (any, error) {
			var all []Product
			owners := slices.Clone(some)
			err := db.Order("products.id").Model(&owners).Association("Products").Find(&all)
			return all, err
		}
		count := func(db *gorm.DB) (any, error) {
			owners := slices.Clone(some)
			a := db.Model(&owners).Association("Products")
			n := a.Count()
			remarks := db.Model(&owners).Association("Remarks")
			return []int64{n, remarks.Count()}, errors.Join(a.Error, remarks.Error)
		}
		change := func(what string, run func(db *gorm.DB) error) {
			t.Helper()
			same(what, func(db *gorm.DB) (any, error) { return nil, run(db) })
			same(what+", then preload", loaded)
			same(what+", then find", find)
			same(what+", then count", count)
		}
		change("append", func(db *gorm.DB) error {
			owner, p := baskets[1], cup
			return db.Model(&owner).Omit("Products.*").Association("Products").Append(&p)
		})
		change("append the same", func(db *gorm.DB) error {
			owner, p := baskets[1], cup
			return db.Model(&owner).Omit("Products.*").Association("Products").Append(&p)
		})
		change("replace", func(db *gorm.DB) error {
			owner, p := baskets[2], cup
			return db.Model(&owner).Omit("Products.*").Association("Products").Replace(&p)
		})
		change("delete", func(db *gorm.DB) error {
			owner, p := baskets[1], tea
			return db.Model(&owner).Association("Products").Delete(&p)
		})
		change("delete a friend", func(db *gorm.DB) error {
			owner, friend := baskets[5], baskets[4]
			return db.Model(&owner).Association("Friends").Delete(&friend)
		})
		change("clear", func(db *gorm.DB) error {
			owner := baskets[7]
			return db.Model(&owner).Association("Products").Clear()
		})
		remark := Remark{Text: "c"}
		change("append a remark", func(db *gorm.DB) error {
			owner := baskets[3]
			return db.Model(&owner).Association("Remarks").Append(&remark)
		})
		change("drop the remarks", func(db *gorm.DB) error {
			owner := baskets[6]
			return db.Model(&owner).Association("Remarks").Unscoped().Clear()
		})
		same("join", func(db *gorm.DB) (any, error) {
			var all []Basket
			err := db.Joins("Cover").Order("baskets.id").Find(&all, "baskets.owner_id IN ?", []snow.ID{baskets[0].OwnerID, baskets[3].OwnerID}).Error
			return all, err
		})
		// What is elsewhere is not written in the owner's transaction.
		owner, friend := baskets[0], baskets[1]
		if err := db.Model(&owner).Association("Friends").Append(&friend); !errors.Is(err, route.ErrCrossShard) {
			t.Error(err)
		}
	})
}
