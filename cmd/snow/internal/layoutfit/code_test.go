package layoutfit

import (
	"testing"
	"time"

	"github.com/shardsnow/snow"
)

// The code that fit prints is the code that makes the layout.
func TestCode(t *testing.T) {
	layout := func(l snow.Layout, err error) snow.Layout {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for want, l := range map[string]snow.Layout{
		"snow.DefaultLayout()": snow.DefaultLayout(),
		"snow.DefaultShards()": snow.DefaultShards(),
		"snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 9, Sequence: 5, Shard: 8})": layout(
			snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 9, Sequence: 5, Shard: 8})),
		"snow.NewLayout(time.Date(2025, 7, 31, 1, 2, 3, 4000000, time.UTC), 10*time.Millisecond, snow.Bits{Timestamp: 40, Datacenter: 2, Worker: 4, Sequence: 5})": layout(
			snow.NewLayout(time.Date(2025, 7, 31, 1, 2, 3, 4000000, time.UTC), 10*time.Millisecond, snow.Bits{Timestamp: 40, Datacenter: 2, Worker: 4, Sequence: 5})),
		"snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), 1500*time.Microsecond, snow.Bits{Timestamp: 41, Sequence: 1})": layout(
			snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), 1500*time.Microsecond, snow.Bits{Timestamp: 41, Sequence: 1})),
	} {
		if got := Code(l); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
