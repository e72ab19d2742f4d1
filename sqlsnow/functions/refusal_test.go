package functions_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/functions"
)

// What can't be written is an error that names the field.
func TestRefusals(t *testing.T) {
	january := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	long, err := snow.NewLayout(january, time.Second, snow.Bits{Timestamp: 32, Worker: 4, Sequence: 8, Lane: 2, Span: 17})
	if err != nil {
		t.Fatal(err)
	}
	reading := func(d sqlsnow.Dialect, l snow.Layout) error {
		_, err := functions.Reading(d, l)
		return err
	}
	partition := func(d sqlsnow.Dialect, l snow.Layout, table, column string, first time.Time, months int) error {
		_, err := functions.Partition(d, l, table, column, first, months)
		return err
	}
	add := func(d sqlsnow.Dialect, l snow.Layout, table string, first time.Time, months int) error {
		_, err := functions.AddPartitions(d, l, table, first, months)
		return err
	}
	install := func(d sqlsnow.Dialect, namespace string) error {
		_, err := functions.Install(t.Context(), nil, d, functions.Config{Namespace: namespace})
		return err
	}
	for _, test := range []struct {
		err   error
		field string
	}{
		{reading(sqlsnow.SQLite, snow.DefaultLayout()), "dialect"},
		{reading(0, snow.DefaultLayout()), "dialect"},
		{reading(sqlsnow.MySQL, snow.Layout{}), "layout"},
		{install(sqlsnow.SQLite, "orders"), "dialect"},
		{install(sqlsnow.MySQL, ""), "Namespace"},
		{partition(sqlsnow.Postgres, snow.DefaultLayout(), "t", "id", january, 1), "dialect"},
		{partition(sqlsnow.MySQL, snow.DefaultLayout(), "t", "", january, 1), "column"},
		{partition(sqlsnow.MySQL, snow.DefaultLayout(), "", "id", january, 1), "table"},
		{partition(sqlsnow.MySQL, snow.DefaultLayout(), "t", "id", january, 0), "months"},
		{partition(sqlsnow.MySQL, snow.DefaultLayout(), "t", "id", january, math.MaxInt), "months"},
		{partition(sqlsnow.MySQL, snow.DefaultLayout(), "t", "id", time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), 1), "first"},
		{partition(sqlsnow.MySQL, snow.DefaultLayout(), "t", "id", time.Date(2093, 1, 1, 0, 0, 0, 0, time.UTC), 24), "first"},
		{partition(sqlsnow.MySQL, long, "t", "id", january, 1), "span"},
		{add(sqlsnow.SQLite, snow.DefaultLayout(), "t", january, 1), "dialect"},
		{add(sqlsnow.Postgres, snow.DefaultLayout(), strings.Repeat("t", 56), january, 1), "table"},
	} {
		var field *snow.FieldError
		if !errors.As(test.err, &field) || field.Field != test.field || !strings.HasPrefix(test.err.Error(), "functions: ") {
			t.Errorf("got %v, want an error for the field %q", test.err, test.field)
		}
	}
}
