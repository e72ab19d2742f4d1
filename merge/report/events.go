package report

import "time"

// An Event tells how a run goes on.
type Event struct {
	Kind   EventKind
	Phase  string // "mint", "copy", "link" or "verify"; empty where it is the run as a whole
	Source string // with Table; empty where it is the phase as a whole
	Table  string

	// Rows of the source and table that the phase has dealt with, by earlier runs
	// too, and how many there are in all; -1 while nobody knows.
	Rows, Total int64

	Batch int           // EventBatch: rows of the batch
	Took  time.Duration // EventBatch: its time
	Text  string        // EventWarning: what about
}

// An EventKind is what an [Event] tells.
type EventKind string

// The kinds of events.
const (
	EventPhase   EventKind = "phase"   // a phase begins
	EventTable   EventKind = "table"   // a source's table begins in this phase, or goes on after an earlier run
	EventBatch   EventKind = "batch"   // a transaction has ended, or as much was verified
	EventEnd     EventKind = "end"     // a source's table is done in this phase
	EventPause   EventKind = "pause"   // the run waits, for Config.PauseFile or Merge.Pause
	EventResume  EventKind = "resume"  // it goes on
	EventWarning EventKind = "warning" // something that people should know of
)
