//go:build unix

package gormcheck_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/internal/testkit/gormtest"
)

// A cargo is in one of many tables.
type cargo struct {
	Number snow.ID `gorm:"primaryKey"`
	Class  int
}

// A manifest looks like a cargo.
type manifest struct {
	Number snow.ID `gorm:"primaryKey"`
	Class  int
}

// openTables returns two pools with three tables each.
func openTables(t *testing.T, d database) *snow.Shards[*gorm.DB] {
	t.Helper()
	var targets []*gorm.DB
	for range 2 {
		db := d.open(t, gorm.Config{})
		pool, err := db.DB()
		if err != nil {
			t.Fatal(err)
		}
		pool.SetMaxIdleConns(3) // as many as there are queries at a time
		for range 3 {
			table := db.Table(fmt.Sprint("cargo_", len(targets)))
			migrate(t, table, &cargo{})
			targets = append(targets, table.Session(&gorm.Session{}))
		}
	}
	shards, err := snow.NewShards(gormtest.Layout(t), targets...)
	if err != nil {
		t.Fatal(err)
	}
	return shards
}

// Pages over all tables are compared with a sorted slice.
func TestFindAcross(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		const seed = 7
		random := rand.New(rand.NewPCG(seed, seed))
		ctx, shards := t.Context(), openTables(t, d)
		ids := make([]snow.ID, 20)
		if err := gormtest.NewGenerator(t).Fill(ctx, ids); err != nil {
			t.Fatal(err)
		}
		var even []snow.ID
		for i, id := range ids {
			if i%2 == 0 {
				even = append(even, id)
			}
			row := cargo{Number: id, Class: i % 2}
			if err := shards.At(random.Uint64N(4)).Create(&row).Error; err != nil { // some tables stay empty
				t.Fatal(err)
			}
		}
		backwards := func(ids []snow.ID) []snow.ID {
			ids = slices.Clone(ids)
			slices.Reverse(ids)
			return ids
		}
		evenOnly := func(db *gorm.DB) *gorm.DB { return db.Where("class = ?", 0) }
		for name, tt := range map[string]struct {
			page   func(snow.ID, int) clause.Expression
			scopes []func(*gorm.DB) *gorm.DB
			want   []snow.ID
		}{
			"after":             {gormsnow.After, nil, ids},
			"before":            {gormsnow.Before, nil, backwards(ids)},
			"after in a scope":  {gormsnow.After, []func(*gorm.DB) *gorm.DB{evenOnly}, even},
			"before in a scope": {gormsnow.Before, []func(*gorm.DB) *gorm.DB{evenOnly}, backwards(even)},
		} {
			for _, limit := range []int{1, 7, 20, 21} {
				var got []snow.ID
				for last := snow.ID(0); ; last = got[len(got)-1] {
					page, err := gormsnow.FindAcross[*cargo](ctx, shards, tt.page(last, limit), tt.scopes...)
					if err != nil || len(page) > limit {
						t.Fatalf("%s: %d rows, %v; want at most %d", name, len(page), err, limit)
					}
					if len(page) == 0 {
						break
					}
					for _, row := range page {
						got = append(got, row.Number)
					}
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("%s, pages of %d: %d, want %d", name, limit, got, tt.want)
				}
			}
		}

		scope := func(do func(*gorm.DB) *gorm.DB) []func(*gorm.DB) *gorm.DB { return []func(*gorm.DB) *gorm.DB{do} }
		for name, tt := range map[string]struct {
			page   clause.Expression
			scopes []func(*gorm.DB) *gorm.DB
			reason string
		}{
			"no page":         {clause.Eq{Column: "class", Value: 0}, nil, "clause.Eq is no page"},
			"nothing":         {nil, nil, "no page"},
			"no limit":        {gormsnow.After(0, 0), nil, "want at least 1"},
			"a smaller limit": {gormsnow.After(0, 9), scope(func(db *gorm.DB) *gorm.DB { return db.Limit(3) }), "limit"},
			"a larger limit":  {gormsnow.After(0, 9), scope(func(db *gorm.DB) *gorm.DB { return db.Limit(30) }), "limit"},
			"an offset":       {gormsnow.After(0, 9), scope(func(db *gorm.DB) *gorm.DB { return db.Offset(3) }), "offset"},
			"no key":          {gormsnow.Before(0, 9), scope(func(db *gorm.DB) *gorm.DB { return db.Select("class") }), "select it"},
			"another order": {gormsnow.Before(0, 9), scope(func(db *gorm.DB) *gorm.DB {
				return db.Order("class DESC").Clauses(clause.OrderBy{Expression: clause.Expr{SQL: "class"}})
			}), "order"},
			"another model": {gormsnow.After(0, 9), scope(func(db *gorm.DB) *gorm.DB { return db.Model(&manifest{}) }), "leave Model out"},
		} {
			if rows, err := gormsnow.FindAcross[cargo](ctx, shards, tt.page, tt.scopes...); err == nil || rows != nil || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("%s: %d rows, error %v; want one that says %q", name, len(rows), err, tt.reason)
			}
		}
		if _, err := gormsnow.FindAcross[cargo](ctx, nil, gormsnow.After(0, 9)); err == nil {
			t.Error("no error without shards")
		}
		if _, err := gormsnow.FindAcross[int](ctx, shards, gormsnow.After(0, 9)); !errors.Is(err, gorm.ErrModelValueRequired) {
			t.Errorf("numbers: %v", err)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := gormsnow.FindAcross[cargo](ended, shards, gormsnow.After(0, 9)); !errors.Is(err, context.Canceled) {
			t.Errorf("a context that has ended: %v", err)
		}
		// One table is gone: its rows are not skipped without a word.
		if err := shards.At(2).Migrator().DropTable("cargo_2"); err != nil {
			t.Fatal(err)
		}
		var failed *snow.ShardError
		if rows, err := gormsnow.FindAcross[cargo](ctx, shards, gormsnow.After(0, 9)); !errors.As(err, &failed) || failed.Index != 2 || rows != nil {
			t.Errorf("%d rows, error %v; want that of shard 2", len(rows), err)
		}
	})
}
