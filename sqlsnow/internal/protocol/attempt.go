package protocol

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow/internal/dberrors"
)

// An attempt is one at a number.
type attempt struct {
	Holding
	seen    int64         // the ceiling of the row before
	start   int64         // of the search
	wrapped bool          // the search went past the last number
	ready   time.Duration // monotonic time from which the first window may be asked for
	state   State         // of the row, as it was read
	asked   int64         // the ceiling that was asked for
	claimed bool
	tries   int
}

// NewOwner returns 128 random bits as hex digits. It is what a row is
// recognised by: a counter could be given out twice after a failover.
func NewOwner() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// search looks for numbers that are free, if the server is fit.
func (m *Machine) search(_ Request, r Reply, now Reading, out *Outcome) {
	err := out.Err // of the clocks
	if err == nil {
		err = r.Unfit
	}
	if err == nil && r.UUID != m.params.UUID {
		m.abort(dberrors.ErrNamespaceMismatch, out)
		return
	}
	if epoch := m.params.Layout.Epoch(); err == nil && r.Now*1000 < epoch.UnixNano() {
		err = &snow.FieldError{Field: "clock", Value: time.UnixMicro(r.Now).UTC().Format(time.RFC3339Nano), Bound: "want the layout's epoch or later, which is " + epoch.Format(time.RFC3339Nano)}
	}
	if err == nil && m.params.TickAt(r.Now) > m.params.LastTick() {
		m.abort(snow.ErrTimeExhausted, out)
		return
	}
	if err != nil {
		out.Err = err
		m.failed++
		m.restart(now, m.backoff())
		return
	}
	// From a random number on, so that those who start together do not meet.
	m.attempt = attempt{start: m.random.Int64N(m.params.Workers)}
	m.next(findFree, now.Mono)
}

// choose attempts one of the numbers that are free.
func (m *Machine) choose(_ Request, r Reply, now Reading, _ *Outcome) {
	m.at = now.Mono
	switch {
	case len(r.Free) > 0:
		f := r.Free[m.random.IntN(len(r.Free))]
		m.attempt.Holding = Holding{Worker: f.Worker, Fence: f.Fence, owner: m.owner()}
		m.attempt.seen = f.Ceiling
		m.step = takeWindow
		if m.params.Loss > 0 {
			m.step = claimNumber
		}
	case m.pinned:
		m.step = readPinned
	case !m.attempt.wrapped && m.attempt.start > 0:
		m.attempt.wrapped, m.attempt.start = true, 0
	default:
		m.step = takeCensus
	}
}

// reportCensus says that no number is free.
func (m *Machine) reportCensus(_ Request, r Reply, now Reading, out *Outcome) {
	c := r.Census
	out.Err = &NoWorkerError{Live: int(c.Live), Cooling: int(c.All - c.Live), EarliestFree: m.params.TimeOf(c.Earliest)}
	m.restart(now, 500*time.Millisecond+m.jitter(1500*time.Millisecond))
}

// awaitPinned is what follows where the pinned number is not free.
func (m *Machine) awaitPinned(_ Request, r Reply, now Reading, out *Outcome) {
	p := &m.params
	if r.Row == nil {
		m.abort(&LostError{Worker: uint64(m.number), Reason: Vanished}, out)
		return
	}
	until := p.TimeOf(r.Row.Ceiling + p.Ticks(p.Grace))
	switch r.Row.State {
	case Free:
		until = p.TimeOf(r.Row.Ceiling - p.Ticks(Slack))
	case Claimed:
		until = time.UnixMilli(r.Row.Claimed).Add(p.Claim + p.Grace)
		if fenced := p.TimeOf(r.Row.Ceiling - p.Ticks(Slack)); fenced.After(until) {
			until = fenced
		}
	case Reserved:
		until = p.TimeOf(p.LastTick())
	}
	out.Err = &HeldError{Worker: uint64(m.number), Holder: r.Row.Holder, Until: until.UTC()}
	left := time.UnixMicro(m.clock.predict(now.Mono)).Sub(until).Abs()
	m.restart(now, min(max(left, 10*time.Millisecond), 250*time.Millisecond)+m.jitter(50*time.Millisecond))
}

// taken is what follows from a claim and its first window at once.
func (m *Machine) taken(q Request, r Reply, now Reading, out *Outcome) {
	if !r.Changed {
		m.next(readAttempt, now.Mono) // a proxy may have sent it twice
		return
	}
	m.attempt.Fence++
	floor := max(m.attempt.seen, m.params.TickAt(r.Now))
	m.hold(floor, floor+q.Window, now, out)
}

