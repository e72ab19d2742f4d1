package protocol

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/dberrors"
)

// A simScript makes replies of a database from bytes: any reply is possible.
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

func (s *simScript) row(q Request, us, tick int64) *Row {
	if s.byte()%16 == 15 {
		return nil
	}
	r := &Row{State: State(s.byte() % 5), Owner: q.Owner, Fence: s.number(q.Fence), Floor: s.number(tick), Holder: "h"}
	r.Ceiling = s.number(max(r.Floor, q.Acked))
	r.Claimed = s.number(us / 1000)
	switch s.byte() % 8 {
	case 6:
		r.Owner = "somebody"
	case 7:
		r.Owner = ""
	}
	return r
}

func (s *simScript) reply(q Request, m *Machine) Reply {
	if s.byte()%6 == 5 {
		switch s.byte() % 16 {
		case 15:
			return Reply{Err: dberrors.ErrNoNamespace}
		case 14:
			return Reply{Err: errSimDown, Failure: Unclear}
		}
		return Reply{Err: context.DeadlineExceeded}
	}
	us := s.number(m.clock.us)
	if s.byte() > 20 && us < simStart {
		us = simStart
	}
	r := Reply{Changed: s.byte()%6 < 5, Now: us, UUID: m.params.UUID}
	if s.byte() > 250 {
		r.UUID = "another"
	}
	if s.byte() > 250 {
		r.Unfit = dberrors.ErrReadOnly
	}
	for range s.byte() % 3 {
		r.Free = append(r.Free, FreeRow{s.number(q.Start), s.number(1), s.number(m.params.TickAt(us))})
	}
	if q.Ask == AskRow {
		r.Row = s.row(q, us, m.params.TickAt(us))
	}
	r.Census = Census{s.number(1), s.number(1), s.number(1)}
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
		params := simDraw(1, lossy).params
		s := &simScript{bytes: data}
		m := &Machine{params: params, window: params.Window, clock: serverClock{maxSkew: DefaultMaxSkew}, random: rand.New(rand.NewPCG(2, 2))}
		owners := 0
		m.owner = func() string {
			owners++
			s.ours = strconv.Itoa(owners)
			return s.ours
		}
		if pinned {
			m.pinned, m.window = true, params.Pinned
		}
		now := Reading{Mono: time.Hour, Wall: time.UnixMicro(simStart)}
		var read *Row // the last one
		for n := 0; n < 100 && m.step != over && len(s.bytes) > 0; n++ {
			if wait := m.at - now.Mono; wait > 0 {
				if longest := 2*m.window + params.Probation + time.Minute; wait > longest {
					t.Fatalf("step %q waits for %v", m.step, wait)
				}
				now.Mono += wait
				now.Wall = now.Wall.Add(wait)
			}
			sent, step := now, m.step
			q := m.Request(sent)
			now.Mono += time.Duration(s.byte()) * time.Millisecond
			held, tried := m.holding, m.attempt
			acked := int64(0)
			if held != nil {
				acked = held.Ceiling
			}
			rep := s.reply(q, m)
			out := m.Handle(q, rep, sent.Mono, now)
			low, high, ok := simConfirmed(&params, q, rep)
			switch {
			case q.Ask == AskRow && rep.Err == nil:
				read = rep.Row
			case q.Ask == AskConfirm && read != nil:
				low, high, ok = read.Floor, read.Ceiling, rep.Err == nil && rep.Changed && read.Ceiling == q.Seen && read.Owner == q.Owner
			}
			if q.Ask == AskConfirm {
				low, high, ok = tried.Floor, min(tried.Ceiling, tried.asked), rep.Err == nil && rep.Changed && tried.state == Granted
			}
			switch {
			case step == readAttempt && m.step == confirmRow &&
				(rep.Row == nil || rep.Row.Owner != q.Owner || rep.Row.Ceiling != m.attempt.Ceiling):
				t.Fatalf("wants to confirm %+v of %+v", m.attempt, rep.Row)
			case out.Open != nil && (out.Open.Worker != q.Worker || out.Open.owner != q.Owner):
				t.Fatalf("%v: opens %+v", q.Ask, *out.Open)
			case out.Open != nil && steps[step].holding && (out.Open != held || out.Open.Ceiling > max(acked, high) || rep.Err != nil || !rep.Changed):
				t.Fatalf("%v: opens %+v again; confirmed were %d and %d", q.Ask, *out.Open, acked, high)
			case out.Open != nil && !steps[step].holding && (!ok || out.Open.Floor < low || out.Open.Ceiling > high):
				t.Fatalf("%v: opens %+v; confirmed were %d to %d, %v", q.Ask, *out.Open, low, high, ok)
			case out.Raise != 0 && (!ok || held == nil || out.Raise > high || out.Raise < acked || q.Owner != held.owner):
				t.Fatalf("%v: raises to %d; confirmed was %d, %v", q.Ask, out.Raise, high, ok)
			case out.Raise != 0 && params.Loss > 0 && q.Ask == AskRenew && out.Raise > acked+params.Ticks(params.Raise):
				t.Fatalf("raises from %d to %d at once", acked, out.Raise)
			case m.holding != held:
				t.Fatalf("changed the holding by itself")
			case held != nil && held.Ceiling != acked && held.Ceiling != out.Raise && out.Open != held:
				t.Fatalf("the holding has %d, of %d and %d", held.Ceiling, acked, out.Raise)
			case (out.Fatal != nil) != (m.step == over):
				t.Fatalf("step %q after %v", m.step, out.Fatal)
			}
			if out.Open != nil && out.Open.Floor >= 0 && out.Open.Floor < out.Open.Ceiling && s.byte() < 200 {
				m.Opened(out.Open, now)
			} else if out.Open != nil && held != nil && s.byte() < 100 {
				m.Keep(out.Open, now)
			}
		}
		if held := m.holding; held != nil {
			next := s.number(held.Floor)
			if q, ok := m.Release(uint64(next)); ok && q.Owner == held.owner && (q.Next < held.Floor || q.Next > held.Ceiling) {
				t.Fatalf("releases %+v with %d", *held, q.Next)
			}
		}
	})
}

// simConfirmed returns the window that a reply says the row has.
func simConfirmed(t *Params, q Request, r Reply) (low, high int64, ok bool) {
	if r.Err != nil {
		return 0, 0, false
	}
	tick := t.TickAt(r.Now)
	switch q.Ask {
	case AskTake:
		low = max(q.Seen, tick)
		return low, low + q.Window, r.Changed
	case AskGrant:
		low = max(q.Seen, tick)
		return low, low + t.Ticks(t.First), r.Changed
	case AskRenew:
		return 0, max(q.Acked, min(tick+q.Window, q.Cap)), r.Changed
	}
	return 0, 0, false
}
