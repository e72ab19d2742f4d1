package protocol

import "time"

// A Reading is a reading of this process's clocks.
type Reading struct {
	Mono time.Duration // since an arbitrary start; never goes back
	Wall time.Time
	// the earliest time that the next id can have, in microseconds since 1970; 0 before there is a generator
	Running int64
}

// A serverClock is the database's clock, also between two replies: it showed us
// at the monotonic time at, and is assumed to go on from there. The local wall
// clock is only compared with it.
type serverClock struct {
	maxSkew time.Duration
	us      int64 // microseconds since 1970; 0 before the first reading that was trusted
	at      time.Duration
	skew    time.Duration // the database's clock minus the local one, at the last reading

	// The local wall clock, at the monotonic time agreedAt, when the two clocks agreed last.
	agreed   time.Time
	agreedAt time.Duration
}

// CheckClock returns a [*ClockError] if the database's clock says us, in
// microseconds since 1970, when the local one says wall, and the two are more
// than DefaultMaxSkew apart.
func CheckClock(us int64, wall time.Time) error {
	clock := serverClock{maxSkew: DefaultMaxSkew}
	return clock.observe(us, 0, Reading{Wall: wall})
}

// observe adopts a reading of the database's clock, made between sent and now, if
// it is near the local wall clock, or near the prediction and not too far ahead of
// what the local clock would show had it not been set since the two agreed last.
// Otherwise observe returns a *ClockError and does not adopt it. So however many
// steps the database's clock takes, this process follows it to at most maxSkew
// ahead of its own clock, which Params.LongestWindow relies on.
func (c *serverClock) observe(us int64, sent time.Duration, now Reading) error {
	middle := sent + (now.Mono-sent)/2
	database := time.UnixMicro(us)
	local := now.Wall.Add(middle - now.Mono)
	near := func(t time.Time) bool { return database.Sub(t).Abs() <= c.maxSkew }
	c.skew = database.Sub(local)
	if near(local) {
		c.agreed, c.agreedAt = local, middle
	} else {
		var expected time.Time
		if c.us != 0 {
			own := c.agreed.Add(middle - c.agreedAt)
			if expected = time.UnixMicro(c.predict(middle)); near(expected) && database.After(own.Add(c.maxSkew)) {
				expected = own
			}
		}
		if c.us == 0 || !near(expected) {
			return &ClockError{Database: database.UTC(), Local: local.Round(0).UTC(), Predicted: expected.Round(0).UTC(), MaxSkew: c.maxSkew}
		}
	}
	c.us, c.at = us, middle
	return nil
}

// predict returns the database's time at a monotonic time, in microseconds since 1970.
func (c *serverClock) predict(mono time.Duration) int64 {
	return c.us + (mono - c.at).Microseconds()
}
