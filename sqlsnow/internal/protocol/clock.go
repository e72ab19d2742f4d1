package protocol

import "time"

// A Reading is a reading of this process's clocks.
type Reading struct {
	Mono    time.Duration // since an arbitrary start; never goes back
	Wall    time.Time
	Running int64 // the earliest time that the next id can have, in microseconds since 1970; 0 before there is a generator
}

// A serverClock is the database's clock, also between two replies: it showed us
// at the monotonic time at, and is assumed to go on from there. The local wall
// clock is only compared with it.
type serverClock struct {
	maxSkew time.Duration
	us      int64 // microseconds since 1970; 0 before the first reading that was trusted
	at      time.Duration
	skew    time.Duration // the database's clock minus the local one, at the last reading
}

// CheckClock returns a [*ClockError] if the database's clock says us, in
// microseconds since 1970, when the local one says wall, and the two are more
// than DefaultMaxSkew apart.
func CheckClock(us int64, wall time.Time) error {
	clock := serverClock{maxSkew: DefaultMaxSkew}
	return clock.observe(us, 0, Reading{Wall: wall})
}

// observe adopts a reading of the database's clock, made between sent and now, if
// it is near the prediction or the local wall clock. If it is near neither,
// observe returns a *ClockError and does not adopt it.
func (c *serverClock) observe(us int64, sent time.Duration, now Reading) error {
	middle := sent + (now.Mono-sent)/2
	database := time.UnixMicro(us)
	local := now.Wall.Add(middle - now.Mono)
	near := func(t time.Time) bool { return database.Sub(t).Abs() <= c.maxSkew }
	var predicted time.Time
	if c.us != 0 {
		predicted = time.UnixMicro(c.predict(middle))
	}
	c.skew = database.Sub(local)
	if !near(local) && (c.us == 0 || !near(predicted)) {
		return &ClockError{Database: database.UTC(), Local: local.Round(0).UTC(), Predicted: predicted.UTC(), MaxSkew: c.maxSkew}
	}
	c.us, c.at = us, middle
	return nil
}

// predict returns the database's time at a monotonic time, in microseconds since 1970.
func (c *serverClock) predict(mono time.Duration) int64 {
	return c.us + (mono - c.at).Microseconds()
}
