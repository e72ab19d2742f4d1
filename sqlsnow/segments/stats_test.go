package segments

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestSegmentStatsJSON(t *testing.T) {
	s := Stats{Issued: 1, Left: 2, Step: 3, Refills: 4, Waits: 5, Regressions: 6, Databases: []Database{
		{Up: true, Residue: 1, Left: 7, Takes: 8, Failures: 9}, {Err: errors.New("no route"), Residue: -1},
	}}
	const want = `{"issued":1,"left":2,"step":3,"refills":4,"waits":5,"regressions":6,"databases":[` +
		`{"up":true,"residue":1,"left":7,"takes":8,"failures":9},{"up":false,"residue":-1,"left":0,"takes":0,"failures":0,"error":"no route"}]}`
	if got, err := json.Marshal(s); string(got) != want || err != nil {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}
