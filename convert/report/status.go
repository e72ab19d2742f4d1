package report

import "time"

// A State is how far a step is.
type State string

// The states.
const (
	Waiting  State = "waiting"  // nothing is done
	Doing    State = "doing"    // it has begun
	Done     State = "done"     // and is not verified
	Verified State = "verified" // and the next step may begin
	Undoing  State = "undoing"  // taking it back has begun
)

// A Status says how far a conversion is.
type Status struct {
	Begun    bool   // a run has been there
	Finished bool   // all steps are verified
	Phase    string // widen, count, finish; the phase of the next step
	Step     string // the next step, or the one that is worked on; empty if there is none
	Gate     string // the gate that the conversion waits at; empty if at none
	What     string // what the programs must do before it
	Steps    []StepStatus

	Running bool // a process works on it
	Holder  string
	Heard   time.Duration // ago it was heard last
	Done    int64         // rows of its step
	Of      int64         // about so many
}

// A StepStatus says how far a step is.
type StepStatus struct {
	Name  string
	Title string
	Phase string
	Table string
	State State
	Gate  string // what programs must do before it
	Block string // whom it blocks
	Back  string // until when it can be taken back

	Done, Of   int64         // rows
	Took       time.Duration // so far
	Statements []string
}
