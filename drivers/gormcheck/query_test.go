//go:build unix

package gormcheck_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

type parcel struct {
	Number  snow.ID `gorm:"column:parcel_no;primaryKey"`
	OwnerID snow.ID
	Owner   *owner
}

type owner struct {
	ID      snow.ID
	Parcels []parcel
}

// Pages and ranges are compared with a sorted slice.
func TestQueries(t *testing.T) { testQueries(t, snow.DefaultLayout()) }

// With lanes, a time range is up to 127 ranges of keys.
func TestQueriesInLanes(t *testing.T) { testQueries(t, snow.Clustered()) }

func testQueries(t *testing.T, layout snow.Layout) {
	each(t, func(t *testing.T, d database) {
		const seed = 5
		random := rand.New(rand.NewPCG(seed, seed))
		db := d.openBare(t, gorm.Config{}).WithContext(t.Context())
		if err := db.Use(gormsnow.New(newGeneratorOf(t, layout))); err != nil { // Created has its layout
			t.Fatal(err)
		}
		migrate(t, db, &owner{}, &parcel{})
		start := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
		var ids []snow.ID
		owners := []owner{{}, {}}
		if err := db.Create(&owners).Error; err != nil {
			t.Fatal(err)
		}
		var parcels []parcel
		for i := range 60 {
			id, err := layout.Compose(snow.Parts{Time: start.Add(time.Duration(random.IntN(20)) * time.Second), Worker: 3, Sequence: uint64(i)})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
			parcels = append(parcels, parcel{Number: id, OwnerID: owners[i%2].ID})
		}
		if err := db.Create(&parcels).Error; err != nil {
			t.Fatal(err)
		}
		slices.Sort(ids)
		numbers := func(found []parcel) (got []snow.ID) {
			for _, p := range found {
				got = append(got, p.Number)
			}
			return got
		}

		for range 30 {
			from := start.Add(time.Duration(random.IntN(22000)-1000) * time.Millisecond)
			to := from.Add(time.Duration(random.IntN(5000)) * time.Millisecond)
			created := gormsnow.CreatedBetween(layout, from, to)
			inside := func(id snow.ID) bool { return !layout.Time(id).Before(from) && layout.Time(id).Before(to) }
			for name, tt := range map[string]struct {
				find func(dest *[]parcel) error
				keep func(snow.ID) bool
			}{
				"Where":       {func(dest *[]parcel) error { return db.Where(created).Find(dest).Error }, inside},
				"Created":     {func(dest *[]parcel) error { return db.Where(gormsnow.Created(from, to)).Find(dest).Error }, inside},
				"Not Created": {func(dest *[]parcel) error { return db.Not(gormsnow.Created(from, to)).Find(dest).Error }, func(id snow.ID) bool { return !inside(id) }},
				"Not":         {func(dest *[]parcel) error { return db.Not(created).Find(dest).Error }, func(id snow.ID) bool { return !inside(id) }},
				"join":        {func(dest *[]parcel) error { return db.InnerJoins("Owner").Where(created).Find(dest).Error }, inside},
				"generics": {func(dest *[]parcel) (err error) {
					*dest, err = gorm.G[parcel](db).Where(created).Find(t.Context())
					return err
				}, inside},
			} {
				var found []parcel
				if err := tt.find(&found); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				got := numbers(found)
				slices.Sort(got)
				want := slices.DeleteFunc(slices.Clone(ids), func(id snow.ID) bool { return !tt.keep(id) })
				if !slices.Equal(got, want) {
					t.Errorf("%s, seed %d: [%s, %s) has %d, want %d", name, seed, from, to, got, want)
				}
			}
		}

		descending := slices.Clone(ids)
		slices.Reverse(descending)
		for _, limit := range []int{1, 7, 59, 60, 61} {
			for name, tt := range map[string]struct {
				page func(id snow.ID, limit int) clause.Expression
				find func(page clause.Expression, dest *[]parcel) error
				want []snow.ID
			}{
				"After in Clauses":  {gormsnow.After, func(page clause.Expression, dest *[]parcel) error { return db.Clauses(page).Find(dest).Error }, ids},
				"Before in Clauses": {gormsnow.Before, func(page clause.Expression, dest *[]parcel) error { return db.Clauses(page).Find(dest).Error }, descending},
				"After in Where":    {gormsnow.After, func(page clause.Expression, dest *[]parcel) error { return db.Where(page).Find(dest).Error }, ids},
				"Before in a join": {gormsnow.Before, func(page clause.Expression, dest *[]parcel) error {
					return db.InnerJoins("Owner").Clauses(page).Find(dest).Error
				}, descending},
				"After in generics": {gormsnow.After, func(page clause.Expression, dest *[]parcel) (err error) {
					*dest, err = gorm.G[parcel](db, page).Find(t.Context())
					return err
				}, ids},
				"in batches": {gormsnow.After, func(page clause.Expression, dest *[]parcel) error {
					var batch []parcel
					return db.Clauses(page).FindInBatches(&batch, 3, func(*gorm.DB, int) error {
						*dest = append(*dest, batch...)
						return nil
					}).Error
				}, ids},
			} {
				var got []snow.ID
				for {
					var last snow.ID
					if len(got) > 0 {
						last = got[len(got)-1]
					}
					var found []parcel
					if err := tt.find(tt.page(last, limit), &found); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if len(found) > limit {
						t.Fatalf("%s: page of %d, want at most %d", name, len(found), limit)
					}
					if len(found) == 0 {
						break
					}
					got = append(got, numbers(found)...)
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("%s, pages of %d: %d, want %d", name, limit, got, tt.want)
				}
			}
		}

		t.Run("preload", func(t *testing.T) {
			var found []owner
			err := db.Preload("Parcels", gormsnow.CreatedBetween(layout, start, start.Add(time.Minute))).Order("id").Find(&found).Error
			if err != nil || len(found) != 2 || len(found[0].Parcels) != 30 {
				t.Errorf("preload: %+v, %v", found, err)
			}
		})
		t.Run("delete of a page", func(t *testing.T) {
			tx := db.Clauses(gormsnow.Before(0, 4)).Delete(&parcel{})
			switch {
			case d.product != "mariadb":
				if tx.Error == nil {
					t.Error("no error, although the database takes no limit in DELETE")
				}
			case tx.Error != nil || tx.RowsAffected != 4:
				t.Errorf("%d rows, %v; want 4", tx.RowsAffected, tx.Error)
			}
		})
	})
}
