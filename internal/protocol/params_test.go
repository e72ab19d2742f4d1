package protocol

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dberrors"
)

// The raises that a failover can lose never reach beyond the time that the next
// holder waits. The test adds them up one by one.
func TestParamsOutlastALoss(t *testing.T) {
	for _, tick := range []time.Duration{time.Millisecond, 7 * time.Millisecond, 100 * time.Millisecond, time.Second} {
		for loss := time.Second; loss <= LongestLoss; loss += 700 * time.Millisecond {
			c := NewParams(loss, 10*time.Minute, 30*time.Second, tick)
			raise := (c.Raise + tick - 1) / tick * tick
			lost := time.Duration(0)
			for at := time.Duration(0); at <= loss; at += c.MinRenew { // the first one just before the failover
				lost += raise
			}
			if c.Probation <= loss+eps || c.Grace+c.Probation < lost+eps {
				t.Fatalf("tick %v, loss %v: probation %v and grace %v against %v lost", tick, loss, c.Probation, c.Grace, lost)
			}
			c.Layout, c.Workers = snow.DefaultLayout(), 1024
			if err := c.Check(); err != nil && tick == time.Millisecond {
				t.Fatalf("loss %v: %v", loss, err)
			}
			for name, spoil := range map[string]func(*Params){
				"probation": func(c *Params) { c.Probation = c.Loss },
				"grace":     func(c *Params) { c.Grace = 0; c.Raise *= 4 },
				"min renew": func(c *Params) { c.MinRenew = 0 },
				"first":     func(c *Params) { c.First = c.Grace + c.Probation + time.Second },
				"claim":     func(c *Params) { c.Claim = c.Probation },
				"window":    func(c *Params) { c.Window = 0 },
			} {
				bad := c
				spoil(&bad)
				if err := bad.Check(); !errors.Is(err, dberrors.ErrNamespaceMismatch) {
					t.Fatalf("loss %v: unsafe constants (%s) pass", loss, name)
				}
			}
		}
	}
	c := NewParams(5*time.Second, 10*time.Minute, 30*time.Second, time.Millisecond)
	if c.Probation != 6*time.Second || c.MinRenew != 10*time.Second || c.Raise != 20*time.Second || c.First != 20*time.Second || c.Grace.Round(time.Second) != 20*time.Second {
		t.Errorf("constants of a loss window of 5 s are not those of the documentation: %+v", c)
	}
	if c := NewParams(0, time.Minute, time.Minute, time.Millisecond); c.Probation != 0 || c.Grace != 0 || c.MinRenew != 0 || c.First != time.Minute {
		t.Errorf("constants without a loss window: %+v", c)
	}
}

func TestTicks(t *testing.T) {
	c := Params{Layout: snow.DefaultLayout()}
	epoch := snow.DefaultLayout().Epoch()
	for d, want := range map[time.Duration]int64{0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, time.Second: 1000} {
		if got := c.Ticks(d); got != want {
			t.Errorf("ticks(%v) = %d, want %d", d, got, want)
		}
	}
	for us, want := range map[int64]int64{0: 0, 999: 0, 1000: 1, 1999: 1, 86_400_000_000: 86_400_000} {
		if got := c.TickAt(epoch.UnixMicro() + us); got != want {
			t.Errorf("tickAt(%d µs) = %d, want %d", us, got, want)
		}
	}
	if got := c.TimeOf(1500); !got.Equal(epoch.Add(1500 * time.Millisecond)) {
		t.Errorf("timeOf(1500) = %v", got)
	}
	if got := c.TimeOf(math.MaxInt64); got.Before(epoch.AddDate(200, 0, 0)) {
		t.Errorf("timeOf(MaxInt64) = %v", got)
	}
}

// Large namespaces renew half as often, but never later than a third of the window.
func TestRenewEvery(t *testing.T) {
	for _, test := range []struct {
		workers      int64
		window, want time.Duration
	}{
		{1024, 10 * time.Minute, 30 * time.Second},
		{1024, 24 * time.Hour, 30 * time.Second},
		{4096, 10 * time.Minute, 30 * time.Second},
		{4097, 10 * time.Minute, time.Minute},
		{65_536, 24 * time.Hour, time.Minute},
		{65_536, 7 * time.Minute, 42 * time.Second},
		{65_536, 5 * time.Minute, 30 * time.Second},
		{65_536, 30 * time.Second, 10 * time.Second},
		{1024, 30 * time.Second, 10 * time.Second},
		{65_536, 3 * time.Millisecond, time.Millisecond},
	} {
		p := Params{Workers: test.workers, Window: test.window}
		if got := p.RenewEvery(test.window); got != test.want {
			t.Errorf("%d numbers, a window of %v: got %v, want %v", test.workers, test.window, got, test.want)
		}
		if got, want := p.Late(), 2*test.want+time.Second; got != want {
			t.Errorf("%d numbers, a window of %v: late after %v, want %v", test.workers, test.window, got, want)
		}
	}
}
