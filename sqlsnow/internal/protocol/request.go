package protocol

// A State is what a row of snow_workers is used for. The numbers are those of the table.
type State int

// The states.
const (
	Free State = iota
	Claimed
	Granted
	Reserved
)

// An Ask is a kind of request: what is asked of the database with one statement.
type Ask int

// The asks.
const (
	AskServer   Ask = iota + 1 // the server's clock and settings, and the namespace's constants
	AskFree                    // rows that may be taken
	AskCensus                  // why there are none
	AskRow                     // one row
	AskTake                    // a window, of a row that may be taken
	AskClaim                   // a row that may be taken, without a window
	AskGrant                   // the first window of a claimed row
	AskRenew                   // a higher ceiling
	AskReassert                // the ceiling that was confirmed before
	AskConfirm                 // nothing, except that the row is remembered as it is
	AskRelease                 // nothing more: the row is free
	AskAbandon                 // the same, of a claimed row
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

// String returns what is done, as in "sqlsnow: …: renew: …".
func (a Ask) String() string { return askNames[a] }

// Writes reports whether an ask changes a row.
func (a Ask) Writes() bool {
	switch a {
	case AskServer, AskFree, AskCensus, AskRow:
		return false
	}
	return true
}

// A Request is what a lease asks of the database: one statement. Ticks are
// those of the layout, times microseconds of the database's clock.
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
	Cap              int64 // of the ceiling that is asked for
	Window           int64 // in ticks
	Next             int64 // the first tick that was not used
	Earliest, Latest int64 // when the statement may have an effect
}

// A Reply is what became of a Request. With an Err, that is unknown: the
// database may have done it, or may yet do it.
type Reply struct {
	Err     error
	Failure Failure // what Err is, for those who wait in Acquire
	Changed bool    // the row; only then was a write done
	Now     int64   // the database's clock
	Unfit   error   // of AskServer: why no lease can rest on the server; nil if one can
	UUID    string  // of the namespace
	Free    []FreeRow
	Row     *Row
	Census  Census
}

// A Failure is a kind of error, by what it says of another attempt.
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

// An Outcome is what follows from a Reply, for the lease to carry out.
type Outcome struct {
	Open    *Holding // let the generator use it, then call Opened, or Keep if the generator can't and has another one
	Suspend bool     // the generator must stop until the next Open: somebody else may have its ticks
	Raise   int64    // let the generator go up to this ceiling
	Now     int64    // the database's time, for the generator; 0 if unknown
	Retreat int64    // running time is to go back to this one; 0 if not
	Again   bool     // another renewal, at once, gets more
	Lost    *LostError
	Err     error // the attempt failed with it; another one follows
	Retry   bool  // the next attempt is worth waiting for in Acquire
	Fatal   error // no attempt follows
	Renewed bool  // the holding
}
