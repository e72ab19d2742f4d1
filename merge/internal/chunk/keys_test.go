package chunk_test

import (
	"math"
	"slices"
	"testing"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestRuns(t *testing.T) {
	e, err := dialect.Of(sqlsnow.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		ids  []int64
		want []string
	}{
		{"none", nil, nil},
		{"one", []int64{7}, []string{"id IN (7)"}},
		{"near to each other", []int64{-2, 1, 3, 4}, []string{"id BETWEEN -2 AND 4"}},
		{"far from each other", []int64{1, 10}, []string{"id IN (1,10)"}},
		{"as far as possible", []int64{math.MinInt64, math.MaxInt64}, []string{"id IN (-9223372036854775808,9223372036854775807)"}},
	} {
		var got []string
		err := chunk.Runs(e, "id", tt.ids, func(condition string, args []any) error {
			got = append(got, condition)
			return nil
		})
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q and %v, want %q", tt.name, got, err, tt.want)
		}
	}
}

// TestRunsAreBounded fails if a statement reads many times as many rows as there are ids.
func TestRunsAreBounded(t *testing.T) {
	e, err := dialect.Of(sqlsnow.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []int64{1, 2, 3} {
		ids := make([]int64, 20*chunk.MaxIDs)
		for i := range ids {
			ids[i] = int64(i) * step
		}
		n := 0
		if err := chunk.Runs(e, "id", ids, func(string, []any) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		if want := map[int64]int{1: 2, 2: 20, 3: 20}[step]; n != want {
			t.Errorf("ids that are %d from each other: %d statements, want %d", step, n, want)
		}
	}
}
