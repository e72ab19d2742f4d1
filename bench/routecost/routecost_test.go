package routecost

import (
	"context"
	"errors"
	"testing"
)

func TestMeasure(t *testing.T) {
	r, err := Measure(t.Context(), Options{Rounds: 2, Statements: 20, Queries: 3, Progress: func(line string) { t.Log(line) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Cases {
		if len(c.Plain) != 2 || len(c.Routed) != 2 || len(c.Again) != 2 || c.Allocs < 1 || c.RoutedAllocs < c.Allocs || c.RoutedAllocs > c.Allocs+6 {
			t.Errorf("%+v", c)
		}
	}
	if len(r.Cases) != 4 || len(r.Scatter.Alone) != 3 || len(r.Scatter.Asked) != 3 {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Measure(ctx, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestFigures(t *testing.T) {
	c := Case{Plain: []float64{10, 20, 30}, Routed: []float64{12, 21, 40}, Again: []float64{10, 21, 29}}
	if more, control := c.More(); more != 2 || control != 0 {
		t.Error(more, control)
	}
	s := Scatter{Alone: []float64{1e6, 3e6, 2e6}, Asked: []float64{1e6, 2e6, 4e6, 5e6}}
	if alone, asked := s.Medians(); alone != 2e6 || asked != 3e6 || s.Allowed() != 2.3e6 {
		t.Error(alone, asked, s.Allowed())
	}
}
