package protocol

import (
	crand "crypto/rand"
	"encoding/hex"
	"math/rand/v2"
	"time"
)

// A Machine decides what a lease does: which statement to send when, and what
// follows from its reply. It does no I/O and reads no clock, so that the same
// code runs in a lease, in the simulation and under fuzzing. It is not safe for
// concurrent use.
//
// Its user calls Request when the time At has come, sends the request, and
// calls Handle with the reply, until Over.
type Machine struct {
	params  Params
	pinned  bool
	number  int64         // that is pinned
	window  time.Duration // of the number, at most
	holder  string
	random  *rand.Rand
	clock   serverClock
	owner   func() string // a new one for each attempt
	step    step
	at      time.Duration // monotonic time of the next request
	holding *Holding      // the number whose ticks the generator uses, if any
	attempt attempt       // at another number
	parted  *Holding      // the holding that Release gives back
	free    []FreeRow     // of the last list, less what was attempted
	listed  time.Duration // monotonic time of that list
	failed  int           // failed requests in a row
	crowded int           // attempts in a row that lost to another process
	late    int           // requests without a reply in time, less requests with one
}

// A Holding is a number that a lease holds.
type Holding struct {
	Worker  int64
	Fence   int64
	Floor   int64
	Ceiling int64 // that the database has confirmed; exclusive

	owner   string
	opened  bool // the generator has it, or has had it
	stopped bool // the generator must not use it until the next Open
	lost    bool // it is lost, and an Outcome has reported that
	renewed time.Duration
}

// IsOpen reports whether the generator has the number, or had it.
func (h *Holding) IsOpen() bool { return h.opened }

// IsLost reports whether the number is lost.
func (h *Holding) IsLost() bool { return h.lost }

// has reports whether a row is the holding's, with a window.
func (h *Holding) has(got *Row) bool {
	return got != nil && got.Owner == h.owner && got.Fence == h.Fence && got.State == Granted
}

// An attempt is the search for a number, and the attempt to get it.
type attempt struct {
	Holding
	seen    int64         // the row's ceiling before the attempt
	start   int64         // the number at which the search starts
	wrapped bool          // the search went past the last number
	ready   time.Duration // earliest monotonic time to ask for the first window
	state   State         // of the row, as it was read
	asked   int64         // the ceiling that was asked for
	claimed bool
	tries   int
}

// An Outcome says what the lease must do after a Reply.
type Outcome struct {
	// let the generator use it, then call Opened; call Keep if the generator can't use it and has another one
	Open    *Holding
	Suspend bool  // the generator must stop until the next Open: somebody else may have its ticks
	Raise   int64 // let the generator go up to this ceiling
	Now     int64 // the database's time, for the generator; 0 if unknown
	Retreat int64 // move running time back to this; 0 if it stays
	Again   bool  // renew again at once, for a longer window
	Lost    *LostError
	Err     error // why the attempt failed; another one follows
	Retry   bool  // the next attempt is worth waiting for in Acquire
	Fatal   error // no attempt follows
	Renewed bool  // the holding was renewed
}

// NewMachine returns a machine that leases a number of a namespace for a
// holder: the number that pinned points to, or any if it is nil.
func NewMachine(p Params, pinned *uint64, holder string, maxSkew time.Duration) *Machine {
	m := &Machine{
		params: p, window: p.Window, holder: holder, owner: NewOwner,
		random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), clock: serverClock{maxSkew: maxSkew},
	}
	if pinned != nil {
		m.pinned, m.number, m.window = true, int64(*pinned), p.Pinned
	}
	return m
}

// At returns the earliest monotonic time to send the next request.
func (m *Machine) At() time.Duration { return m.at }

// Over reports whether there is nothing more to ask.
func (m *Machine) Over() bool { return m.step == over }

// Holds reports whether a number is held and its next request is a renewal.
func (m *Machine) Holds() bool { return m.step == renew }

// Holding returns the number that is held, or nil.
func (m *Machine) Holding() *Holding { return m.holding }

// Predict returns the database's time at a monotonic time, in microseconds since 1970.
func (m *Machine) Predict(mono time.Duration) int64 { return m.clock.predict(mono) }

// Skew returns how far the database's clock was ahead of the local one at the last reply.
func (m *Machine) Skew() time.Duration { return m.clock.skew }

const longestTimeout = 5 * time.Second

// Timeout returns how long to wait for a reply while a number is held: a part
// of the time between two renewals. It doubles after each request that took
// longer; otherwise a slow database would never renew anything.
func (m *Machine) Timeout() time.Duration {
	return min(max(oftenEnough(m.window)/2, 500*time.Millisecond)<<m.late, longestTimeout)
}

// Hurry brings the next request forward, unless that request must not come too
// soon.
func (m *Machine) Hurry(now time.Duration) {
	if m.step != beginWindow && !m.TooSoon(now) {
		m.at = min(m.at, now)
	}
}

