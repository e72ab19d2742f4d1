package page

import (
	"time"

	"github.com/shardsnow/snow"
)

// The observations of a counter that are kept: one in each step, as many as make an hour.
const (
	observeEvery = 10 * time.Second
	observations = 360
)

// A history is what was seen of a counter, the oldest observation first.
type history struct {
	seen    []observation
	minutes minutes
}

type observation struct {
	at   time.Time // of the database
	next snow.ID
}

// A rate is how fast a counter goes.
type rate struct {
	perSecond float64
	over      time.Duration // 0 if there is no rate yet
	line      sparkView     // of the last hour
}

// observe adds what a database has to the histories of its counters, and returns their rates.
func observe(all map[string]*history, s state) map[string]rate {
	rates := make(map[string]rate, len(s.counters))
	for _, c := range s.counters {
		h := all[c.Tag]
		if h == nil {
			h = &history{}
			all[c.Tag] = h
		}
		r := h.add(observation{s.now, c.Next}, c.Databases)
		h.minutes.observe(s.now, uint64(c.Next)/uint64(max(c.Databases, 1)))
		r.line = sparkOf("numbers", false, h.minutes.last(s.now), s.now)
		rates[c.Tag] = r
	}
	for tag := range all {
		if _, ok := rates[tag]; !ok {
			delete(all, tag)
		}
	}
	return rates
}

// add adds an observation, and returns the rate since the oldest one. The numbers of a counter are apart by the number
// of the databases. A counter or a clock that went back begins anew.
func (h *history) add(o observation, apart int64) rate {
	n := len(h.seen)
	if n > 0 && (o.next < h.seen[n-1].next || o.at.Before(h.seen[n-1].at)) {
		h.seen, n = h.seen[:0], 0
	}
	if n == 0 || o.at.Sub(h.seen[n-1].at) >= observeEvery {
		if n == observations {
			copy(h.seen, h.seen[1:])
			h.seen = h.seen[:n-1]
		}
		h.seen = append(h.seen, o)
	}
	over := o.at.Sub(h.seen[0].at)
	if over <= 0 {
		return rate{}
	}
	return rate{perSecond: float64(o.next-h.seen[0].next) / float64(max(apart, 1)) / over.Seconds(), over: over}
}
