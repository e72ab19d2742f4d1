package layoutfit

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
)

var (
	epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	now   = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	usual = Wishes{Years: 60, Workers: 1024, Datacenters: 1, Shards: 1, PerSecond: 4_096_000, Tick: time.Millisecond, Bits: 63, Epoch: epoch}
)

func TestFit(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Wishes)
		want   string // of the layout, without the epoch, or of the error
	}{
		{"the default layout", func(*Wishes) {}, "41+0+10+12+0/1ms"},
		{"one worker more than a power of two", func(w *Wishes) { w.Workers, w.PerSecond = 1025, 2_048_000 }, "41+0+11+11+0/1ms"},
		{"one worker needs no bits", func(w *Wishes) { w.Workers = 1 }, "41+0+0+12+0/1ms"},
		{"a slow rate needs one bit", func(w *Wishes) { w.PerSecond = 1 }, "41+0+10+1+0/1ms"},
		{"JavaScript", func(w *Wishes) { w.Bits, w.Tick, w.Workers, w.PerSecond = 53, 10*time.Millisecond, 128, 25_600 }, "38+0+7+8+0/10ms"},
		{"datacenters and shards", func(w *Wishes) { w.Datacenters, w.Workers, w.Shards, w.PerSecond = 4, 16, 64, 1_000_000 }, "41+2+4+10+6/1ms"},
		{
			"too many workers", func(w *Wishes) { w.Workers = 4096 },
			"need 65 bits (41 timestamp, 0 datacenter, 12 worker, 12 sequence, 0 shard), and there are 63; what would fit: years 15.4, or workers 1024, or rate 1024000",
		},
		{
			"a tick that is too short for the rate", func(w *Wishes) { w.Tick, w.PerSecond, w.Workers = time.Microsecond, 100, 4096 },
			"or tick 10µs",
		},
		{"no years", func(w *Wishes) { w.Years = 0 }, "years 0: want more than 0"},
		{"years that are no number", func(w *Wishes) { w.Years = math.NaN() }, "years NaN"},
		{"no workers", func(w *Wishes) { w.Workers = 0 }, "workers 0: want at least 1"},
		{"no datacenters", func(w *Wishes) { w.Datacenters = 0 }, "datacenters 0"},
		{"no shards", func(w *Wishes) { w.Shards = 0 }, "shards 0"},
		{"no rate", func(w *Wishes) { w.PerSecond = 0 }, "rate 0"},
		{"no tick", func(w *Wishes) { w.Tick = 0 }, "tick 0s"},
		{"64 bits", func(w *Wishes) { w.Bits = 64 }, "bits 64: want 2 to 63"},
		{"an epoch in the future", func(w *Wishes) { w.Epoch = now.AddDate(1, 0, 0) }, "epoch 2027-01-01T00:00:00Z: it is in the future"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := usual
			tt.change(&w)
			l, err := Fit(w, now)
			got := strings.TrimSuffix(l.String(), "@2024-01-01T00:00:00Z")
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// present is the clock that snow.NewLayout uses as well.
var present = time.Now()

// A layout meets the wishes, and with one bit less in any part it does not. If there is none, each alternative
// fits, and twice its value does not.
func TestFitIsTheNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	fitted, refused := 0, 0
	for range 20_000 {
		w := Wishes{
			Years: 1 + 200*r.Float64(), Workers: 1 + r.Uint64N(1<<r.UintN(22)), Datacenters: 1 + r.Uint64N(1<<r.UintN(6)),
			Shards: 1 + r.Uint64N(1<<r.UintN(10)), PerSecond: math.Ldexp(1+r.Float64(), r.IntN(24)),
			Tick: []time.Duration{time.Millisecond, 10 * time.Millisecond, time.Second}[r.IntN(3)], Bits: 53 + uint8(r.UintN(11)), Epoch: present.AddDate(-2, 0, 0),
		}
		l, err := Fit(w, present)
		var misfit *MisfitError
		switch {
		case err == nil:
			fitted++
			checkFit(t, w, l)
		case errors.As(err, &misfit):
			refused++
			for _, a := range misfit.Instead {
				checkInstead(t, w, a)
			}
		default:
			t.Fatalf("%+v: %v", w, err)
		}
	}
	if fitted < 1000 || refused < 1000 {
		t.Errorf("%d fitted and %d were refused: the test sees too few of them", fitted, refused)
	}
}

func checkFit(t *testing.T, w Wishes, l snow.Layout) {
	t.Helper()
	b := l.Bits()
	years := float64(l.End().Unix()-present.Unix()) / yearSeconds
	sequences := math.Ldexp(1, int(b.Sequence))
	enough := years >= w.Years-1e-6 && uint64(l.Workers()) >= w.Workers && uint64(1)<<b.Datacenter >= w.Datacenters &&
		uint64(1)<<b.Shard >= w.Shards && sequences >= w.PerSecond*w.Tick.Seconds() && sumOf(b) <= int(w.Bits)
	tight := (b.Worker == 0 || uint64(l.Workers())/2 < w.Workers) && (b.Datacenter == 0 || uint64(1)<<b.Datacenter/2 < w.Datacenters) &&
		(b.Shard == 0 || uint64(1)<<b.Shard/2 < w.Shards) && (b.Sequence == 1 || sequences/2 < w.PerSecond*w.Tick.Seconds()) &&
		years < 2*w.Years+3
	if !enough || !tight {
		t.Errorf("%+v: %v: enough %v, tight %v", w, l, enough, tight)
	}
}

func checkInstead(t *testing.T, w Wishes, a Instead) {
	t.Helper()
	with := func(value float64) error {
		w := w
		switch a.Wish {
		case "years":
			w.Years = value
		case "workers":
			w.Workers = uint64(value)
		case "datacenters":
			w.Datacenters = uint64(value)
		case "shards":
			w.Shards = uint64(value)
		case "rate":
			w.PerSecond = value
		case "tick":
			w.Tick = time.Duration(value)
		}
		_, err := Fit(w, present)
		return err
	}
	if err := with(a.Value); err != nil {
		t.Errorf("%+v: %v does not fit: %v", w, a, err)
	}
	if a.Wish == "tick" {
		return
	}
	if err := with(2*a.Value + 3); err == nil { // the years that have passed since the epoch count as well
		t.Errorf("%+v: %v is not the nearest", w, a)
	}
}
