package sqlsnow

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
)

func layout(t testing.TB, timestamp, worker, sequence uint8) snow.Layout {
	t.Helper()
	l, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: timestamp, Worker: worker, Sequence: sequence})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// What a failover can lose is never more than what the next holder waits for,
// computed the slow way: raise by raise.
func TestTermsOutlastALoss(t *testing.T) {
	for _, tick := range []time.Duration{time.Millisecond, 7 * time.Millisecond, 100 * time.Millisecond, time.Second} {
		for loss := time.Second; loss <= longestLoss; loss += 700 * time.Millisecond {
			c := termsFor(loss, 10*time.Minute, 30*time.Second, tick)
			raise := (c.raise + tick - 1) / tick * tick
			lost := time.Duration(0)
			for at := time.Duration(0); at <= loss; at += c.minRenew { // the first one just before the failover
				lost += raise
			}
			if c.probation <= loss+eps || c.grace+c.probation < lost+eps {
				t.Fatalf("tick %v, loss %v: probation %v and grace %v against %v lost", tick, loss, c.probation, c.grace, lost)
			}
			c.layout, c.workers = snow.Default(), 1024
			if err := c.check(); err != nil && tick == time.Millisecond {
				t.Fatalf("loss %v: %v", loss, err)
			}
			for name, spoil := range map[string]func(*terms){
				"probation": func(c *terms) { c.probation = c.loss },
				"grace":     func(c *terms) { c.grace = 0; c.raise *= 4 },
				"min renew": func(c *terms) { c.minRenew = 0 },
				"first":     func(c *terms) { c.first = c.grace + c.probation + time.Second },
				"claim":     func(c *terms) { c.claim = c.probation },
				"window":    func(c *terms) { c.window = 0 },
			} {
				bad := c
				spoil(&bad)
				if err := bad.check(); !errors.Is(err, ErrNamespaceMismatch) {
					t.Fatalf("loss %v: unsafe constants (%s) pass", loss, name)
				}
			}
		}
	}
	c := termsFor(5*time.Second, 10*time.Minute, 30*time.Second, time.Millisecond)
	if c.probation != 6*time.Second || c.minRenew != 10*time.Second || c.raise != 20*time.Second || c.first != 20*time.Second || c.grace.Round(time.Second) != 20*time.Second {
		t.Errorf("constants of a loss window of 5 s are not those of the documentation: %+v", c)
	}
	if c := termsFor(0, time.Minute, time.Minute, time.Millisecond); c.probation != 0 || c.grace != 0 || c.minRenew != 0 || c.first != time.Minute {
		t.Errorf("constants without a loss window: %+v", c)
	}
}

func TestNamespaceTerms(t *testing.T) {
	hours, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Hour, snow.Bits{Timestamp: 30, Worker: 12, Sequence: 20})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		ns    Namespace
		field string
	}{
		"defaults":            {Namespace{Name: "a", Layout: snow.Default()}, ""},
		"long ticks":          {Namespace{Name: "a", Layout: hours}, ""},
		"every character":     {Namespace{Name: "Ab9._-:/", Layout: snow.Default(), Workers: 1024}, ""},
		"short windows":       {Namespace{Name: "a", Layout: snow.Default(), Window: 3 * time.Millisecond, PinnedWindow: 3 * time.Millisecond}, ""},
		"no name":             {Namespace{Layout: snow.Default()}, "namespace"},
		"long name":           {Namespace{Name: strings.Repeat("n", 65), Layout: snow.Default()}, "namespace"},
		"space":               {Namespace{Name: "a ", Layout: snow.Default()}, "namespace"},
		"not ASCII":           {Namespace{Name: "ä", Layout: snow.Default()}, "namespace"},
		"no layout":           {Namespace{Name: "a"}, "Layout"},
		"negative workers":    {Namespace{Name: "a", Layout: snow.Default(), Workers: -1}, "Workers"},
		"too many workers":    {Namespace{Name: "a", Layout: snow.Default(), Workers: 1025}, "Workers"},
		"negative loss":       {Namespace{Name: "a", Layout: snow.Default(), LossWindow: -1}, "LossWindow"},
		"long loss":           {Namespace{Name: "a", Layout: snow.Default(), LossWindow: time.Hour}, "LossWindow"},
		"part of a ms":        {Namespace{Name: "a", Layout: snow.Default(), Window: time.Second + 1}, "Window"},
		"window of 2 ticks":   {Namespace{Name: "a", Layout: hours, Window: 2 * time.Hour}, "Window"},
		"long window":         {Namespace{Name: "a", Layout: snow.Default(), Window: 25 * time.Hour}, "Window"},
		"short with loss":     {Namespace{Name: "a", Layout: snow.Default(), LossWindow: time.Second, Window: 10 * time.Second}, "Window"},
		"pinned with loss":    {Namespace{Name: "a", Layout: snow.Default(), LossWindow: time.Second, PinnedWindow: time.Second}, "PinnedWindow"},
		"loss and long ticks": {Namespace{Name: "a", Layout: hours, LossWindow: time.Second}, "LossWindow"},
	} {
		got, err := test.ns.terms()
		var field *snow.FieldError
		switch {
		case test.field == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.field == "" && got.check() != nil:
			t.Errorf("%s: %v", name, got.check())
		case test.field != "" && (!errors.As(err, &field) || field.Field != test.field):
			t.Errorf("%s: got %v, want a FieldError of %s", name, err, test.field)
		}
	}
	if got, err := (Namespace{Name: "a", Layout: snow.GameServers()}).terms(); err != nil || got.workers != 1024 || got.window != 10*time.Minute || got.pinned != 30*time.Second {
		t.Errorf("defaults: %+v, %v", got, err)
	}
	if got, err := (Namespace{Name: "a", Layout: hours}).terms(); err != nil || got.window != 3*time.Hour || got.pinned != 3*time.Hour {
		t.Errorf("defaults with ticks of an hour: %+v, %v", got, err)
	}
}

