package report

import "time"

// An Event is one step of the progress of a run.
type Event struct {
	Kind EventKind
	// "dry-run", "choose", "mint", "copy", "link", "inherit", "verify", "witness" or "after"; empty for the run as
	// a whole
	Phase  string
	Source string // with Table, unless the phase looks at all sources together; empty for the phase as a whole
	Table  string

	// Number is which phase it is, from 1 on, of Phases that this plan has. Both are 0 for the run as a whole, and
	// in "inherit".
	Number, Phases int

	// Rows is how many rows of the source's table the phase has handled, earlier runs included; with EventPhase, of all
	// tables. Total is how many there are, or -1 if that is not known.
	Rows, Total int64

	Chunk int           // EventChunk: how many rows the chunk has
	Took  time.Duration // EventChunk: the time of the chunk
}

// An EventKind says what an [Event] is about.
type EventKind string

// The kinds of events.
const (
	EventPhase EventKind = "phase" // a phase begins
	// the phase begins with a source's table, or continues with it after an earlier run
	EventTable  EventKind = "table"
	EventChunk  EventKind = "chunk"  // a chunk is committed or verified
	EventEnd    EventKind = "end"    // the phase has finished a source's table
	EventPause  EventKind = "pause"  // the run waits, because of Config.PauseFile or Merge.Pause
	EventResume EventKind = "resume" // the run continues
)
