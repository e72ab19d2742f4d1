// Package layoutfit finds the layout that meets given wishes with the fewest
// bits, or says how far each wish must give way. It is arithmetic only.
package layoutfit

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/shardsnow/snow"
)

// Wishes are what a layout is to be able to do. All must be set.
type Wishes struct {
	Years       float64 // of 365.2425 days, from now on
	Workers     uint64  // worker numbers in each datacenter
	Datacenters uint64
	Shards      uint64        // logical shards
	PerSecond   float64       // ids a second of one worker in the long run
	Tick        time.Duration // 1 µs to 1 h
	Bits        uint8         // of an id: at most 63, or 53 for numbers of JavaScript
	Epoch       time.Time     // not in the future
}

const yearSeconds = 365.2425 * 86400

// longestYears keeps ends of layouts within what package time can represent.
const longestYears = 1e6

// A MisfitError says that the wishes need more bits than there are.
type MisfitError struct {
	Need snow.Bits
	Sum  int   // the bits of Need
	Have uint8 // Wishes.Bits

	// Instead has what would fit: each is the nearest value of one wish while the others hold. A wish that can't
	// give way far enough is left out.
	Instead []Instead
}

// An Instead is the nearest value of a wish that fits.
type Instead struct {
	Wish  string // the field's name in lower case, with "rate" for PerSecond
	Value float64
}

// Error names the bits of each part, and what would fit.
func (e *MisfitError) Error() string {
	text := fmt.Sprintf("the wishes need %d bits (%d timestamp, %d datacenter, %d worker, %d sequence, %d shard), and there are %d",
		e.Sum, e.Need.Timestamp, e.Need.Datacenter, e.Need.Worker, e.Need.Sequence, e.Need.Shard, e.Have)
	if len(e.Instead) == 0 {
		return text + "; no single wish can give way far enough"
	}
	alternatives := make([]string, len(e.Instead))
	for i, a := range e.Instead {
		alternatives[i] = a.String()
	}
	return text + "; what would fit: " + strings.Join(alternatives, ", or ")
}

// String returns the wish and its value, such as "workers 256".
func (a Instead) String() string {
	switch a.Wish {
	case "tick":
		return "tick " + time.Duration(a.Value).String()
	case "years":
		return fmt.Sprintf("years %.1f", a.Value)
	}
	return fmt.Sprintf("%s %.0f", a.Wish, a.Value)
}

// Fit returns the layout with the fewest bits that meets w. The error is a
// [*MisfitError] if w needs too many, and otherwise a [*snow.FieldError].
func Fit(w Wishes, now time.Time) (snow.Layout, error) {
	if err := check(w, now); err != nil {
		return snow.Layout{}, err
	}
	need := w.need(now)
	if sum := sumOf(need); sum > int(w.Bits) {
		return snow.Layout{}, &MisfitError{Need: need, Sum: sum, Have: w.Bits, Instead: w.instead(now)}
	}
	return snow.NewLayout(w.Epoch, w.Tick, need)
}

func check(w Wishes, now time.Time) error {
	bad := func(field string, value any, bound string) error {
		return &snow.FieldError{Field: field, Value: fmt.Sprint(value), Bound: bound}
	}
	switch {
	case !(w.Years > 0 && w.Years <= longestYears):
		return bad("years", w.Years, "want more than 0, and at most a million")
	case w.Workers == 0:
		return bad("workers", w.Workers, "want at least 1")
	case w.Datacenters == 0:
		return bad("datacenters", w.Datacenters, "want at least 1")
	case w.Shards == 0:
		return bad("shards", w.Shards, "want at least 1")
	case !(w.PerSecond > 0 && w.PerSecond <= 1e18):
		return bad("rate", w.PerSecond, "want more than 0 ids a second")
	case w.Tick < time.Microsecond || w.Tick > time.Hour:
		return bad("tick", w.Tick, "want 1µs to 1h0m0s")
	case w.Bits < 2 || w.Bits > 63:
		return bad("bits", w.Bits, "want 2 to 63")
	case w.Epoch.After(now):
		return bad("epoch", w.Epoch.UTC().Format(time.RFC3339Nano), "it is in the future")
	}
	return nil
}

// need returns the fewest bits of each part.
func (w Wishes) need(now time.Time) snow.Bits {
	return snow.Bits{
		Timestamp:  max(1, bitsFor((w.past(now)+w.Years*yearSeconds)/w.Tick.Seconds())),
		Datacenter: bitsFor(float64(w.Datacenters)),
		Worker:     bitsFor(float64(w.Workers)),
		Sequence:   max(1, bitsFor(w.PerSecond*w.Tick.Seconds())),
		Shard:      bitsFor(float64(w.Shards)),
	}
}

// past returns the seconds from the epoch to now.
func (w Wishes) past(now time.Time) float64 {
	return float64(now.Unix()-w.Epoch.Unix()) + float64(now.Nanosecond()-w.Epoch.Nanosecond())/1e9
}

// bitsFor returns how many bits have n values or more.
func bitsFor(n float64) uint8 {
	var b uint8
	for math.Ldexp(1, int(b)) < n {
		b++
	}
	return b
}

// instead returns, for each wish, the nearest value with which the others hold.
func (w Wishes) instead(now time.Time) (all []Instead) {
	need := w.need(now)
	room := func(own uint8) int { return int(w.Bits) - (sumOf(need) - int(own)) }
	add := func(wish string, value, least float64) {
		if value >= least {
			all = append(all, Instead{wish, value})
		}
	}
	// A tenth of a year, rounded down, because the value is shown so.
	add("years", math.Floor(10*(math.Ldexp(w.Tick.Seconds(), room(need.Timestamp))-w.past(now))/yearSeconds)/10, 0.1)
	// A wish of one bit less than needed is no change if it needs none.
	if need.Datacenter > 0 {
		add("datacenters", math.Ldexp(1, room(need.Datacenter)), 1)
	}
	if need.Worker > 0 {
		add("workers", math.Ldexp(1, room(need.Worker)), 1)
	}
	if need.Sequence > 1 && room(need.Sequence) >= 1 {
		add("rate", math.Floor(math.Ldexp(1, room(need.Sequence))/w.Tick.Seconds()), 1)
	}
	if need.Shard > 0 {
		add("shards", math.Ldexp(1, room(need.Shard)), 1)
	}
	// Another tick helps where a part has more bits than it needs.
	for tick := time.Microsecond; tick <= time.Second; tick *= 10 {
		other := w
		other.Tick = tick
		if tick != w.Tick && sumOf(other.need(now)) <= int(w.Bits) {
			add("tick", float64(tick), 0)
			break
		}
	}
	return all
}

func sumOf(b snow.Bits) int {
	return int(b.Timestamp) + int(b.Datacenter) + int(b.Worker) + int(b.Sequence) + int(b.Shard)
}
