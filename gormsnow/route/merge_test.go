package route_test

import (
	"database/sql/driver"
	"fmt"
	"slices"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow/gormsnow/route"
)

// TestMerge has the rows of three databases, as they give them, and what becomes of them: a key and an amount.
func TestMerge(t *testing.T) {
	row := func(id int64, amount any) []driver.Value { return []driver.Value{id, amount, nil} }
	const otherwise = "route: merge the rows: the database has sorted them otherwise: order by the key"
	for _, c := range []struct {
		name string
		rows [3][][]driver.Value
		add  func(db *gorm.DB) *gorm.DB
		want []int64
		err  string
	}{
		{"no order", [3][][]driver.Value{{row(3, 1), row(1, 1)}, {}, {row(2, 1)}}, func(db *gorm.DB) *gorm.DB { return db }, []int64{3, 1, 2}, ""},
		{
			"by key",
			[3][][]driver.Value{{row(1, 1), row(6, 1)}, {row(2, 1), row(3, 1)}, {row(4, 1)}},
			func(db *gorm.DB) *gorm.DB { return db.Order("id") },
			[]int64{1, 2, 3, 4, 6},
			"",
		},
		{
			"limited",
			[3][][]driver.Value{{row(1, 1), row(6, 1), row(7, 1)}, {row(2, 1), row(3, 1), row(5, 1)}, {row(4, 1)}},
			func(db *gorm.DB) *gorm.DB { return db.Order("id").Limit(3) },
			[]int64{1, 2, 3},
			"",
		},
		{
			"limit of none",
			[3][][]driver.Value{{row(1, 1)}, {row(2, 1)}, {}},
			func(db *gorm.DB) *gorm.DB { return db.Order("id").Limit(0) }, nil, "",
		},
		{
			"descending",
			[3][][]driver.Value{{row(6, 1), row(1, 1)}, {row(3, 1)}, {row(4, 1)}},
			func(db *gorm.DB) *gorm.DB { return db.Order("id DESC").Limit(3) },
			[]int64{6, 4, 3},
			"",
		},
		{
			"descending by a clause", [3][][]driver.Value{{row(6, 1), row(1, 1)}, {row(3, 1)}, {row(4, 1)}},
			func(db *gorm.DB) *gorm.DB {
				return db.Order(clause.OrderByColumn{Column: clause.Column{Name: "id", Raw: true}, Desc: true})
			},
			[]int64{6, 4, 3, 1}, "",
		},
		{
			"by two, and NULL first",
			[3][][]driver.Value{{row(1, nil), row(4, int64(5))}, {row(3, nil), row(2, int64(5))}, {row(5, int64(-1))}},
			func(db *gorm.DB) *gorm.DB { return db.Order("amount, id DESC") },
			[]int64{3, 1, 5, 4, 2},
			"",
		},
		{
			"descending, and NULL last",
			[3][][]driver.Value{{row(4, int64(5)), row(1, nil)}, {row(2, int64(7))}, {row(3, nil)}},
			func(db *gorm.DB) *gorm.DB { return db.Order("amount DESC, id") },
			[]int64{2, 4, 1, 3},
			"",
		},
		{
			"sorted otherwise",
			[3][][]driver.Value{{row(6, 1), row(1, 1)}, {row(3, 1)}, {}},
			func(db *gorm.DB) *gorm.DB { return db.Order("id") }, nil, otherwise,
		},
		{
			"NULL last, and this database has it first",
			[3][][]driver.Value{{row(1, int64(1)), row(2, nil)}, {}, {}},
			func(db *gorm.DB) *gorm.DB { return db.Order("amount") }, nil, otherwise,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			fakes, shards := databases(t, 3)
			for i, f := range fakes {
				f.rows = c.rows[i]
			}
			db, err := route.New(shards)
			if err != nil {
				t.Fatal(err)
			}
			var orders []Order
			var got []int64
			err = c.add(route.Scatter(db)).Find(&orders).Error
			for _, o := range orders {
				got = append(got, int64(o.ID))
			}
			switch {
			case c.err == "" && (err != nil || !slices.Equal(got, c.want)):
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			case c.err != "" && (err == nil || !endsWith(err, c.err)):
				t.Errorf("got %v, %v, want %s", got, err, c.err)
			}
		})
	}
}

func endsWith(err error, text string) bool {
	s := fmt.Sprint(err)
	return len(s) >= len(text) && s[len(s)-len(text):] == text
}
