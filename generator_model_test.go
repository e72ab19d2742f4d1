package snow

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

// A script is a random sequence of calls, clock readings and ceiling moves,
// read from bytes. It runs against a generator and against this model, which
// knows one position at a time:
//
//	next = the position after the last one, or any position of the present
//	       tick, in the next lane, if the last one is before it
//	due  = the start of next's tick, less MaxAhead
//
// The first byte says how many lanes there are.
type script struct {
	t     *testing.T
	bytes []byte
	g     *Generator
	one   *Generator // of the same worker, with OneLane
	f     *fakeTime
	lane  uint8 // bits

	last   [1 << scriptLane]ID // the greatest id of each lane that was returned or observed
	used   uint64              // the last position that may be used up
	issued uint64
	ended  bool // the last call was refused at a ceiling
}

const (
	scriptAhead    = 3 // ticks
	scriptSequence = 4 // bits
	scriptLane     = 2 // bits at most
	scriptSpan     = 3 // bits, with lanes
)

func (s *script) byte() byte {
	if len(s.bytes) == 0 {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return b
}

func runScript(t *testing.T, bytes []byte) {
	bits := Bits{Timestamp: 41, Datacenter: 1, Worker: 2, Sequence: scriptSequence, Shard: 2}
	if len(bytes) > 0 && bytes[0]%(scriptLane+1) > 0 {
		bits.Lane, bits.Span = bytes[0]%(scriptLane+1), scriptSpan
	}
	l, err := NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, bits)
	if err != nil {
		t.Fatal(err)
	}
	f := newFakeTime(noon)
	bytes = bytes[min(len(bytes), 1):min(len(bytes), 1000)]
	s := &script{t: t, bytes: bytes, f: f, lane: bits.Lane, g: newOn(t, l, 1, Config{MaxAhead: scriptAhead * time.Millisecond}, f)}
	grant := s.g.grant
	if s.one, err = NewGenerator(fakeWorker{grant}, Config{MaxAhead: scriptAhead * time.Millisecond, OneLane: true}); err != nil {
		t.Fatal(err)
	}
	grant.term.Load().limit.Store(grant.born + 200<<scriptSequence)
	f.pass((scriptAhead + 1) * time.Millisecond)
	for len(s.bytes) > 0 && !t.Failed() {
		switch op := s.byte(); op % 10 {
		case 0, 1:
			s.next(t.Context(), true)
		case 2:
			s.fill(int(s.byte()) % 100)
		case 3:
			f.pass(time.Duration(s.byte()) * 37 * time.Microsecond)
		case 4:
			f.pass(time.Duration(s.byte()) * 17 * time.Millisecond)
		case 5:
			f.step(time.Duration(int8(s.byte())) * 11 * time.Millisecond)
		case 6:
			s.observe(int64(s.byte()%10)-3, uint64(s.byte()))
		case 7:
			limit := grant.term.Load().limit.Load() + uint64(s.byte())<<scriptSequence
			grant.term.Load().limit.Store(max(limit, grant.position(grant.clock.now()))&^grant.sequenceMask + 1<<scriptSequence)
		case 8:
			ctx, cancel := context.WithCancel(t.Context())
			f.onSleep = cancel
			s.next(ctx, false)
			f.onSleep = nil
			cancel()
		case 9:
			s.nextInLane()
		}
		grant.clock.sync(grant.clock.now()) // not in the middle of a call: the model knows one time
		if got := s.g.Stats().Issued; got != s.issued {
			t.Fatalf("Stats().Issued = %d, want %d", got, s.issued)
		}
	}
}

// position reads where an id stands, from its parts.
func (s *script) position(id ID) uint64 {
	p, err := s.g.Layout().Decompose(id)
	if err != nil || p.Worker != 1 || p.Datacenter != 0 {
		s.t.Fatalf("id %d: %v, %v", id, p, err)
	}
	rest := scriptSequence - s.lane
	inTick := p.Sequence&(1<<rest-1)<<s.lane | p.Sequence>>rest // lanes take turns
	return uint64(p.Time.Sub(s.g.Layout().Epoch())/time.Millisecond)<<scriptSequence | inTick
}

