package gormsnow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// A tally gives numbers without a database.
type tally struct {
	partitions []string
	gapFree    bool
	last       map[string]int
	calls      []string
}

var errNoTx = errors.New("no transaction")

func (c *tally) Partitions() []string { return slices.Clone(c.partitions) }

func (c *tally) GapFree() bool { return c.gapFree }

func (c *tally) FillIn(_ context.Context, tx gormsnow.Tx, texts []string, partitions ...string) error {
	if c.gapFree && tx == nil {
		return errNoTx
	}
	scope := strings.Join(partitions, "/")
	c.calls = append(c.calls, fmt.Sprintf("%s+%d", scope, len(texts)))
	for i := range texts {
		c.last[scope]++
		texts[i] = fmt.Sprintf("%s-%d", scope, c.last[scope])
	}
	return nil
}

type Bill struct {
	ID       snow.ID
	Number   string  `snow:"number=bills,shop=ShopCode"`
	Copy     *string `snow:"number=copies"`
	ShopCode int64
	Note     string
}

// numbered returns a MySQL database that expects the beginnings of statements.
func numbered(t *testing.T) (*gorm.DB, sqlmock.Sqlmock) {
	t.Helper()
	conn, expect, err := sqlmock.New()
	if err != nil {
		t.Fatal(err)
	}
	db, err := gorm.Open(mysql.New(mysql.Config{Conn: conn, SkipInitializeWithVersion: true}),
		&gorm.Config{SkipDefaultTransaction: true, Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Use(gormsnow.New(newSequence())); err != nil {
		t.Fatal(err)
	}
	return db, expect
}

func TestNumberTags(t *testing.T) {
	t.Parallel()
	type unknown struct {
		ID     snow.ID
		Number string `snow:"number=nothing"`
	}
	type without struct {
		ID     snow.ID
		Number string `snow:"number=bills"`
	}
	type wrongField struct {
		ID     snow.ID
		Number string `snow:"number=bills,shop=Shop"`
	}
	type wrongType struct {
		ID     snow.ID
		Number int64 `snow:"number=copies"`
	}
	type malformed struct {
		ID     snow.ID
		Number string `snow:"number=bills,Shop"`
	}
	type noColumn struct {
		ID     snow.ID
		Number string `gorm:"-" snow:"number=copies"`
	}
	type hasDefault struct {
		ID     snow.ID
		Number string `gorm:"default:x" snow:"number=copies"`
	}
	type badSource struct {
		ID     snow.ID
		Number string `snow:"number=bills,shop=Shop"`
		Shop   float64
	}
	series := map[string]gormsnow.NumberSeries{
		"bills":  &tally{partitions: []string{"shop"}, last: map[string]int{}},
		"copies": &tally{last: map[string]int{}},
	}
	for _, row := range []any{&unknown{}, &without{}, &wrongField{}, &wrongType{}, &malformed{}, &noColumn{}, &hasDefault{}, &badSource{}} {
		db, _ := numbered(t)
		if err := db.Use(gormsnow.Numbers(series)); err != nil {
			t.Fatal(err)
		}
		err := db.Create(row).Error
		var field *gormsnow.FieldError
		if !errors.As(err, &field) || field.Field != "Number" {
			t.Errorf("%T: got %v", row, err)
		}
	}
	db, _ := numbered(t)
	var field *gormsnow.FieldError
	if err := db.Create(&Bill{ShopCode: 1}).Error; !errors.As(err, &field) || !strings.Contains(field.Reason, "gormsnow.Numbers") {
		t.Errorf("without the plugin: got %v", err)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	bills := &tally{partitions: []string{"shop"}, gapFree: true, last: map[string]int{}}
	copies := &tally{last: map[string]int{}}
	db := dry(t, newSequence())
	if err := db.Use(gormsnow.Numbers(map[string]gormsnow.NumberSeries{"bills": bills, "copies": copies})); err != nil {
		t.Fatal(err)
	}
	if err := db.Create(&Bill{ShopCode: 3}).Error; err != nil || len(bills.calls) > 0 {
		t.Errorf("DryRun takes no number: got %v, %q", err, bills.calls)
	}
	db, m := numbered(t)
	if err := db.Use(gormsnow.Numbers(map[string]gormsnow.NumberSeries{"bills": bills, "copies": copies})); err != nil {
		t.Fatal(err)
	}
	if err := db.Create(&Bill{ShopCode: 3}).Error; !errors.Is(err, errNoTx) {
		t.Errorf("without a transaction: got %v, want %v", err, errNoTx)
	}
	m.ExpectBegin()
	tx := db.Begin()
	given := "given"
	rows := []*Bill{{ShopCode: 3}, {ShopCode: 1, Copy: &given}, {ShopCode: 3, Note: "x"}}
	m.ExpectExec("INSERT INTO `bills`").WillReturnError(errors.New("down"))
	if err := tx.Create(rows).Error; err == nil {
		t.Error("the insert did not fail")
	}
	if rows[0].Number != "" || rows[2].Number != "" || rows[0].Copy == nil || rows[1].Copy != &given {
		t.Errorf("after a Create that failed: got %+v", rows[0])
	}
	m.ExpectExec("INSERT INTO `bills`").WillReturnResult(sqlmock.NewResult(0, 3))
	if err := tx.Select("ShopCode").Create(rows).Error; err != nil {
		t.Fatal(err)
	}
	if got := rows[0].Number + " " + rows[1].Number + " " + rows[2].Number; got != "3-3 1-2 3-4" {
		t.Errorf("got %q", got)
	}
	if got := strings.Join(bills.calls, " "); got != "1+1 3+2 1+1 3+2" {
		t.Errorf("got the calls %q", got)
	}
	if err := tx.Create(rows[0]).Error; !errors.Is(err, gormsnow.ErrNumberSet) {
		t.Errorf("a number that is set: got %v", err)
	}
	var field *gormsnow.FieldError
	if err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&Bill{ShopCode: 3}).Error; !errors.As(err, &field) {
		t.Errorf("ON CONFLICT: got %v", err)
	}
	if err := tx.Omit("Number").Create(&Bill{ShopCode: 3}).Error; !errors.As(err, &field) {
		t.Errorf("Omit: got %v", err)
	}
	m.ExpectExec("INSERT INTO `bills`").WillReturnResult(sqlmock.NewResult(0, 1))
	old := Bill{Number: "old", ShopCode: 3}
	if err := tx.Set(gormsnow.GivenNumbers, true).Create(&old).Error; err != nil || old.Number != "old" {
		t.Errorf("a given number: got %v, %q", err, old.Number)
	}
	m.ExpectExec("INSERT INTO `bills`").WillReturnResult(sqlmock.NewResult(0, 1))
	row := map[string]any{"ShopCode": 9}
	if err := tx.Model(&Bill{}).Create(row).Error; err != nil || row["number"] != "9-1" || row["copy"] == nil {
		t.Errorf("a map: got %v, %v", row, err)
	}
	m.ExpectRollback()
	if err := tx.Rollback().Error; err != nil {
		t.Error(err)
	}
}
