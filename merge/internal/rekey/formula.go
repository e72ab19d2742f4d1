package rekey

import (
	"fmt"
	"math"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A Formula says which new id a row gets, given the place of the id before it:
//
//	place = max(place before + 1, max(min(tick of the date, now), least) * width + |old id % spread|)
//	id    = (place + place div width * gap + place div span * leap + base) << shard bits | hash of the old id
//
// A row without a date gets the place after the one before.
//
// Where new ids are numbers, the id is the place: the one after the one before
// if ids are dense, and the old id + offset otherwise.
type Formula struct {
	ids    ledger.IDRange
	now    int64 // no date is after this tick
	least  int64 // or before this one
	width  int64 // ids of a tick
	spread int64 // where in its tick an id may begin: not always at the first, so that id % n is even for every n
	gap    int64 // from the last id of a tick to the first of the next one, less 1
	span   int64 // ids of a span, if the layout has lanes
	leap   int64 // what is added to the gap from span to span; 0 without lanes
	base   int64 // the id of place 0
}

// NewFormula returns the formula for a range. Dates after now, in microseconds
// since 1970, count as now.
func NewFormula(ids ledger.IDRange, now int64) *Formula {
	if ids.IDs.AreNumbers() {
		return &Formula{ids: ids, width: 1}
	}
	b := ids.Layout.Bits()
	return &Formula{
		ids: ids, now: max(0, ids.Tick(time.UnixMicro(now))), least: ids.Least(), width: ids.Width(), spread: max(1, ids.Width()/2),
		gap: int64(ids.Stride()>>b.Shard) - ids.Width(), base: int64(ids.Compose(0, ids.First) >> b.Shard),
		span: ids.Width() << b.Span, leap: int64(ids.Leap() >> b.Shard),
	}
}

// Start returns the place before the first one. The id of place 0 may be zero,
// which means "not assigned": so it is not used.
func (f *Formula) Start() int64 {
	if f.ids.IDs.AreNumbers() {
		return int64(f.ids.First) - 1
	}
	return max(0, f.least*f.width-1)
}

// next returns the place of a row. dated is false where the row has no date.
func (f *Formula) next(before, old, tick int64, dated bool) int64 {
	place := before + 1
	if f.ids.IDs == plan.IDsOffset {
		place = old + f.ids.Offset
	} else if dated {
		place = max(place, max(min(tick, f.now), f.least)*f.width+max(old%f.spread, -(old%f.spread)))
	}
	return place
}

// id returns the id of a place. After the last one it returns [snow.ErrTimeExhausted], or a [*report.FitError].
func (f *Formula) id(place, old int64) (snow.ID, error) {
	if f.ids.IDs.AreNumbers() {
		if place < 1 || uint64(place) < f.ids.First || uint64(place) >= f.ids.End {
			return 0, &report.FitError{ID: fmt.Sprint(place), Least: fmt.Sprint(f.ids.First), Most: fmt.Sprint(f.ids.End - 1)}
		}
		return snow.ID(place), nil
	}
	b := f.ids.Layout.Bits()
	if place/f.width >= 1<<b.Timestamp {
		return 0, snow.ErrTimeExhausted
	}
	id := uint64(place+place/f.width*f.gap+place/f.span*f.leap+f.base) << b.Shard
	return snow.ID(id | snow.HashShardInt(old)&(1<<b.Shard-1)), nil
}

// duration returns how long so many ticks are. Numbers have no time.
func (f *Formula) duration(ticks int64) time.Duration {
	if f.ids.IDs.AreNumbers() {
		return 0
	}
	tick := int64(f.ids.Layout.Tick())
	return time.Duration(min(ticks, math.MaxInt64/tick) * tick)
}

// NewIDs makes the new ids of a source table, one row after another. One
// goroutine uses it.
type NewIDs struct {
	*Formula
	Place int64         // of the last id
	Late  time.Duration // how far an id was ahead of its row's date, at most
}

// Make returns the new id of a row with an old id and a date.
func (n *NewIDs) Make(old int64, created time.Time, dated bool) (snow.ID, error) {
	tick := int64(0)
	if dated = dated && !n.ids.IDs.AreNumbers(); dated {
		tick = n.ids.Tick(created)
	}
	n.Place = n.next(n.Place, old, tick, dated)
	if dated {
		n.Late = max(n.Late, n.duration(n.Place/n.width-tick))
	}
	return n.id(n.Place, old)
}
