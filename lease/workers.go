package lease

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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

// Info returns what a row says. renewed is when it was written last, in milliseconds since 1970, and 0 if there is no
// such time. Info is for the packages of this project that keep namespaces.
func Info(p *protocol.Params, worker int64, row protocol.Row, renewed int64) WorkerInfo {
	info := WorkerInfo{
		Worker: uint64(worker), State: WorkerState(row.State), Holder: row.Holder, Fence: row.Fence,
		Floor: p.TimeOf(row.Floor), Ceiling: p.TimeOf(row.Ceiling),
	}
	if row.Claimed != 0 {
		info.Claimed = time.UnixMilli(row.Claimed).UTC()
	}
	if renewed != 0 {
		info.Renewed = time.UnixMilli(renewed).UTC()
	}
	if row.State == protocol.Granted {
		info.RenewBy = info.Renewed.Add(p.Late())
	}
	if row.State != protocol.Reserved {
		info.Leasable = p.Leasable(row.State, row.Ceiling, row.Claimed).UTC()
	}
	return info
}

// A Reservation is a worker number that is never leased.
type Reservation struct {
	Worker uint64
	Layout snow.Layout // of the namespace
	UUID   string      // of the namespace: a namespace that was made anew has another one, a restored one has the same
}

// CheckHolder returns a *snow.FieldError if holder can't be the name of one who reserves a number.
func CheckHolder(holder string) error {
	if holder == "" || len(holder) > 255 || !utf8.ValidString(holder) || strings.ContainsFunc(holder, unicode.IsControl) || strings.HasSuffix(holder, " ") {
		return &snow.FieldError{
			Field: "holder", Value: fmt.Sprintf("%q", holder[:min(len(holder), 80)]),
			Bound: "want 1 to 255 bytes of UTF-8 without control characters, and no space at the end",
		}
	}
	return nil
}
