package sqlsnow

import (
	"encoding/json"
	"time"
)

// LeaseStats tells how a lease is doing. In JSON, for expvar and logs, durations
// are whole nanoseconds and Err is the text of the error; that of a driver may
// name the database's host and user.
type LeaseStats struct {
	Datacenter uint64        `json:"datacenter"`
	Worker     uint64        `json:"worker"`   // may change, see Swaps
	Fence      int64         `json:"fence"`    // how often this number was leased, this time included
	Ceiling    time.Time     `json:"ceiling"`  // ids end here if no renewal succeeds any more; in the database's time
	Left       time.Duration `json:"left_ns"`  // from the time of the next id to Ceiling; 0 where there is none
	Renewed    time.Time     `json:"renewed"`  // the last renewal that succeeded; in the database's time
	Renewals   uint64        `json:"renewals"` // that succeeded
	Failures   uint64        `json:"failures"` // statements and attempts that did not
	Swaps      uint64        `json:"swaps"`    // times that the number was lost and another one taken
	Skew       time.Duration `json:"skew_ns"`  // how far the database's clock was ahead of this process's at the last look
	Err        error         `json:"-"`        // of the last attempt; nil after a success
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

// Stats returns how the lease is doing. It asks nobody and takes no time. A
// readiness probe looks at Left; a liveness probe has no business here, for a
// restart throws the rest of the window away.
func (l *Lease) Stats() LeaseStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	if l.grant != nil {
		s.Ceiling = l.registry.terms.timeOf(l.ceiling)
		if s.Left = max(0, s.Ceiling.Sub(l.running())); l.stopped || l.err != nil {
			s.Left = 0
		}
	}
	return s
}

// MarshalJSON returns an object with the fields of s, for expvar and logs.
func (s SegmentStats) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Issued      uint64            `json:"issued"`
		Left        int64             `json:"left"`
		Step        int64             `json:"step"`
		Refills     uint64            `json:"refills"`
		Waits       uint64            `json:"waits"`
		Regressions uint64            `json:"regressions"`
		Databases   []SegmentDatabase `json:"databases"`
	}{s.Issued, s.Left, s.Step, s.Refills, s.Waits, s.Regressions, s.Databases})
}

// MarshalJSON returns an object with the fields of d; of Err the text, if there
// is an error.
func (d SegmentDatabase) MarshalJSON() ([]byte, error) {
	text := ""
	if d.Err != nil {
		text = d.Err.Error()
	}
	return json.Marshal(struct {
		Up       bool   `json:"up"`
		Residue  int64  `json:"residue"`
		Left     int64  `json:"left"`
		Takes    uint64 `json:"takes"`
		Failures uint64 `json:"failures"`
		Err      string `json:"error,omitempty"`
	}{d.Up, d.Residue, d.Left, d.Takes, d.Failures, text})
}
