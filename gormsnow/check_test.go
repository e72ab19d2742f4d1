package gormsnow_test

import (
	"errors"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"gorm.io/gorm"
	"gorm.io/gorm/utils/tests"

	"github.com/shardsnow/snow/gormsnow"
)

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	if err := gormsnow.Check(dry(t, newSequence()), &Order{}); !errors.Is(err, gorm.ErrDryRunModeUnsupported) {
		t.Errorf("in a dry run: %v", err)
	}
	db, err := gorm.Open(tests.DummyDialector{})
	if err != nil {
		t.Fatal(err)
	}
	if err := gormsnow.Check(db, &Order{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("with another dialect: %v", err)
	}
}

// A query that fails is a separate error, and the other models are still checked.
func TestCheckQueryFails(t *testing.T) {
	t.Parallel()
	db, expect := mockOnce(t, &gorm.Config{})
	broken := errors.New("broken")
	const columns, indexes = "FROM information_schema.columns", "FROM information_schema.statistics"
	rows := func() *sqlmock.Rows {
		return sqlmock.NewRows([]string{"column_name", "data_type", "column_type", "character_maximum_length", "numeric_precision", "numeric_scale", "extra", "value", "collation"})
	}
	expect.ExpectQuery(columns).WillReturnError(broken)
	expect.ExpectQuery(columns).WillReturnRows(rows().AddRow("id", "int", "int(11)", nil, 10, 0, "", "", ""))
	expect.ExpectQuery(indexes).WillReturnRows(sqlmock.NewRows([]string{"index_name", "column_name"}).AddRow("PRIMARY", "id"))
	expect.ExpectQuery("SELECT COALESCE").WillReturnRows(sqlmock.NewRows([]string{"smallest", "largest"}).AddRow("", ""))
	expect.ExpectQuery(columns).WillReturnRows(rows().AddRow("id", "int", "int(11)", nil, 10, 0, "", "", "").RowError(0, broken))
	expect.ExpectQuery(columns).WillReturnRows(rows().AddRow("id", "bigint", "bigint", nil, 19, 0, "", "", ""))
	expect.ExpectQuery(indexes).WillReturnError(broken)

	err := gormsnow.Check(db, &Order{}, &Order{}, &Order{}, &Order{})
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 4 {
		t.Fatalf("Check = %v, want 4 errors", err)
	}
	for i, err := range joined.Unwrap() {
		var finding *gormsnow.CheckError
		if found := errors.As(err, &finding); found != (i == 1) || errors.Is(err, broken) == found {
			t.Errorf("error %d = %v", i, err)
		}
	}
}

func TestCheckErrorText(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]gormsnow.CheckError{
		"gormsnow: check: model shop.Order, field ID, column orders.id: it is int: change it": {
			Model: "shop.Order", Field: "ID", Column: "orders.id", Problem: "it is int", Remedy: "change it",
		},
		"gormsnow: check: model shop.Order: wrong": {Model: "shop.Order", Problem: "wrong"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
