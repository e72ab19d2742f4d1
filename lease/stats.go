package lease

import (
	"encoding/json"
	"time"
)

// Stats says how a lease is doing. In JSON, for expvar and logs, durations
// are whole nanoseconds and Err is the text of the error; a driver's error may
// name the database's host and user.
type Stats struct {
	Datacenter uint64        `json:"datacenter"`
	Worker     uint64        `json:"worker"`   // may change, see Swaps
	Fence      int64         `json:"fence"`    // how often this number was leased, this time included
	Ceiling    time.Time     `json:"ceiling"`  // ids end here if no renewal succeeds any more; in the database's time
	Left       time.Duration `json:"left_ns"`  // from the time of the next id to Ceiling; 0 if no id can be made
	Renewed    time.Time     `json:"renewed"`  // the last renewal that succeeded; in the database's time
	Renewals   uint64        `json:"renewals"` // renewals that succeeded
	Failures   uint64        `json:"failures"` // statements and attempts that failed
	Swaps      uint64        `json:"swaps"`    // how often the number was lost and another one taken
	// how far the database's clock was ahead of this process's when it was last read
	Skew time.Duration `json:"skew_ns"`
	Err  error         `json:"-"` // of the last attempt; nil after a success
}

// shortest is how long ids must still last for Ready: a balancer that asks every 10 s, and takes the third no for an
// answer, has stopped sending requests then.
const shortest = 30 * time.Second

// Window returns how long the window was when it was confirmed last: the namespace's Window or PinnedWindow, and
// with a LossWindow less in the first minutes. Renewals are failing if less than a third of it is left.
func (s Stats) Window() time.Duration { return s.Ceiling.Sub(s.Renewed) }

// Ready reports whether ids can be made, and go on for half a minute if no renewal succeeds any more, or for a tenth
// of the window if that is less. It is for readiness probes, of every kind of lease. Liveness probes must not ask it.
func (s Stats) Ready() bool { return s.Left > min(shortest, s.Window()/10) }

// MarshalJSON returns an object with the fields of s.
func (s Stats) MarshalJSON() ([]byte, error) {
	type fields Stats
	text := ""
	if s.Err != nil {
		text = s.Err.Error()
	}
	return json.Marshal(struct {
		fields
		Err string `json:"error,omitempty"`
	}{fields(s), text})
}