// claimed is what follows from a claim.
func (m *Machine) claimed(_ Request, r Reply, now Reading, _ *Outcome) {
	if !r.Changed {
		m.next(readAttempt, now.Mono)
		return
	}
	m.attempt.Fence++
	m.awaitProbation(now)
}

// awaitProbation waits until the database can't forget the claim any more. The
// wait starts with the confirmation of the claim, which is later than what the
// database has for its time.
func (m *Machine) awaitProbation(now Reading) {
	m.attempt.claimed = true
	m.attempt.ready = now.Mono + m.params.Probation + time.Millisecond
	m.next(beginWindow, m.attempt.ready+m.jitter(50*time.Millisecond))
}

// begun is what follows from the request for the first window of a claim.
func (m *Machine) begun(_ Request, r Reply, now Reading, out *Outcome) {
	if !r.Changed {
		m.next(readAttempt, now.Mono)
		return
	}
	floor := max(m.attempt.seen, m.params.TickAt(r.Now))
	m.hold(floor, floor+m.params.Ticks(m.params.First), now, out)
}

// resolve is what follows from the row of an attempt whose outcome is not
// known. What the row says is not yet what the database will remember: some
// databases show a commit before it is durable. A write of the same row that is
// confirmed is proof.
func (m *Machine) resolve(_ Request, r Reply, now Reading, _ *Outcome) {
	a, got := &m.attempt, r.Row
	a.tries++
	mine := got != nil && got.Owner == a.owner
	switch {
	case mine && got.State == Granted:
		asked := m.params.Ticks(m.window)
		if m.params.Loss > 0 {
			asked = m.params.Ticks(m.params.First)
		}
		a.Fence, a.state, a.Floor, a.Ceiling = got.Fence, Granted, got.Floor, got.Ceiling
		a.asked = got.Floor + asked
		m.next(confirmRow, now.Mono)
	case mine && got.State == Claimed && (a.tries > 30 || got.Ceiling != a.seen):
		m.next(abandon, now.Mono)
	case mine && got.State == Claimed && a.claimed: // too soon for the database
		m.next(beginWindow, max(a.ready, now.Mono+500*time.Millisecond))
	case mine && got.State == Claimed:
		a.Fence, a.state, a.Ceiling = got.Fence, Claimed, got.Ceiling
		m.next(confirmRow, now.Mono)
	default:
		// Not mine. If a statement still arrives, nobody uses what it takes.
		m.attempt = attempt{}
		m.crowded++
		m.restart(now, m.jitter(time.Duration(min(m.crowded, 20))*5*time.Millisecond))
	}
}

// rowConfirmed is what follows from the proof that the database remembers the row.
func (m *Machine) rowConfirmed(_ Request, r Reply, now Reading, out *Outcome) {
	switch a := &m.attempt; {
	case !r.Changed:
		m.next(readAttempt, now.Mono+m.backoff())
	case a.state == Claimed:
		m.awaitProbation(now)
	default:
		m.hold(a.Floor, min(a.Ceiling, a.asked), now, out)
	}
}

// hold makes the attempt a holding, with its first window.
func (m *Machine) hold(floor, ceiling int64, now Reading, out *Outcome) {
	h := m.attempt.Holding
	h.Floor, h.Ceiling, h.renewed = floor, ceiling, now.Mono
	m.attempt.Floor, m.attempt.claimed = floor, false
	m.crowded = 0
	out.Open = &h
	m.next(decline, now.Mono) // unless the generator can use it
}

// startOver is what follows from the end of an attempt.
func (m *Machine) startOver(_ Request, _ Reply, now Reading, _ *Outcome) {
	m.attempt = attempt{}
	m.restart(now, time.Second+m.jitter(time.Second))
}

// GiveUp ends the machine and returns the request that frees what an
// unfinished attempt may have taken, if there is one. Where nobody knows
// whether the attempt has the number, that is a look at its row, and Free says
// what follows from it.
func (m *Machine) GiveUp() (q Request, ok bool) {
	switch m.step {
	case takeWindow, claimNumber, readAttempt, confirmRow:
		m.step = over
		return Request{Ask: AskRow, Worker: m.attempt.Worker}, m.attempt.owner != ""
	}
	return m.Release(0)
}

// Free returns the request that frees a row which GiveUp had to look at, if
// the row is the attempt's.
func (m *Machine) Free(got *Row) (q Request, ok bool) {
	a := &m.attempt
	if got == nil || got.Owner != a.owner || a.owner == "" {
		return Request{}, false
	}
	q = Request{Ask: AskRelease, Worker: a.Worker, Owner: a.owner, Fence: got.Fence, Next: got.Floor}
	if got.State == Claimed {
		q.Ask = AskAbandon
	}
	return q, true
}
