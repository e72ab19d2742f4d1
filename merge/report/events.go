package report

import "time"

// An Event is one step of the progress of a run.
type Event struct {
	Kind   EventKind
	Phase  string // "dry-run", "mint", "copy", "link" or "verify"; empty for the run as a whole
	Source string // with Table; empty for the phase as a whole
	Table  string

	// Rows is how many rows of the source and table the phase has dealt with, in
	// earlier runs too. Total is how many there are; -1 if that is not known yet.
	Rows, Total int64

	Chunk int           // EventChunk: how many rows the chunk has
	Took  time.Duration // EventChunk: its time
	Text  string        // EventWarning: what about
}

// An EventKind says what an [Event] is about.
type EventKind string

// The kinds of events.
const (
	EventPhase   EventKind = "phase"   // a phase begins
	EventTable   EventKind = "table"   // a source's table begins in this phase, or goes on after an earlier run
	EventChunk   EventKind = "chunk"   // a transaction has ended, or as much was verified
	EventEnd     EventKind = "end"     // a source's table is done in this phase
	EventPause   EventKind = "pause"   // the run waits, because of Config.PauseFile or Merge.Pause
	EventResume  EventKind = "resume"  // it goes on
	EventWarning EventKind = "warning" // people should know of this
)