// laneMask is the part of a position that is its lane.
func (s *script) laneMask() uint64 { return 1<<s.lane - 1 }

func (s *script) took(id ID) {
	position := s.position(id)
	if last := s.last[position&s.laneMask()]; id <= last || position <= s.used {
		s.t.Fatalf("id %d at %d after %d in its lane and position %d", id, position, last, s.used)
	}
	s.last[position&s.laneMask()], s.used, s.ended = id, position, false
	s.issued++
}

func (s *script) next(ctx context.Context, patient bool) {
	s.t.Helper()
	grant := s.g.grant
	before, slept := grant.clock.now(), s.f.slept.Load()
	lo := uint64(before) / 1e6 << scriptSequence
	fresh := s.used < lo
	earliest, latest := s.used+1, s.used+1
	if s.ended {
		latest++ // the refused call may have used up the position at the ceiling
	}
	if fresh {
		earliest, latest = lo, lo|grant.sequenceMask
	}
	limit, turn := grant.term.Load().limit.Load(), (grant.last()+1)&s.laneMask()
	id, err := s.g.Next(ctx)
	wait := max(0, int64(earliest>>scriptSequence)-scriptAhead)*1e6 - before
	switch {
	case earliest >= limit || latest >= limit && err != nil:
		if !errors.Is(err, ErrLeaseExpired) || id != 0 {
			s.t.Fatalf("Next() = %d, %v at position %d of %d, want ErrLeaseExpired", id, err, earliest, limit)
		}
		s.ended = true
		return
	case !patient && wait > 0:
		if !errors.Is(err, context.Canceled) || id != 0 {
			s.t.Fatalf("Next() = %d, %v, cancelled in a wait of %d", id, err, wait)
		}
		before := s.used
		s.used = grant.last()
		full := before >= lo+2*(scriptAhead+1)<<scriptSequence // then it waits before it takes a position
		if full && s.used != before || !full && (s.used < earliest || s.used > latest) {
			s.t.Fatalf("a cancelled wait left position %d, want %d to %d", s.used, earliest, latest)
		}
		return
	case err != nil:
		s.t.Fatalf("Next(): %v", err)
	}
	s.took(id)
	if s.used < earliest || s.used > latest || fresh && s.used&s.laneMask() != turn {
		s.t.Fatalf("position %d, want %d to %d, and in lane %d if it is the first of a tick", s.used, earliest, latest, turn)
	}
	if got := s.f.slept.Load() - slept; got != max(wait, 0) {
		s.t.Fatalf("slept %d for position %d at %d, want %d", got, s.used, before, max(wait, 0))
	}
}

// nextInLane asks for the next id of lane 0, which uses up the positions before it and up to the next lane 0.
func (s *script) nextInLane() {
	s.t.Helper()
	grant := s.g.grant
	limit, latest := grant.term.Load().limit.Load(), s.used+1
	id, err := s.one.Next(s.t.Context())
	if lo := uint64(grant.clock.now()) / 1e6 << scriptSequence; s.used < lo {
		latest = lo | grant.sequenceMask
	}
	latest += s.laneMask()
	if err != nil {
		if !errors.Is(err, ErrLeaseExpired) || latest+s.laneMask()+1 < limit {
			s.t.Fatalf("Next() = %d, %v with one lane, position %d of %d", id, err, s.used, limit)
		}
		s.used, s.ended = max(s.used, grant.last()), true
		return
	}
	s.took(id)
	if s.used&s.laneMask() != 0 || s.used > latest+1 || s.used >= limit {
		s.t.Fatalf("position %d with one lane, want lane 0, %d at most, and less than %d", s.used, latest+1, limit)
	}
	if word := grant.last(); word < s.used || word-s.used > s.laneMask() {
		s.t.Fatalf("one lane left position %d after %d", word, s.used)
	}
	s.used = grant.last()
}

