package versioned

import (
	"sync"
	"time"

	"github.com/shardsnow/snow/internal/protocol"
)

// clocks compares this process's clock with the times that other processes have written into their rows. It refuses
// what would cost others their numbers where that can be known. Uniqueness does not need it.
//
// A row that says when it was written, later than now, shows that its writer's clock or this one is wrong. A row that
// was written long ago shows nothing: its writer may be gone. So a clock that is behind its peers is refused when a
// number is looked for. A clock that is ahead is not, unless it went ahead while this process ran.
type clocks struct {
	own  bool // there is no other clock than this process's
	mono func() time.Duration

	mu    sync.Mutex
	fresh bool          // rows were compared
	us    int64         // a time that was accepted; 0 before the first
	at    time.Duration // when that was, by the monotonic clock
}

// due reports whether rows are to be compared with the clock: before the first number is taken. Later, others with wrong
// clocks may have displaced this process and its peers, and be more. It goes on by its own clock, unless that steps.
func (c *clocks) due() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.own && !c.fresh
}

const skew = protocol.DefaultMaxSkew

// recent is how old the last renewal of a process can be that is still there.
const recent = 2 * time.Minute

// near counts the granted rows that were written about when the clock said us, and rows that were written later, with
// the latest of their times in milliseconds.
func near(rows []numbered, own, us int64) (near, later int, latest int64) {
	for _, n := range rows {
		if n.err != nil || n.worker == own || n.row.State != protocol.Granted {
			continue
		}
		switch age := us/1000 - n.row.Renewed; {
		case age < -skew.Milliseconds():
			later++
			latest = max(latest, n.row.Renewed)
		case age <= (recent + skew).Milliseconds():
			near++
		}
	}
	return near, later, latest
}

// judge returns a [*protocol.ClockError] if rows were written later than now: at least so many, and more than were
// written at about now.
func judge(rows []numbered, us int64, least int) error {
	n, later, latest := near(rows, -1, us)
	if later < least || later <= n {
		return nil
	}
	return &protocol.ClockError{Database: time.UnixMilli(latest).UTC(), Local: time.UnixMicro(us).UTC(), MaxSkew: skew, Peers: later}
}

// judge compares the clock with rows, before a number is taken. One row is not enough: its writer may have had a wrong
// clock and be gone, and would keep all others from taking a number.
func (c *clocks) judge(rows []numbered, us int64) error {
	if err := judge(rows, us, 2); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fresh = true
	return nil
}

// stepped reports whether the clock moved otherwise than the monotonic clock since it was accepted last. expected is
// what it would show had it not. If it did not step, us is accepted.
func (c *clocks) stepped(us int64) (stepped bool, expected int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.own {
		return false, us
	}
	expected = c.us + (c.mono() - c.at).Microseconds()
	if c.us != 0 && (time.Duration(us-expected)*time.Microsecond).Abs() > skew {
		return true, expected
	}
	c.us, c.at = us, c.mono()
	return false, expected
}

// follow accepts a clock that has stepped, or returns a [*protocol.ClockError] if more rows of other processes were
// written about when the clock would be had it not stepped than about now.
func (c *clocks) follow(rows []numbered, own, us, expected int64) error {
	here, _, _ := near(rows, own, us)
	there, _, _ := near(rows, own, expected)
	if there > here {
		return &protocol.ClockError{
			Database: time.UnixMicro(expected).UTC(), Local: time.UnixMicro(us).UTC(), MaxSkew: skew, Peers: there,
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.us, c.at = us, c.mono()
	return nil
}
