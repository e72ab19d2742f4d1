package snow

import (
	"encoding/json"
	"testing"
)

func TestStatsJSON(t *testing.T) {
	got, err := json.Marshal(Stats{1, 2, 3, 4, 5, 6, 7, 8})
	const want = `{"issued":1,"waits":2,"waited_ns":3,"borrowed_ns":4,"most_borrowed_ns":5,"clock_steps":6,"clock_lag_ns":7,"left_ns":8}`
	if string(got) != want || err != nil {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}