// TooSoon reports whether the next request is a renewal that the database would refuse for coming too soon after
// the last.
func (m *Machine) TooSoon(now time.Duration) bool {
	return m.step == renew && now < m.holding.renewed+m.params.MinRenew
}

// cap returns the highest ceiling that a renewal may ask for. It keeps a database
// clock that is ahead from moving the ceiling far into the future. Where the
// database may lose what it confirmed, it also makes several renewals whose
// outcome is unknown raise the ceiling only once.
func (m *Machine) cap(us int64) int64 {
	ceiling := m.params.TickAt(us) + m.params.Ticks(m.window) + m.params.Ticks(m.clock.maxSkew)
	if m.params.Loss > 0 {
		ceiling = min(ceiling, m.holding.Ceiling+m.params.Ticks(m.params.Raise))
	}
	return ceiling
}

// lapse returns the tick from which on a fenced row can't be renewed: somebody else may have had its number since,
// in history that a restore removed. That is the ceiling, or 0 if the ceiling is so near that a clock within the
// bounds of LongestWindow may have reached it already.
func (m *Machine) lapse(now Reading) int64 {
	p, h := &m.params, m.holding
	if p.TickAt(now.Wall.UnixMicro())+p.Ticks(4*DefaultMaxSkew) >= h.Ceiling {
		return 0
	}
	return h.Ceiling
}

// lead returns how many ticks ids are ahead of the database's clock, because the
// clock went back or an earlier reading of it was too high. Windows are longer by
// that much, because they must reach beyond the time of ids. The lead stays below
// the skew that Fence allows for, so no window ends later than Fence expects.
func (m *Machine) lead(now Reading) int64 {
	ahead := time.Duration(now.Running-m.clock.predict(now.Mono)) * time.Microsecond
	return int64(max(0, min(ahead, m.longestLead())) / m.params.Layout.Tick())
}

func (m *Machine) longestLead() time.Duration { return min(m.clock.maxSkew, DefaultMaxSkew) / 4 * 3 }

// next makes s the next step, at a monotonic time.
func (m *Machine) next(s step, at time.Duration) { m.step, m.at = s, at }

// abort ends the machine where there is no way back.
func (m *Machine) abort(err error, out *Outcome) { m.step, out.Fatal = over, err }

// restart starts a new attempt at a number after a while.
func (m *Machine) restart(now Reading, after time.Duration) { m.next(readServer, now.Mono+after) }

func (m *Machine) interval() time.Duration {
	every := m.params.RenewEvery(m.window)
	if m.params.Loss > 0 {
		return m.params.MinRenew + m.jitter(m.params.MinRenew/5) // sooner is refused, and raises are bounded
	}
	return every - every/5 + m.jitter(2*every/5)
}

// first returns the time until the first renewal. It is any part of an interval above an eighth, so that processes that
// start together don't renew together, and one that ends soon does not renew.
func (m *Machine) first() time.Duration {
	if m.params.Loss > 0 {
		return m.interval()
	}
	d := m.interval()
	return d/8 + m.jitter(d-d/8)
}

// jitter returns a random duration below d.
func (m *Machine) jitter(d time.Duration) time.Duration {
	return time.Duration(m.random.Int64N(int64(max(d, 1))))
}

// backoff grows with the failures in a row. While a window lasts, it grows to half of the time between two renewals:
// otherwise all processes of a large fleet would ask a database several times a second when it is back. It is no longer
// in a large namespace, so that all go on as soon after an outage.
func (m *Machine) backoff(now Reading) time.Duration {
	longest := min(max(2*time.Second, m.left(now)/10), max(oftenEnough(m.window)/2, 10*time.Millisecond))
	d := min(50*time.Millisecond<<min(m.failed, 9), longest)
	return d/4 + m.jitter(d)
}

// left returns how long the window still lasts that the generator uses.
func (m *Machine) left(now Reading) time.Duration {
	h := m.holding
	if h == nil || h.stopped || h.lost {
		return 0
	}
	return time.Duration(max(0, h.Ceiling-m.params.TickAt(m.clock.predict(now.Mono)))) * m.params.Layout.Tick()
}

// NewOwner returns 128 random bits as hex digits, by which a lease recognises its
// row. A counter would not do: after a failover it could be given out twice.
func NewOwner() string {
	var b [16]byte
	_, _ = crand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Opened tells the machine that the generator uses the holding in Outcome.Open.
func (m *Machine) Opened(h *Holding, now Reading) {
	h.opened, h.stopped = true, false
	if m.holding != h {
		m.Keep(h, now)
	}
}

// Keep holds a number that the generator can't use yet, because ids are ahead of the window. Renewals extend the
// window.
func (m *Machine) Keep(h *Holding, now Reading) {
	if m.holding != h {
		m.holding, m.attempt, m.failed = h, attempt{}, 0
		m.next(renew, now.Mono+m.first())
	}
}
