package sqlsnow

import (
	"encoding/json"
	"time"
)

// LeaseStats says how a lease is doing. In JSON, for expvar and logs, durations
// are whole nanoseconds and Err is the text of the error; a driver's error may
// name the database's host and user.
type LeaseStats struct {
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

// MarshalJSON returns an object with the fields of s.
func (s LeaseStats) MarshalJSON() ([]byte, error) {
	type fields LeaseStats
	text := ""
	if s.Err != nil {
		text = s.Err.Error()
	}
	return json.Marshal(struct {
		fields
		Err string `json:"error,omitempty"`
	}{fields(s), text})
}
