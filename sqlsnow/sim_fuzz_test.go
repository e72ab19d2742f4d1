package sqlsnow

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

// A simScript is what a database replies, read from bytes: anything.
type simScript struct {
	bytes []byte
	ours  string // the last owner that the machine made
}

func (s *simScript) byte() byte {
	if len(s.bytes) == 0 {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return b
}

// number returns a number that means something where base does, or any.
func (s *simScript) number(base int64) int64 {
	switch b := s.byte(); {
	case b < 160:
		return base + int64(int8(s.byte()))
	case b < 200:
		return base + int64(int8(s.byte()))*100_000
	default:
		var all [8]byte
		s.bytes = s.bytes[copy(all[:], s.bytes):]
		return int64(binary.LittleEndian.Uint64(all[:]))
	}
}

func (s *simScript) row(q request, us, tick int64) *row {
	if s.byte()%16 == 15 {
		return nil
	}
	r := &row{state: WorkerState(s.byte() % 5), owner: q.owner, fence: s.number(q.fence), floor: s.number(tick), holder: "h"}
	r.ceiling = s.number(max(r.floor, q.acked))
	r.claimed = s.number(us / 1000)
	switch s.byte() % 8 {
	case 6:
		r.owner = "somebody"
	case 7:
		r.owner = ""
	}
	return r
}

func (s *simScript) reply(q request, m *machine) reply {
	if s.byte()%6 == 5 {
		switch s.byte() % 16 {
		case 15:
			return reply{err: ErrNoNamespace}
		case 14:
			return reply{err: &DatabaseError{Op: "x", Err: errSimDown}}
		}
		return reply{err: context.DeadlineExceeded}
	}
	us := s.number(m.clock.us)
	if s.byte() > 20 && us < simStart {
		us = simStart
	}
	r := reply{changed: s.byte()%6 < 5, us: us, uuid: m.terms.uuid}
	if s.byte() > 250 {
		r.uuid = "another"
	}
	r.facts.readOnly = s.byte() > 250
	for range s.byte() % 3 {
		r.free = append(r.free, free{s.number(q.start), s.number(1), s.number(m.terms.tickAt(us))})
	}
	if q.ask == askRow {
		r.row = s.row(q, us, m.terms.tickAt(us))
	}
	r.census = census{s.number(1), s.number(1), s.number(1)}
	return r
}

// FuzzMachine asserts that no reply makes the machine panic, open a window that
// the database did not confirm, or raise one beyond what it did.
func FuzzMachine(f *testing.F) {
	f.Add([]byte{}, false, false)
	r := rand.New(rand.NewPCG(1, 4))
	for i := range 100 {
		data := make([]byte, 600)
		for j := range data {
			data[j] = byte(r.IntN(150)) // mostly success
			if r.IntN(12) == 0 {
				data[j] = byte(r.IntN(256))
			}
		}
		f.Add(data, i%2 == 0, i%4 < 2)
	}
	f.Fuzz(func(t *testing.T, data []byte, lossy, pinned bool) {
		terms := simDraw(1, lossy).terms
		s := &simScript{bytes: data}
		m := &machine{terms: terms, window: terms.window, clock: vote{maxSkew: defaultMaxSkew}, random: rand.New(rand.NewPCG(2, 2))}
		owners := 0
		m.owner = func() string {
			owners++
			s.ours = strconv.Itoa(owners)
			return s.ours
		}
		if pinned {
			m.pinned, m.window = true, terms.pinned
		}
		now := reading{mono: time.Hour, wall: time.UnixMicro(simStart)}
		var read *row // the last one
		for steps := 0; steps < 100 && m.step != stepOver && len(s.bytes) > 0; steps++ {
			if wait := m.at - now.mono; wait > 0 {
				if longest := 2*m.window + terms.probation + time.Minute; wait > longest {
					t.Fatalf("step %d waits for %v", m.step, wait)
				}
				now.mono += wait
				now.wall = now.wall.Add(wait)
			}
			sent, step := now, m.step
			q := m.request(sent)
			now.mono += time.Duration(s.byte()) * time.Millisecond
			held, bid := m.seat, m.bid
			acked := int64(0)
			if held != nil {
				acked = held.ceiling
			}
			rep := s.reply(q, m)
			out := m.handle(q, rep, sent.mono, now)
			low, high, ok := simConfirmed(&terms, q, rep)
			switch {
			case q.ask == askRow && rep.err == nil:
				read = rep.row
			case q.ask == askConfirm && read != nil:
				low, high, ok = read.floor, read.ceiling, rep.err == nil && rep.changed && read.ceiling == q.seen && read.owner == q.owner
			}
			if q.ask == askConfirm {
				low, high, ok = bid.floor, min(bid.ceiling, bid.asked), rep.err == nil && rep.changed && bid.state == Granted
			}
			switch {
			case step == stepUnsure && m.step == stepConfirm &&
				(rep.row == nil || rep.row.owner != q.owner || rep.row.ceiling != m.bid.ceiling):
				t.Fatalf("wants to confirm %+v of %+v", m.bid, rep.row)
			case out.open != nil && (out.open.worker != q.worker || out.open.owner != q.owner):
				t.Fatalf("%v: opens %+v", q.ask, *out.open)
			case out.open != nil && step >= stepRenew && (out.open != held || out.open.ceiling > max(acked, high) || rep.err != nil || !rep.changed):
				t.Fatalf("%v: opens %+v again; confirmed were %d and %d", q.ask, *out.open, acked, high)
			case out.open != nil && step < stepRenew && (!ok || out.open.floor < low || out.open.ceiling > high):
				t.Fatalf("%v: opens %+v; confirmed were %d to %d, %v", q.ask, *out.open, low, high, ok)
			case out.raise != 0 && (!ok || held == nil || out.raise > high || out.raise < acked || q.owner != held.owner):
				t.Fatalf("%v: raises to %d; confirmed was %d, %v", q.ask, out.raise, high, ok)
			case out.raise != 0 && terms.loss > 0 && q.ask == askRenew && out.raise > acked+terms.ticks(terms.raise):
				t.Fatalf("raises from %d to %d at once", acked, out.raise)
			case m.seat != held:
				t.Fatalf("changed the seat by itself")
			case held != nil && held.ceiling != acked && held.ceiling != out.raise && out.open != held:
				t.Fatalf("the seat has %d, of %d and %d", held.ceiling, acked, out.raise)
			case (out.fatal != nil) != (m.step == stepOver):
				t.Fatalf("step %d after %v", m.step, out.fatal)
			}
			if out.open != nil && out.open.floor >= 0 && out.open.floor < out.open.ceiling && s.byte() < 200 {
				m.opened(out.open, now)
			} else if out.open != nil && held != nil && s.byte() < 100 {
				m.keep(out.open, now)
			}
		}
		if held := m.seat; held != nil {
			next := s.number(held.floor)
			if q, ok := m.release(uint64(next)); ok && q.owner == held.owner && (q.next < held.floor || q.next > held.ceiling) {
				t.Fatalf("releases %+v with %d", *held, q.next)
			}
		}
	})
}

// simConfirmed returns the window that a reply says the row has.
func simConfirmed(t *terms, q request, r reply) (low, high int64, ok bool) {
	if r.err != nil {
		return 0, 0, false
	}
	tick := t.tickAt(r.us)
	switch q.ask {
	case askTake:
		low = max(q.seen, tick)
		return low, low + q.window, r.changed
	case askGrant:
		low = max(q.seen, tick)
		return low, low + t.ticks(t.first), r.changed
	case askRenew:
		return 0, max(q.acked, min(tick+q.window, q.cap)), r.changed
	}
	return 0, 0, false
}
