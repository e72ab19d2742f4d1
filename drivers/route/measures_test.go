//go:build unix

package route_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/route"
)

// A Measure has numbers and times of many kinds.
type Measure struct {
	ID      snow.ID `gorm:"primaryKey;not null" snow:"shard=OwnerID"`
	OwnerID snow.ID
	Whole   int
	Big     *int64
	Small   int8
	Count   uint32
	Float   float64
	Maybe   *float64
	Price   float64 `gorm:"type:decimal(12,3)"`
	At      time.Time
	Until   *time.Time
	Day     time.Time `gorm:"type:date"`
	Name    string    `gorm:"size:64"`
}

// measures stores random rows in both.
func measures(t *testing.T, w world, r *rand.Rand) {
	t.Helper()
	check(t, route.MigrateAcross(t.Context(), w.shards, &Measure{}))
	check(t, w.oracle.AutoMigrate(&Measure{}))
	for i := range 120 {
		m := Measure{
			OwnerID: snow.ID(1<<40 + int64(i%16)), Whole: r.IntN(9) - 4, Small: int8(r.IntN(256) - 128), Count: r.Uint32(), Float: float64(r.IntN(200)-100) / 8,
			Price: float64(r.IntN(1e9)) / 1000, At: time.Unix(1700000000+r.Int64N(1e6), r.Int64N(1000)*1e6).UTC(),
			Day: time.Date(2025, 1, 1+r.IntN(300), 0, 0, 0, 0, time.UTC), Name: fmt.Sprint(r.IntN(5)),
		}
		if r.IntN(3) > 0 {
			big, maybe, until := math.MaxInt64/200-r.Int64N(5), float64(r.IntN(100))/4, m.At.Add(time.Duration(r.IntN(5))*time.Hour)
			m.Big, m.Maybe, m.Until = &big, &maybe, &until
		}
		check(t, w.db.Create(&m).Error)
		check(t, w.oracle.Create(&m).Error)
	}
}

// TestMeasures compares sums, extremes and sorted rows of all shards with one database's.
func TestMeasures(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	each(t, func(t *testing.T, w world) {
		t.Log("seed", seed)
		r := rand.New(rand.NewPCG(seed, 1))
		measures(t, w, r)
		sqlite := w.db.Name() == "sqlite"
		numbers := []string{"id", "owner_id", "whole", "big", "small", "count", "float", "maybe", "price"}
		times := []string{"at", "until", "day"}
		ask := func(db *gorm.DB, expression string, dest any) error {
			return route.Scatter(db).Model(&Measure{}).Where("whole > ? OR name = ?", -3, "1").Select(expression).Scan(dest).Error
		}
		for _, function := range []string{"sum", "min", "max", "count"} {
			for _, column := range append(numbers, times...) {
				if function == "sum" && (column == "id" || column == "owner_id") {
					continue // SQLite has no sums as large
				}
				isTime := column == "at" || column == "until" || column == "day"
				var got, want any = new(*float64), new(*float64)
				switch {
				case function == "count", column == "id", column == "owner_id", column == "whole", column == "big", column == "small", column == "count":
					got, want = new(*int64), new(*int64)
				case isTime:
					got, want = new(*time.Time), new(*time.Time)
				}
				expression := fmt.Sprintf("%s(%s) AS n", function, w.db.Statement.Quote(column))
				err := ask(w.db, expression, got)
				if isTime && function != "count" && (function == "sum" || sqlite) {
					if !errors.Is(err, route.ErrSpread) {
						t.Errorf("%s: %v", expression, err)
					}
					continue
				}
				check(t, err)
				check(t, ask(w.oracle, expression, want))
				if function == "sum" && sqlite && column == "price" { // which is a float there: each order of rows has a sum
					a, b := *got.(**float64), *want.(**float64)
					*a, *b = math.Round(*a*1000), math.Round(*b*1000)
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: got %v, want %v", expression, reflect.Indirect(reflect.ValueOf(got).Elem()), reflect.Indirect(reflect.ValueOf(want).Elem()))
				}
			}
		}
		// Of no rows, and several at once.
		var some, all struct {
			Total *int
			Most  *float64
			N     int
		}
		for _, condition := range []string{"name = 'none'", "name = '2'"} {
			for db, dest := range map[*gorm.DB]any{w.db: &some, w.oracle: &all} {
				check(t, route.Scatter(db).Model(&Measure{}).Where(condition).Select("sum(whole) AS total, max(price) AS most, count(*) AS n").Scan(dest).Error)
			}
			if !reflect.DeepEqual(some, all) {
				t.Errorf("%s: got %+v, want %+v", condition, some, all)
			}
		}
		var total, want int
		check(t, route.Scatter(w.db).Model(&Measure{}).Select("sum(whole)").Row().Scan(&total))
		check(t, w.oracle.Model(&Measure{}).Select("sum(whole)").Row().Scan(&want))
		if total != want {
			t.Errorf("got %d, want %d", total, want)
		}
		// Sorted rows, with the key to break ties, and NULL where the database has it.
		for _, column := range append(numbers, times...) {
			for _, descends := range []bool{false, true} {
				limit := 1 + r.IntN(130)
				sorted := func(db *gorm.DB) (ids []snow.ID, err error) {
					var rows []Measure
					err = route.Scatter(db).Order(clause.OrderByColumn{Column: clause.Column{Name: column}, Desc: descends}).Order("id desc").Limit(limit).Find(&rows).Error
					for _, m := range rows {
						ids = append(ids, m.ID)
					}
					return ids, err
				}
				got, err := sorted(w.db)
				if sqlite && (column == "at" || column == "until" || column == "day") {
					if !errors.Is(err, route.ErrSpread) {
						t.Errorf("order by %s: %v", column, err)
					}
					continue
				}
				check(t, err)
				want, err := sorted(w.oracle)
				check(t, err)
				if !reflect.DeepEqual(got, want) {
					t.Errorf("order by %s, descending %v, limit %d:\ngot  %v\nwant %v", column, descends, limit, got, want)
				}
			}
		}
		// Row reads the first of them.
		var first, firstWanted snow.ID
		check(t, route.Scatter(w.db).Model(&Measure{}).Select("id", "whole").Order("whole, id").Row().Scan(&first, &total))
		check(t, w.oracle.Model(&Measure{}).Select("id", "whole").Order("whole, id").Row().Scan(&firstWanted, &want))
		if first != firstWanted {
			t.Errorf("got %d, want %d", first, firstWanted)
		}
	})
}
