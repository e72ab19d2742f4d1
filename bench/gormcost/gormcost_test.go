package gormcost

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

func TestMeasure(t *testing.T) {
	server := dbtest.MariaDB(t)
	dsn := server.DSN(server.CreateDatabase(t))
	result, err := Options{Rounds: 2, Statements: 8, Progress: func(line string) { t.Log(line) }}.measure(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range result.Cases {
		if ratio, _ := c.Ratio(); len(c.Plugin) != 2 || !(ratio > 0) {
			t.Errorf("%d rows, dry run %v: got %d rounds, ratio %v", c.Rows, c.DryRun, len(c.Plugin), ratio)
		}
		if c.Allocs < 1 || c.PluginAllocs < c.Allocs-1 {
			t.Errorf("%d rows, dry run %v: %v allocations, with the plugin %v", c.Rows, c.DryRun, c.Allocs, c.PluginAllocs)
		}
	}
	if len(result.Cases) != 4 || result.Version == "" {
		t.Errorf("got %d cases on %q", len(result.Cases), result.Version)
	}

	// Both variants have stored what they were timed for, and dry runs nothing.
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const timed, counted = 2 * variants, 5 * 2 // a statement of each; memory runs two variants five times
	want := (timed+counted)*8 + (timed+counted)*1*1000
	var got, zero int
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*), COUNT(IF(id < 1, 1, NULL)) FROM orders").Scan(&got, &zero); err != nil {
		t.Fatal(err)
	}
	if got != want || zero != 0 {
		t.Errorf("got %d rows, %d without an id, want %d", got, zero, want)
	}
}

func TestMeasureEnds(t *testing.T) {
	dbtest.MariaDB(t) // skips where there is none
	t.Setenv("SNOW_MYSQL_DSN", "")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Measure(ctx, Options{Rounds: 1, Statements: 8, Progress: func(string) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestRatio(t *testing.T) {
	c := Case{ByHand: []float64{10, 20, 10}, Plugin: []float64{11, 20, 15}, ByHandAgain: []float64{10, 10, 10}}
	if mid, spread := c.Ratio(); mid != 1.1 || spread != 0.25 {
		t.Errorf("ratio: got %v ± %v, want 1.1 ± 0.25", mid, spread)
	}
	if mid, spread := c.Control(); mid != 1 || spread != 0.25 {
		t.Errorf("control: got %v ± %v, want 1 ± 0.25", mid, spread)
	}
	if mid, spread := (Case{}).Ratio(); !math.IsNaN(mid) || !math.IsNaN(spread) {
		t.Errorf("of nothing: got %v ± %v", mid, spread)
	}
}

func TestMedian(t *testing.T) {
	list := []float64{3, 1, 2, 10}
	if got := Median(list); got != 2.5 || list[0] != 3 {
		t.Errorf("got %v of %v, want 2.5", got, list)
	}
	if got := Median(list[:3]); got != 2 {
		t.Errorf("got %v, want 2", got)
	}
}
