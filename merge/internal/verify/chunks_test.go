package verify

import (
	"testing"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// The ids of each chunk are above all ids of the chunks before, in whatever order the chunks are read.
func TestAscends(t *testing.T) {
	for _, test := range []struct {
		name  string
		edges map[int64][2]int64 // by the number of the chunk
		want  int64              // failures
	}{
		{"no chunks", nil, 0},
		{"one after another", map[int64][2]int64{3: {31, 40}, 1: {1, 10}, 2: {11, 30}}, 0},
		{"of one id each", map[int64][2]int64{1: {1, 1}, 2: {2, 2}}, 0},
		{"with the id of the one before", map[int64][2]int64{1: {1, 10}, 2: {10, 20}}, 1},
		{"in the wrong order", map[int64][2]int64{1: {11, 20}, 2: {1, 10}}, 1},
		{"below the one before last", map[int64][2]int64{1: {11, 20}, 2: {1, 10}, 3: {15, 30}}, 2},
	} {
		f := &tableCheck{total: newFindings(), edges: test.edges}
		f.Chunks = newTableCheck(&ledger.SourceTable{Source: "a", Table: &plan.Table{Name: "players"}}, ledger.Chunk{}, nil, nil).Chunks
		f.ascends()
		if f.total.failed != test.want {
			t.Errorf("%s: got %v, want %d failures", test.name, f.total.failures, test.want)
		}
		for _, failure := range f.total.failures {
			if failure.Check != report.CheckOrder || failure.Source != "a" || failure.Table != "players" {
				t.Errorf("%s: got %+v", test.name, failure)
			}
		}
	}
}
