package opaquecost

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestMeasure(t *testing.T) {
	r, err := Measure(t.Context(), Options{Rounds: 2, IDs: 50, Progress: func(line string) { t.Log(line) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Ways) != 6 {
		t.Errorf("got %d ways", len(r.Ways))
	}
	for _, w := range r.Ways {
		if len(w.Write) != 2 || len(w.Read) != 2 || w.Example == "" {
			t.Errorf("%+v", w)
		}
		// the race detector empties pools of buffers now and then
		if strings.HasPrefix(w.Name, "opaque") && (w.WriteAllocs >= 2 || w.ReadAllocs >= 1) {
			t.Errorf("%s allocates %v and %v times", w.Name, w.WriteAllocs, w.ReadAllocs)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Measure(ctx, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