func (s *script) fill(n int) {
	s.t.Helper()
	grant := s.g.grant
	ids := make([]ID, n)
	err := s.g.Fill(s.t.Context(), ids)
	limit := grant.term.Load().limit.Load()
	if err != nil {
		lo := uint64(grant.clock.now())/1e6<<scriptSequence | grant.sequenceMask
		if !errors.Is(err, ErrLeaseExpired) || max(s.used, lo)+uint64(n)<<s.lane < limit {
			s.t.Fatalf("Fill(%d): %v, with the last position at %d of %d", n, err, s.used, limit)
		}
		for _, id := range ids {
			if id != 0 {
				s.t.Fatalf("Fill(%d) failed and left %d", n, id)
			}
		}
		// Pieces that came before the refusal are used up.
		s.used, s.ended = max(s.used, grant.last()), true
		return
	}
	start := s.used
	for i, id := range ids {
		before := s.used
		s.took(id)
		if i == 0 {
			start = s.used
		}
		if s.used >= limit {
			s.t.Fatalf("position %d at or past the ceiling %d", s.used, limit)
		}
		if i > 0 && s.used != before+1<<s.lane && s.used>>scriptSequence == before>>scriptSequence {
			s.t.Fatalf("Fill jumps from position %d to %d", before, s.used)
		}
		if (s.used^start)&s.laneMask() != 0 {
			s.t.Fatalf("Fill leaves the lane of position %d at %d", start, s.used)
		}
	}
	if word := grant.last(); n > 0 && word != s.used {
		if word < s.used || word-s.used > s.laneMask() {
			s.t.Fatalf("Fill left position %d after %d", word, s.used)
		}
		s.used = word
	}
	if n > 0 && int64(s.used>>scriptSequence) > grant.clock.now()/1e6+scriptAhead {
		s.t.Fatalf("Fill(%d) returned position %d at %d", n, s.used, grant.clock.now())
	}
}

func (s *script) observe(ticks int64, rest uint64) {
	s.t.Helper()
	l, grant := s.g.Layout(), s.g.grant
	now := grant.clock.now() / 1e6
	seen, err := l.Compose(Parts{
		Time:   l.Epoch().Add(time.Duration(now+ticks) * time.Millisecond),
		Worker: rest % 4, Datacenter: rest / 4 % 2, Sequence: rest / 8 % 16, Shard: rest % 3,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	err = s.g.Observe(seen)
	if s.lane > 0 {
		var field *FieldError
		if !errors.As(err, &field) || field.Field != "layout" {
			s.t.Fatalf("Observe of a layout with lanes: %v", err)
		}
		return
	}
	switch tick := uint64(now + ticks); {
	case (tick+2)<<scriptSequence <= grant.term.Load().limit.Load() && ticks < scriptAhead && err != nil:
		s.t.Fatalf("Observe(%d ticks ahead): %v", ticks, err)
	case ticks > scriptAhead+1 && err == nil:
		s.t.Fatalf("Observe(%d ticks ahead) was accepted", ticks)
	}
	if err == nil {
		s.last[0] = max(s.last[0], seen)
		// Of a tick, ids are in the order of datacenter and worker: ours are 0 and 1.
		at := uint64(now+ticks) << scriptSequence
		switch other := rest/4%2*4 + rest%4; {
		case other > 1:
			at += 15
		case other == 1:
			at += rest / 8 % 16
		default:
			at--
		}
		s.used = max(s.used, at)
		if word := grant.last(); word != s.used && !(s.ended && word == s.used+1) {
			s.t.Fatalf("Observe left position %d, want %d", word, s.used)
		}
	}
}

func TestGeneratorAgreesWithModel(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 3000 {
		bytes := make([]byte, r.IntN(400))
		for i := range bytes {
			bytes[i] = byte(r.Uint32())
		}
		runScript(t, bytes)
		if t.Failed() {
			t.Logf("script %v", bytes)
			return
		}
	}
}

func FuzzGenerator(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 2, 99, 3, 200, 0})
	f.Add([]byte{0, 6, 9, 255, 0, 5, 200, 4, 255, 0, 7, 3, 2, 50, 2, 50})
	f.Add([]byte{0, 2, 48, 8, 8, 0, 4, 60, 5, 100, 0, 1})
	f.Add([]byte{1, 0, 2, 99, 0, 3, 200, 0, 2, 30, 0})
	f.Add([]byte{2, 2, 48, 8, 8, 0, 4, 60, 5, 100, 2, 99, 1})
	f.Fuzz(runScript)
}