func TestTicks(t *testing.T) {
	c := terms{layout: snow.Default()}
	epoch := snow.Default().Epoch()
	for d, want := range map[time.Duration]int64{0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, time.Second: 1000} {
		if got := c.ticks(d); got != want {
			t.Errorf("ticks(%v) = %d, want %d", d, got, want)
		}
	}
	for us, want := range map[int64]int64{0: 0, 999: 0, 1000: 1, 1999: 1, 86_400_000_000: 86_400_000} {
		if got := c.tickAt(epoch.UnixMicro() + us); got != want {
			t.Errorf("tickAt(%d µs) = %d, want %d", us, got, want)
		}
	}
	if got := c.timeOf(1500); !got.Equal(epoch.Add(1500 * time.Millisecond)) {
		t.Errorf("timeOf(1500) = %v", got)
	}
	if got := c.timeOf(math.MaxInt64); got.Before(epoch.AddDate(200, 0, 0)) {
		t.Errorf("timeOf(MaxInt64) = %v", got)
	}
}

func TestVote(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const hour = time.Hour
	for name, test := range map[string]struct {
		database, local time.Duration // off by, at the second look, which is a minute after the first
		slept           time.Duration // that the monotonic clock did not see
		refused         bool
	}{
		"all agree":                         {},
		"within the bound":                  {database: 25 * time.Second},
		"the database is ahead":             {database: hour, refused: true},
		"the database is behind":            {database: -hour, refused: true},
		"the local clock is a day ahead":    {local: 24 * hour},
		"the local clock is a day behind":   {local: -24 * hour},
		"the process was suspended":         {slept: hour},
		"both clocks were corrected":        {database: -hour, local: -hour},
		"nobody agrees":                     {database: hour, local: -hour, refused: true},
		"suspended with a wrong clock":      {slept: hour, local: 24 * hour, refused: true},
		"the database is at 1970":           {database: -56 * 365 * 24 * hour, refused: true},
		"the local clock just at the bound": {database: time.Hour, local: time.Hour + 30*time.Second},
	} {
		v := vote{maxSkew: 30 * time.Second}
		if err := v.take(start.UnixMicro(), 0, reading{mono: 0, wall: start}); err != nil {
			t.Fatal(err)
		}
		later := start.Add(time.Minute + test.slept)
		mono := time.Minute + 20*time.Millisecond
		now := reading{mono: mono, wall: later.Add(test.local + 10*time.Millisecond)}
		err := v.take(later.Add(test.database).UnixMicro(), time.Minute, now)
		var clock *ClockError
		if refused := errors.As(err, &clock); refused != test.refused {
			t.Errorf("%s: %v", name, err)
		}
		want := later.Add(test.database + 10*time.Millisecond)
		if test.refused {
			want = start.Add(mono)
			if !clock.Database.Equal(later.Add(test.database)) || clock.Predicted.IsZero() || clock.Local.IsZero() {
				t.Errorf("%s: the error has %+v", name, clock)
			}
		}
		if got := time.UnixMicro(v.predict(mono)); !got.Equal(want) {
			t.Errorf("%s: predicted %v, want %v", name, got.UTC(), want)
		}
	}
	var v vote
	v.maxSkew = 30 * time.Second
	var clock *ClockError
	if err := v.take(start.UnixMicro(), 0, reading{mono: 0, wall: start.Add(time.Minute)}); !errors.As(err, &clock) || !clock.Predicted.IsZero() {
		t.Errorf("the first look, a minute apart: %v", err)
	}
	for range 2 {
		if msg := clock.Error(); !strings.Contains(msg, "2026-03-01T12:00:00.000Z") || !strings.Contains(msg, "2026-03-01T12:01:00.000Z") {
			t.Errorf("message %q", msg)
		}
	}
}
