package job

import (
	"context"
	"database/sql"
)

// A Phase is a part of a conversion.
type Phase int

// The phases, in their order.
const (
	Widen  Phase = iota + 1 // columns become BIGINT
	Count                   // rows may come with snow ids, and others are counted on
	Finish                  // nothing is counted any more
)

// A Step is the smallest part that is done, verified or taken back as a whole.
// Steps of one plan are always the same.
type Step struct {
	Name  string // unique, and never changed: progress is stored by it; such as "widen orders: copy"
	Title string // for people: one sentence
	Phase Phase
	Table string // or empty

	// Statements are what Do sends, for people. In statements for a chunk, the bounds are question marks.
	Statements []string
	// Blocks says whom the step blocks, and for how long; empty if it blocks nobody. The job asks before such a step.
	Blocks string
	// Back says until when Undo is possible, for people.
	Back string
	// Gate says what programs must do before this step; empty for most. The job stops before it until it is named.
	Gate string

	// Do does the step. It may have been killed at any statement before: then it continues or begins anew, by what
	// it finds in the database.
	Do func(context.Context, *Run) error
	// Verify looks whether the step has done what it should. The next step begins only if it returns nil.
	Verify func(context.Context, *Run) error
	// CanUndo returns why Undo is not possible any more. Back asks all steps that it would take back before it takes one
	// back: half the way would leave tables in different phases. It is nil if Undo is always possible.
	CanUndo func(context.Context, *Run) error
	// Undo takes the step back, from any state that Do can leave. It is nil if there is nothing to take back.
	Undo func(context.Context, *Run) error
}

// A Run is what a step may use while it is done.
type Run struct {
	// DB is a pool of sessions of this run only. The next run ends them and waits for that, before it begins, so no
	// statement of a process that was killed or stopped is done later. A session does not go back to the user's pool.
	DB *sql.DB

	// Position is the position that the step has stored last; empty at first.
	Position string
	// Store stores a position, in the transaction of a chunk: it fails if another run has taken over.
	Store func(ctx context.Context, tx *sql.Tx, position string) error
	// Check fails if another run has taken over. Statements that commit by themselves call it before.
	Check func(context.Context) error
	// Wait waits while replicas lag or the server is loaded, and tells of progress: so many rows of about so many.
	Wait func(ctx context.Context, done, of int64) error
}
