package work

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// The sample of a column does not depend on the order of its rows, nor on the portions that are read.
func TestSampleIsTheSame(t *testing.T) {
	var values []any
	for i := range 3 * mostSamples {
		values = append(values, int64(i), fmt.Sprint("[", i, ", 7]"), fmt.Sprint("text ", i%40), nil, []byte{byte(i)})
	}
	var want sample
	for _, v := range values {
		want = want.look(v)
	}
	if len(want) != mostSamples || !slices.IsSortedFunc(want, func(a, b sampled) int {
		if a.hash < b.hash {
			return -1
		}
		return 1
	}) {
		t.Fatalf("%d values, or in another order than their hashes", len(want))
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		portions := make([]sample, 1+r.IntN(5))
		for _, v := range values {
			at := r.IntN(len(portions))
			portions[at] = portions[at].look(v)
		}
		var got sample
		for _, portion := range portions {
			for _, v := range portion {
				got = got.add(v)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: another sample", seed)
		}
	}
}

func TestSampleIDs(t *testing.T) {
	var s sample
	for _, v := range []any{int64(7), "3", "[5, 6]", int64(7), "no number", int64(-1), "0"} {
		s = s.look(v)
	}
	if ids, may := s.ids(); !may || !slices.Equal(ids, []int64{3, 5, 7}) {
		t.Errorf("got %v, %v", ids, may)
	}
	if ids, may := (sample{}).look("no number").look(nil).ids(); may || len(ids) > 0 {
		t.Errorf("of a text: got %v, %v", ids, may)
	}
}
