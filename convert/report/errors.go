package report

import (
	"fmt"
	"strings"
	"time"
)

// A GateError says that the conversion has come to a gate: programs must do something before it goes on. It is no
// failure. Run goes on when the gate's name is among Config.Gates.
type GateError struct {
	Gate string // its name, such as "count"
	Step string // the step behind it
	What string // what the programs must do before
}

func (e *GateError) Error() string {
	return fmt.Sprintf("the conversion waits at gate %q, before step %q: %s", e.Gate, e.Step, e.What)
}

// A PlanError says that the database is being converted by another plan.
type PlanError struct {
	Differences []string // each names a part of the plan, what the run has there, and what is given
}

func (e *PlanError) Error() string {
	return "another plan is being carried out in this database, go on with that one, or take it back first; they differ in: " +
		strings.Join(e.Differences, "; ")
}

// A RunningError says that another process converts the database, or that its session has not ended yet.
type RunningError struct {
	Holder string        // see Config.Holder
	Since  time.Duration // ago it was heard last, by the database's clock
	Lease  time.Duration // after so long it may be displaced
}

func (e *RunningError) Error() string {
	return fmt.Sprintf("%q converts this database, and was heard %v ago; it is displaced when it is silent for %v",
		e.Holder, e.Since.Round(time.Millisecond), e.Lease)
}

// An OvertakenError says that another run took over, because this process was silent for too long. What this
// process had not committed is rolled back.
type OvertakenError struct {
	Holder string // who has taken over, if that is known
}

func (e *OvertakenError) Error() string {
	if e.Holder == "" {
		return "another run has taken over"
	}
	return fmt.Sprintf("another run has taken over: %q", e.Holder)
}

// A StepError says which step failed, and at what.
type StepError struct {
	Step string
	At   string // do, verify or undo
	Err  error
}

func (e *StepError) Error() string {
	switch e.At {
	case "verify":
		return fmt.Sprintf("step %q was done, but it is not as it should be: %v", e.Step, e.Err)
	case "undo":
		return fmt.Sprintf("step %q was not taken back: %v", e.Step, e.Err)
	}
	return fmt.Sprintf("step %q: %v", e.Step, e.Err)
}

func (e *StepError) Unwrap() error { return e.Err }

// A RefusedError says that Config.Confirm did not agree to a step.
type RefusedError struct {
	Step string
	Err  error // what Confirm returned
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("step %q was not confirmed: %v", e.Step, e.Err)
}
func (e *RefusedError) Unwrap() error { return e.Err }
