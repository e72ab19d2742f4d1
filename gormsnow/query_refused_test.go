package gormsnow_test

import (
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

func TestQueryRefuses(t *testing.T) {
	t.Parallel()
	from, to, _, _ := day(t)
	created := gormsnow.CreatedBetween(snow.DefaultLayout(), from, to)
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	field := func(model, field string) func(error) bool {
		return func(err error) bool {
			var e *gormsnow.FieldError
			return errors.As(err, &e) && e.Model == "gormsnow_test."+model && e.Field == field
		}
	}
	bound := func(field, value string) func(error) bool {
		return func(err error) bool {
			var e *snow.FieldError
			return errors.As(err, &e) && e.Field == field && e.Value == value
		}
	}
	says := func(text string) func(error) bool {
		return func(err error) bool { return strings.Contains(err.Error(), text) }
	}
	for name, tt := range map[string]struct {
		find func(db *gorm.DB) *gorm.DB
		want func(error) bool
	}{
		"no model": {
			func(db *gorm.DB) *gorm.DB { return db.Table("orders").Where(created).Find(&[]map[string]any{}) },
			is(gorm.ErrModelValueRequired),
		},
		"a page without a model": {
			func(db *gorm.DB) *gorm.DB {
				return db.Table("orders").Clauses(gormsnow.After(0, 1)).Find(&[]map[string]any{})
			},
			is(gorm.ErrModelValueRequired),
		},
		"conditions of a join": {
			func(db *gorm.DB) *gorm.DB { return db.Joins("Box", db.Where(gormsnow.After(0, 1))).Find(&[]letter{}) },
			is(gorm.ErrModelValueRequired),
		},
		"the zero layout": {
			func(db *gorm.DB) *gorm.DB {
				return db.Where(gormsnow.CreatedBetween(snow.Layout{}, from, to)).Find(&[]Order{})
			},
			says("zero Layout"),
		},
		"a text key":   {func(db *gorm.DB) *gorm.DB { return db.Where(created).Find(&[]byText{}) }, field("byText", "ID")},
		"a small key":  {func(db *gorm.DB) *gorm.DB { return db.Where(created).Find(&[]byInt32{}) }, field("byInt32", "ID")},
		"a pair":       {func(db *gorm.DB) *gorm.DB { return db.Clauses(gormsnow.After(0, 1)).Find(&[]byPair{}) }, field("byPair", "ID")},
		"no limit":     {func(db *gorm.DB) *gorm.DB { return db.Clauses(gormsnow.After(7, 0)).Find(&[]Order{}) }, bound("limit", "0")},
		"a bad limit":  {func(db *gorm.DB) *gorm.DB { return db.Where(gormsnow.Before(7, -1)).Find(&[]Order{}) }, bound("limit", "-1")},
		"a bad cursor": {func(db *gorm.DB) *gorm.DB { return db.Where(gormsnow.Before(-7, 1)).Find(&[]Order{}) }, bound("id", "-7")},
		"another order": {
			func(db *gorm.DB) *gorm.DB { return db.Order("buyer").Clauses(gormsnow.After(7, 50)).Find(&[]Order{}) },
			says("order of its own"),
		},
		"an order expression": {
			func(db *gorm.DB) *gorm.DB {
				return db.Order(clause.OrderBy{Expression: clause.Expr{SQL: "RAND()"}}).Where(gormsnow.After(7, 50)).Find(&[]Order{})
			},
			says("order of its own"),
		},
		"the other direction": {
			func(db *gorm.DB) *gorm.DB { return db.Where(gormsnow.After(7, 50)).Last(&Order{}) },
			says("order of its own"),
		},
		"count of a page": {
			func(db *gorm.DB) *gorm.DB {
				return db.Model(&Order{}).Where(gormsnow.After(7, 50)).Count(new(int64))
			},
			says("a count ignores"),
		},
		"count of a column of a page": {
			func(db *gorm.DB) *gorm.DB {
				return db.Model(&Order{}).Clauses(gormsnow.After(7, 50)).Distinct("buyer").Count(new(int64))
			},
			says("a count ignores"),
		},
		"delete of a page": {
			func(db *gorm.DB) *gorm.DB { return db.Clauses(gormsnow.After(7, 50)).Delete(&Order{}) },
			says("takes no limit"),
		},
		"update of a page": {
			func(db *gorm.DB) *gorm.DB {
				return db.Model(&Order{}).Where(gormsnow.After(7, 50)).Update("buyer", "")
			},
			says("takes no limit"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := tt.find(dry(t, newSequence())).Error
			if err == nil || !strings.HasPrefix(err.Error(), "gormsnow: ") || !tt.want(err) {
				t.Errorf("error = %v", err)
			}
		})
	}
}
