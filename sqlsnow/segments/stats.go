package segments

import "encoding/json"

// Stats says how segments are doing.
type Stats struct {
	Issued      uint64     // ids given out
	Left        int64      // numbers at hand
	Step        int64      // how many are taken at once
	Refills     uint64     // how often numbers were taken in the background
	Waits       uint64     // calls that had to wait for numbers
	Regressions uint64     // how often a row was found to have gone back
	Databases   []Database // in the order of the call of Open
}

// A Database says how one of the databases is doing.
type Database struct {
	Up       bool   // it answered when it was asked last; it is asked only when numbers are needed
	Err      error  // of the last attempt; nil after a success
	Residue  int64  // its numbers have this residue modulo the number of databases; -1 until it has answered
	Left     int64  // its numbers at hand
	Takes    uint64 // how often numbers were taken from it
	Failures uint64 // how often that failed
}

// MarshalJSON returns an object with the fields of s, for expvar and logs.
func (s Stats) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Issued      uint64     `json:"issued"`
		Left        int64      `json:"left"`
		Step        int64      `json:"step"`
		Refills     uint64     `json:"refills"`
		Waits       uint64     `json:"waits"`
		Regressions uint64     `json:"regressions"`
		Databases   []Database `json:"databases"`
	}{s.Issued, s.Left, s.Step, s.Refills, s.Waits, s.Regressions, s.Databases})
}

// MarshalJSON returns an object with the fields of d. The text of Err is in
// "error", if there is an error.
func (d Database) MarshalJSON() ([]byte, error) {
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
