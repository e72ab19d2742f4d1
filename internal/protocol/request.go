package protocol

import "time"

// A State is the state of a row of snow_workers. The table has the same numbers.
type State int

// The states.
const (
	Free State = iota
	Claimed
	Granted
	Reserved
)

// An Ask is a kind of request. Each kind is one statement.
type Ask int

// The asks.
const (
	AskServer   Ask = iota + 1 // read the server's clock and settings, and the namespace's constants
	AskFree                    // list rows that may be taken
	AskCensus                  // count rows, because none may be taken
	AskRow                     // read one row
	AskTake                    // take a row with a window
	AskClaim                   // take a row without a window
	AskGrant                   // give a claimed row its first window
	AskRenew                   // raise the ceiling
	AskReassert                // set the ceiling that was confirmed before
	// write the row with the same state and window, which proves that the database remembers them
	AskConfirm
	AskRelease // free a granted row
	AskAbandon // free a claimed row
)

// Asks returns all asks.
func Asks() []Ask {
	all := make([]Ask, len(askNames)-1)
	for i := range all {
		all[i] = Ask(i + 1)
	}
	return all
}

var askNames = [...]string{
	AskServer: "read the server's settings", AskFree: "find a worker", AskCensus: "count the workers", AskRow: "read the worker",
	AskTake: "acquire", AskClaim: "claim", AskGrant: "begin the window", AskRenew: "renew", AskReassert: "reassert the window",
	AskConfirm: "confirm the window", AskRelease: "release", AskAbandon: "release",
}

// String names the request in errors, as in "sqlsnow: …: renew: …".
func (a Ask) String() string { return askNames[a] }

// Writes reports whether an ask changes a row.
func (a Ask) Writes() bool {
	switch a {
	case AskServer, AskFree, AskCensus, AskRow:
		return false
	}
	return true
}

// A Request is one statement that a lease sends to the database. Ticks are the
// layout's, and times are microseconds of the database's clock.
type Request struct {
	Ask              Ask
	Worker           int64
	Owner            string
	Fence            int64
	Holder           string
	Start, End       int64 // of the workers to look at
	State            State // as it was read
	Seen             int64 // the ceiling, as it was read
	Acked            int64 // the ceiling that was confirmed
	Lapse            int64 // the tick from which on nothing proves that a fenced row is still the lease's
	Cap              int64 // of the ceiling that is asked for
	Window           int64 // in ticks
	Next             int64 // the first tick that was not used
	Earliest, Latest int64 // when the statement may have an effect
}

// A Reply is the answer to a Request. With an Err, the outcome is unknown: the
// database may have executed the statement, or may still do so.
type Reply struct {
	Err     error
	Failure Failure // the kind of Err, which decides whether Acquire tries again
	Changed bool    // the statement changed the row; otherwise it wrote nothing
	Now     int64   // the database's clock

	// When the statement that read Now was sent and answered. A request may have waited for a connection before, or done
	// something else after it. Zero means when the request was sent and answered.
	Asked, Answered time.Time

	Unfit  error  // of AskServer: why the server is not fit for leases; nil if it is
	UUID   string // of the namespace
	Free   []FreeRow
	Row    *Row
	Census Census
}

// A Failure is a kind of error. It says whether another attempt may succeed.
type Failure int

// The failures.
const (
	Lasting Failure = iota // another attempt will probably fail as well
	Unclear                // an error of the database or the connection: the statement may have been done
	Busy                   // another statement was in the way
)

// A FreeRow is a row that may be taken.
type FreeRow struct{ Worker, Fence, Ceiling int64 }

// A Row is a row of snow_workers.
type Row struct {
	State          State
	Owner          string
	Fence          int64
	Floor, Ceiling int64
	Claimed        int64 // milliseconds since 1970
	Holder         string
}

// A Census counts the rows of a namespace.
type Census struct {
	Live, All int64
	Earliest  int64 // the tick at which a number may be free
}
