package numbercost_test

import (
	"testing"

	"github.com/shardsnow/snow/bench/numbercost"
)

func TestMeasure(t *testing.T) {
	all, err := numbercost.Measure(t.Context(), numbercost.Options{Turns: 1, Rows: 20, Loss: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 4*len(numbercost.Ways) {
		t.Errorf("got %d results", len(all))
	}
	for _, r := range all {
		if len(r.PerSecond) != 1 || r.PerSecond[0] <= 0 {
			t.Errorf("got %+v", r)
		}
	}
}
