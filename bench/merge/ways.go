package merge

import "time"

// Ways compares the two ways that rows of one MariaDB server were merged: through a Go process, and by SQL inside the
// server. The second way was removed after this measurement, so nothing measures it again.
type Ways struct {
	Version string    `json:"version"` // of MariaDB
	Shapes  []string  `json:"shapes"`
	Runs    []WaysRun `json:"runs"`
}

// A WaysRun is one round of all shapes.
type WaysRun struct {
	Server bool            `json:"server"` // SQL inside the server
	Rows   int             `json:"rows"`   // of a shape's last table
	Others float64         `json:"others"` // cores that other processes kept busy, on average
	Note   string          `json:"note,omitempty"`
	Counts bool            `json:"counts"` // it is compared with the run of the other way
	Floor  []time.Duration `json:"floor"`  // INSERT … SELECT, for each shape
	Run    []time.Duration `json:"run"`    // the merge with its verification
}

// Other returns the run of the other way that a run is compared with, or nil.
func (w Ways) Other(r WaysRun) *WaysRun {
	for i, o := range w.Runs {
		if o.Counts && r.Counts && o.Rows == r.Rows && o.Server != r.Server {
			return &w.Runs[i]
		}
	}
	return nil
}

// Sum returns how long all shapes of a run took.
func (r WaysRun) Sum() (all time.Duration) {
	for _, took := range r.Run {
		all += took
	}
	return all
}
