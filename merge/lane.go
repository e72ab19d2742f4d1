package merge

import (
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
)

// A lane is the ids that are minted for one scope: those of a reserved worker
// number whose sequence is from first up to and not including end. So a tick
// of any time is free to use.
type lane struct {
	layout     snow.Layout
	datacenter uint64
	worker     uint64
	first, end uint64
}

// lanes cuts the sequence of a worker number into n equal parts, a power of two
// of them. It returns the i-th, and false if there are fewer.
func (l lane) part(i, n int) (lane, bool) {
	all := uint64(1) << l.layout.Bits().Sequence
	width := all >> bits.Len(uint(n-1))
	l.first = uint64(i) * width
	l.end = l.first + width
	return l, width > 0
}

// width is how many ids of a tick there are.
func (l lane) width() int64 { return int64(l.end - l.first) }

// id returns the lowest id of a tick and a sequence.
func (l lane) id(tick int64, sequence uint64) uint64 {
	b := l.layout.Bits()
	id := uint64(tick)
	id = id<<b.Datacenter | l.datacenter
	id = id<<b.Worker | l.worker
	id = id<<b.Sequence | sequence
	return id << b.Shard
}

// stride returns how far the ids of a tick are from those of the next one.
func (l lane) stride() uint64 { return l.id(1, 0) - l.id(0, 0) }

// own returns what the ids of the lane have in common: id & mask == value. No
// two lanes of a run have the same.
func (l lane) own() (mask, value uint64) {
	return l.stride() - uint64(l.width())<<l.layout.Bits().Shard, l.id(0, l.first)
}

// place returns the number of an id among those of the lane, in their order; 0
// for a tick of -1, which is before the first id that there may be.
func (l lane) place(tick, sequence int64) int64 {
	return max(0, tick*l.width()+sequence-int64(l.first))
}

// at returns the tick and the sequence of a place.
func (l lane) at(place int64) (tick, sequence int64) {
	return place / l.width(), int64(l.first) + place%l.width()
}

// since returns the tick of a time, or the first one.
func (l lane) since(t time.Time) int64 {
	return int64(max(0, t.Sub(l.layout.Epoch())) / l.layout.Tick()) // Sub saturates
}

// least returns the first tick that is used. Its ids are big, if that is not
// long after the epoch: those below are of databases that count, and rows that
// keep such an id may be in the target.
func (l lane) least() int64 {
	ticks := int64((bigID + l.stride() - 1) / l.stride())
	if ticks > int64(time.Hour/l.layout.Tick()) {
		return 0
	}
	return ticks
}

// A minter makes the ids of a lane, in ascending order. It is used by one
// goroutine at a time.
type minter struct {
	lane
	now      int64 // no date is after this tick
	tick     int64 // of the last id; -1 before the first
	sequence uint64
	late     time.Duration // how far an id was ahead of its row's date, at most
}

// next returns the id of a row with an old id and a date. Where there is no
// date, that of the row before counts.
func (m *minter) next(old int64, created time.Time, dated bool) (snow.ID, error) {
	b := m.layout.Bits()
	want := m.tick
	if dated {
		want = m.tickAt(created)
	}
	if want = max(want, m.least()); want > m.tick {
		// Not always the first, so that id % n is even for every n.
		m.tick, m.sequence = want, m.first+snow.HashShardInt(old)%max(1, (m.end-m.first)/2)
	} else if m.sequence++; m.sequence >= m.end {
		m.tick, m.sequence = m.tick+1, m.first
	}
	if m.tick >= 1<<b.Timestamp {
		return 0, snow.ErrTimeExhausted
	}
	id := m.id(m.tick, m.sequence) | snow.HashShardInt(old)&(1<<b.Shard-1)
	if id>>b.Shard == 0 {
		return m.next(old, created, dated) // zero means "not assigned"
	}
	if dated {
		m.late = max(m.late, m.layout.Time(snow.ID(id)).Sub(created))
	}
	return snow.ID(id), nil
}

// tickAt returns the tick of a date, or the nearest one that there may be.
func (m *minter) tickAt(t time.Time) int64 { return min(m.since(t), m.now) }

// dateForms are how databases and people write dates; a zone may follow.
var dateForms = []string{"2006-01-02 15:04:05.999999999", "2006-01-02", "2006-01-02 15:04"}

// parseDate returns the date that a value is: a text, or the time since 1970 in
// seconds, milliseconds, microseconds or nanoseconds, whichever is nearest to
// our days. Texts without a zone are in zone. It returns false for anything
// else, and for dates that are zero.
func parseDate(v any, zone *time.Location) (time.Time, bool) {
	var text string
	switch v := v.(type) {
	case int64:
		return sinceEpoch(v)
	case float64:
		if v > 0 && v < 1e11 {
			return time.UnixMicro(int64(v * 1e6)).UTC(), true
		}
		return sinceEpoch(int64(v))
	case string:
		text = v
	case []byte:
		text = string(v)
	default:
		return time.Time{}, false
	}
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return sinceEpoch(n)
	}
	if len(text) > 10 && text[10] == 'T' {
		text = text[:10] + " " + text[11:]
	}
	for _, form := range dateForms {
		for _, suffix := range []string{"", "Z07:00", "Z07", " Z07:00", " Z07", " Z0700", " -0700 MST"} {
			if t, err := time.ParseInLocation(form+suffix, text, zone); err == nil {
				return t.UTC(), t.Year() > 1
			}
		}
	}
	return time.Time{}, false
}

func sinceEpoch(n int64) (time.Time, bool) {
	switch {
	case n <= 0:
		return time.Time{}, false
	case n < 1e11:
		return time.Unix(n, 0).UTC(), true
	case n < 1e14:
		return time.UnixMilli(n).UTC(), true
	case n < 1e17:
		return time.UnixMicro(n).UTC(), true
	}
	return time.Unix(0, n).UTC(), true
}
