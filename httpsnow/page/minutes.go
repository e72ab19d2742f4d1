package page

import "time"

// An hour is as many minutes as a line has.
const hour = 60

// minutes are the increments of a total in each minute of the last hour, in a ring. The zero value is ready.
type minutes struct {
	ring  [hour]minute
	at    time.Time // of the last total; zero if there is none
	total uint64
}

// A minute is how much a total grew in a minute since 1970.
type minute struct {
	number int64
	grown  float64
}

// observe adds a total. What grew since the last one is spread over the minutes between. A total or a clock that
// went back begins anew.
func (m *minutes) observe(at time.Time, total uint64) {
	defer func() { m.at, m.total = at, total }()
	if m.at.IsZero() || total < m.total || at.Before(m.at) {
		m.add(minuteOf(at), 0)
		return
	}
	first, last := minuteOf(m.at), minuteOf(at)
	grown := float64(total - m.total)
	if first == last {
		m.add(last, grown)
		return
	}
	over := at.Sub(m.at).Seconds()
	for n := max(first, last-hour+1); n <= last; n++ {
		begin, end := time.Unix(n*60, 0), time.Unix(n*60+60, 0)
		if begin.Before(m.at) {
			begin = m.at
		}
		if end.After(at) {
			end = at
		}
		m.add(n, grown*end.Sub(begin).Seconds()/over)
	}
}

func (m *minutes) add(number int64, grown float64) {
	slot := &m.ring[number%hour]
	if slot.number != number {
		*slot = minute{number: number}
	}
	slot.grown += grown
}

// last returns the last hour, the oldest minute first. A minute without an observation has known false.
func (m *minutes) last(now time.Time) (points [hour]point) {
	newest := minuteOf(now)
	for i := range points {
		number := newest - hour + 1 + int64(i)
		if slot := m.ring[number%hour]; slot.number == number {
			points[i] = point{slot.grown, true}
		}
	}
	return points
}

// A point is a minute of a line.
type point struct {
	grown float64
	known bool
}

// minuteOf returns the number of a minute, which is positive for the times of databases and machines that work.
func minuteOf(t time.Time) int64 { return max(0, t.Unix()) / 60 }
