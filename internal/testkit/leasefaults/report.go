//go:build unix

package leasefaults

import (
	"fmt"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

// A job tells a worker process what to do. It is passed in the environment, where only the same account can read
// the password.
type job struct {
	Driver    string // of database/sql
	Dialect   sqlsnow.Dialect
	DSN       string
	Namespace string
	Pin       *uint64       // the worker number to ask for
	Pod       string        // the same, as text in the environment of the process: see podIndex
	Holder    string        // also names the files of ids
	Every     time.Duration // between two reports; reportTime if zero
	Dir       string        // of the files of ids
	Leases    int           // to acquire, all at once; 1 if zero
	Fixed     *uint64       // a worker number to use without a lease, to see the suite fail
	Wait      bool          // wait for the command "go" before the first attempt
	Patient   bool          // acquire again after every error
	Timeout   time.Duration // of an attempt; zero is none
	Limit     uint64        // how many ids each lease makes, roughly; zero is no limit
	Segments  *segmentJob   // makes ids of segments, without a lease
	WallShift time.Duration // how wrong the process's wall clock is from the beginning; see wall.go

	program string // to run in place of the test binary
}

// A report is what a worker process reports about itself, again and again: the sum over its leases, unless a field
// says otherwise.
type report struct {
	Serial uint64 // counts the reports

	Acquired uint64 // leases that were acquired
	Refused  uint64 // attempts to acquire that failed, by the kind of error:
	NoWorker uint64 // *NoWorkerError
	Held     uint64 // *HeldError
	Clock    uint64 // *ClockError
	Failure  string // the last error of an attempt

	Issued  uint64   // ids that are in the files
	Expired uint64   // how often ids stopped with ErrLeaseExpired
	Resumed uint64   // how often they flowed again after it
	Outages []string // the error of each time that segments had no numbers left
	Ended   uint64   // leases whose Done is closed
	Closed  uint64   // leases whose Close returned nil
	Broken  string   // an error that must not happen
	HeldBy  string   // holder in the last HeldError

	ClockErrors uint64 // reports that found a *ClockError in a lease's Stats
	Errors      uint64 // other errors there
	Displaced   uint64 // numbers that were lost according to the log, by the reason
	Regressed   uint64
	OtherLosses uint64

	Renewals, Failures, Swaps uint64

	// Of the last lease, or the last time that a lease expired:
	Worker  uint64
	Fence   int64
	Ceiling time.Time
	LastID  int64
	Short   time.Duration // from the tick after the last id to the ceiling, when it expired
	// from the beginning of the last id to the attempt that found it expired: long where the process did not get to run
	Idle time.Duration
}

func (r report) String() string {
	type plain report
	return fmt.Sprintf("%+v", plain(r))
}
