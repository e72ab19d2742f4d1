package preflight

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// Holders returns who the worker numbers of a new run are for, by source.
func Holders(ctx context.Context, p *Check) (map[string]string, error) {
	l := ledger.Of(p.Conns.Target)
	all := map[string]string{}
	r, made, err := p.Run(ctx)
	if err != nil || r != nil {
		return all, err // a run has its numbers
	}
	for _, source := range p.Plan.Sources {
		if rekeyed(p.Job, source) == 0 {
			continue
		}
		holder := "merge " + source + " #1" // of a target without a ledger: nobody has this name
		if made {
			if holder, err = l.Holder(ctx, source); err != nil {
				return nil, err
			}
		}
		all[source] = holder
	}
	return all, nil
}

// rekeyed returns how many tables of a source get new ids of package snow.
func rekeyed(j *work.Job, source string) (n int) {
	for _, t := range j.Plan.Tables {
		if !t.Skip && t.In(source) && t.Rekeys(source) && !t.IDs.AreNumbers() {
			n++
		}
	}
	return n
}

// Reservable returns the earliest time of new ids, and an error if the namespace has no ids for
// the rows that get new ones. The registry may be the target, whose pool may have only one connection: nobody may
// have it.
func Reservable(ctx context.Context, j *work.Job, holders map[string]string) (epoch time.Time, err error) {
	for _, source := range j.Plan.Sources {
		holder, ok := holders[source]
		if !ok {
			continue
		}
		reserved, err := sqlsnow.Reservable(ctx, j.Registry, j.Engine.Kind, j.Namespace, holder)
		if err == nil {
			err = CheckRoom(j, source, reserved)
		}
		if err != nil {
			return epoch, err
		}
		epoch = reserved.Layout.Epoch()
	}
	return epoch, nil
}

// CheckRoom returns an error if a reserved worker number has not enough ids at a time for the tables of a source.
func CheckRoom(j *work.Job, source string, reserved sqlsnow.Reservation) error {
	tables := rekeyed(j, source)
	bits := reserved.Layout.Bits()
	if highest := uint64(1)<<bits.Datacenter - 1; j.Datacenter > highest {
		return &snow.FieldError{Field: "Datacenter", Value: strconv.FormatUint(j.Datacenter, 10), Bound: "the highest of the layout is " + strconv.FormatUint(highest, 10)}
	}
	whole := ledger.IDRange{Layout: reserved.Layout, Datacenter: j.Datacenter, Worker: reserved.Worker}
	if _, ok := whole.Part(0, tables); !ok {
		return &plan.Error{Reason: fmt.Sprintf("source %q mints for %d tables, and ids of layout %v have no room for more than %d", source, tables, reserved.Layout, 1<<bits.Sequence)}
	}
	return nil
}
