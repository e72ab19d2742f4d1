package fleet

import (
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// trips counts the messages that clients send to a server. Each is a round trip but for a few that need no reply,
// such as the end of a prepared statement.
type trips struct{ n atomic.Int64 }

// dial is a net.Dialer's DialContext whose connections are counted.
func (t *trips) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return counted{conn, t}, nil
}

// A counted connection counts the messages that are sent on it: the drivers write each with one call.
type counted struct {
	net.Conn
	trips *trips
}

func (c counted) Write(b []byte) (int, error) {
	c.trips.n.Add(1)
	return c.Conn.Write(b)
}

// times are durations, and the seconds in which they ended.
type times struct {
	mu      sync.Mutex
	begin   time.Time
	all     []time.Duration
	seconds map[int]int
}

func newTimes() *times { return &times{begin: time.Now(), seconds: map[int]int{}} }

func (t *times) add(d time.Duration) {
	second := int(time.Since(t.begin) / time.Second)
	t.mu.Lock()
	t.all = append(t.all, d)
	t.seconds[second]++
	t.mu.Unlock()
}

// busiest returns how many ended in the second that had the most.
func (t *times) busiest() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	most := 0
	for _, n := range t.seconds {
		most = max(most, n)
	}
	return most
}

// percentiles returns the number of durations, their median and their 99th percentile.
func (t *times) percentiles() (n int, p50, p99 time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.all) == 0 {
		return 0, 0, 0
	}
	slices.Sort(t.all)
	return len(t.all), t.all[len(t.all)/2], t.all[len(t.all)*99/100]
}
