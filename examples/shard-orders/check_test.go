package main

import (
	"testing"
	"time"

	"github.com/shardsnow/snow"
)

func TestClashes(t *testing.T) {
	for _, tt := range []struct {
		a, b []int64
		want int
	}{
		{nil, nil, 0},
		{[]int64{1, 2, 3}, nil, 0},
		{[]int64{1, 2, 3}, []int64{1, 2, 3, 4}, 3},
		{[]int64{1, 3, 5}, []int64{2, 4, 5}, 1},
		{[]int64{1, 3}, []int64{2, 4}, 0},
	} {
		if got := clashes(tt.a, tt.b); got != tt.want {
			t.Errorf("clashes(%v, %v) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestCountsUp(t *testing.T) {
	for _, tt := range []struct {
		keys []int64
		want bool
	}{
		{[]int64{1, 2, 3}, true},
		{[]int64{2, 3}, false},
		{[]int64{1, 3}, false},
		{[]int64{1, 1}, false},
	} {
		if got := countsUp(tt.keys); got != tt.want {
			t.Errorf("countsUp(%v) = %v, want %v", tt.keys, got, tt.want)
		}
	}
}

// smallStory has two orders of two lines each.
func smallStory(t *testing.T) (s *story, orders func() []Order) {
	t.Helper()
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	a := Purchase{FileLine: 2, Buyer: "bob", Item: "tea", Cents: 300, Time: at}
	b := Purchase{FileLine: 3, Buyer: "anna", Item: "cup", Cents: 990, Time: at}
	s = &story{purchases: [2][]Purchase{{a}, {b}}}
	if err := s.prepare(); err != nil {
		t.Fatal(err)
	}
	return s, func() []Order { return []Order{newOrder(1<<30, a), newOrder(1<<30+1, b)} }
}

func TestCompare(t *testing.T) {
	s, orders := smallStory(t)
	for _, tt := range []struct {
		name               string
		change             func(o []Order) []Order
		complete, attached bool
	}{
		{"the same", func(o []Order) []Order { return o }, true, true},
		{"one is missing", func(o []Order) []Order { return o[:1] }, false, true},
		{"one is there twice", func(o []Order) []Order { return append(o, o[0]) }, false, true},
		{"one in place of another", func(o []Order) []Order { return []Order{o[0], o[0]} }, false, true},
		{"another amount", func(o []Order) []Order { o[0].Cents++; return o }, false, true},
		{"another time", func(o []Order) []Order { o[0].Time = o[0].Time.Add(1); return o }, false, true},
		{"the same time elsewhere", func(o []Order) []Order { o[0].Time = o[0].Time.In(time.FixedZone("", 3600)); return o }, true, true},
		{"a line is missing", func(o []Order) []Order { o[0].Lines = o[0].Lines[:1]; return o }, true, false},
		{"lines are swapped", func(o []Order) []Order { o[0].Lines, o[1].Lines = o[1].Lines, o[0].Lines; return o }, true, false},
		{"a line too many", func(o []Order) []Order { o[0].Lines = append(o[0].Lines, o[1].Lines[0]); return o }, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			complete, attached := s.compare(tt.change(orders()))
			if complete != tt.complete || attached != tt.attached {
				t.Errorf("complete %v, attached %v, want %v, %v", complete, attached, tt.complete, tt.attached)
			}
		})
	}
}

func TestAllLiveIn(t *testing.T) {
	s, _ := smallStory(t)
	for _, tt := range []struct {
		database int
		ids      []snow.ID
		want     bool
	}{
		{0, []snow.ID{1 << 30}, true},
		{1, []snow.ID{1<<30 + 15}, true},
		{0, []snow.ID{1<<30 + 15}, false},
		{1, []snow.ID{1 << 30}, false},
		{0, nil, false},
		{0, []snow.ID{1 << 30, 1 << 31}, false},
	} {
		if got := s.allLiveIn(tt.database, tt.ids); got != tt.want {
			t.Errorf("allLiveIn(%d, %v) = %v, want %v", tt.database, tt.ids, got, tt.want)
		}
	}
}

func TestSimultaneous(t *testing.T) {
	s, _ := smallStory(t)
	const ms = 1 << 22
	if got := s.simultaneous([]snow.ID{ms, ms + 1, 3 * ms}, []snow.ID{ms + 2, 2 * ms}); got != 3 {
		t.Errorf("got %d, want 3: two of A and one of B in the first millisecond", got)
	}
}
