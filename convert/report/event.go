package report

// A Kind is what an Event is about.
type Kind string

// The kinds of events.
const (
	Measures     Kind = "measures" // orphans are counted, before the first step
	StepBegins   Kind = "step begins"
	StepVerified Kind = "step verified"
	StepUndone   Kind = "step undone"
	Progress     Kind = "progress"   // Done and Of say how far the step is
	Waits        Kind = "waits"      // Why says for what
	GoesOn       Kind = "goes on"    // after Waits
	TakesOver    Kind = "takes over" // Why says from whom, and what it waits for
)

// An Event is something that happens in a conversion.
type Event struct {
	Kind  Kind
	Step  string // its name
	Title string // one sentence
	Back  string // StepBegins: until when the step can be taken back
	Done  int64  // rows
	Of    int64  // about so many rows
	Why   string
}
