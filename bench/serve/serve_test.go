package serve

import (
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

func TestMeasure(t *testing.T) {
	server := dbtest.MariaDB(t)
	o := Options{Connections: 4, Rounds: 2, Turn: 20 * time.Millisecond, Progress: func(line string) { t.Log(line) }}
	result, err := o.measure(t.Context(), server.DSN(server.CreateDatabase(t)))
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Rounds) != 2 || result.Version == "" || result.Connections != 4 {
		t.Errorf("got %+v", result)
	}
	for _, r := range result.Rounds {
		for _, l := range []Load{r.Empty, r.Single, r.Batch, r.Sequence} {
			if !(l.Rate > 0) || l.P99 <= 0 {
				t.Errorf("a turn without answers: %+v", r)
			}
		}
	}
}

func TestRatios(t *testing.T) {
	round := func(single float64) Round {
		return Round{Empty: Load{100, 10}, Single: Load{single, 12}, Batch: Load{50, 20}, Sequence: Load{10, 90}}
	}
	r := Result{Rounds: []Round{round(80), round(100), round(1000)}}
	for name, got := range map[string][2]float64{
		"SingleRate": {r.SingleRate(), 1}, "SingleP99": {r.SingleP99(), 1.2}, "BatchRate": {r.BatchRate(), 50}, "SequenceRate": {r.SequenceRate(), 10},
	} {
		if got[0] != got[1] {
			t.Errorf("%s is %v, want %v", name, got[0], got[1])
		}
	}
}
