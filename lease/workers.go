package lease

import (
	"strconv"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/protocol"
)

// A WorkerState says what a worker number is used for.
type WorkerState int

// The states.
const (
	Free     = WorkerState(protocol.Free)     // nobody has it; the next window begins at Ceiling or later
	Claimed  = WorkerState(protocol.Claimed)  // a process waits for its first window (LossWindow > 0)
	Granted  = WorkerState(protocol.Granted)  // a process has, or had, the window from Floor to Ceiling
	Reserved = WorkerState(protocol.Reserved) // never leased
)

// String returns "free", "claimed", "granted" or "reserved".
func (s WorkerState) String() string {
	names := [...]string{"free", "claimed", "granted", "reserved"}
	if s < 0 || int(s) >= len(names) {
		return "WorkerState(" + strconv.Itoa(int(s)) + ")"
	}
	return names[s]
}

// A WorkerInfo says who holds a worker number, and until when. Times are the
// database's.
type WorkerInfo struct {
	Worker uint64
	State  WorkerState
	Holder string    // see Config.Holder; for a free number, the last holder
	Fence  int64     // how often the number was leased
	Floor  time.Time // the start of the last window; after Fence, the earliest start of the next one
	// its end: no id of this number is later. If it is past and the row is Granted, the holder is gone or can't reach
	// the database
	Ceiling time.Time
	Claimed time.Time // when the holder took the number; zero if nobody ever did
	Renewed time.Time // when the holder last wrote the row; zero if nobody ever did
	// if the number is granted and not renewed by then, its holder is late: it is gone or can't reach the database;
	// else zero
	RenewBy time.Time

	// Leasable is when another process can lease the number, if nobody renews or leases it before. A time that is past
	// means now. It is zero for a reserved number.
	Leasable time.Time
}

// A Reservation is a worker number that is never leased.
type Reservation struct {
	Worker uint64
	Layout snow.Layout // of the namespace
	UUID   string      // of the namespace: a namespace that was made anew has another one, a restored one has the same
}
