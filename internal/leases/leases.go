// Package leases turns what package protocol has into the types that package lease exports. It is for the packages that
// keep namespaces in a store.
package leases

import (
	"errors"
	"time"

	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/lease"
)

// Typed returns an error of the lease protocol as the type that package lease exports, or nil if err is none of them.
func Typed(err error) error {
	var (
		clock *protocol.ClockError
		held  *protocol.HeldError
		none  *protocol.NoWorkerError
		lost  *protocol.LostError
	)
	switch {
	case errors.As(err, &clock):
		return (*lease.ClockError)(clock)
	case errors.As(err, &held):
		return (*lease.HeldError)(held)
	case errors.As(err, &none):
		return (*lease.NoWorkerError)(none)
	case errors.As(err, &lost):
		return &lease.LostError{Worker: lost.Worker, Reason: lease.Loss(lost.Reason), Holder: lost.Holder}
	}
	return nil
}

// Info returns what a row says. renewed is when it was written last, in milliseconds since 1970, and 0 if there is no
// such time.
func Info(p *protocol.Params, worker int64, row protocol.Row, renewed int64) lease.WorkerInfo {
	info := lease.WorkerInfo{
		Worker: uint64(worker), State: lease.WorkerState(row.State), Holder: row.Holder, Fence: row.Fence,
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
