package sqlsnow

import "time"

// A reading is what the clocks of this process say.
type reading struct {
	mono    time.Duration // since an arbitrary start; never goes back
	wall    time.Time
	running int64 // what the next id is stamped with, at the earliest, in microseconds since 1970; 0 before there is a generator
}

// A vote tells the database's time while the database is not asked: it was us
// at the monotonic time at, and goes on from there. The local wall clock only
// has a vote.
type vote struct {
	maxSkew time.Duration
	us      int64 // microseconds since 1970; 0 before the first reading that was trusted
	at      time.Duration
	skew    time.Duration // database's less local, at the last reading
}

// take trusts a reading of the database's clock that was made between sent and
// now if it is near to what was predicted or to the local wall clock. With
// neither it is a *ClockError, and nothing changes.
func (v *vote) take(us int64, sent time.Duration, now reading) error {
	middle := sent + (now.mono-sent)/2
	database := time.UnixMicro(us)
	local := now.wall.Add(middle - now.mono)
	near := func(t time.Time) bool { return database.Sub(t).Abs() <= v.maxSkew }
	var predicted time.Time
	if v.us != 0 {
		predicted = time.UnixMicro(v.predict(middle))
	}
	v.skew = database.Sub(local)
	if !near(local) && (v.us == 0 || !near(predicted)) {
		return &ClockError{Database: database.UTC(), Local: local.Round(0).UTC(), Predicted: predicted.UTC(), MaxSkew: v.maxSkew}
	}
	v.us, v.at = us, middle
	return nil
}

// predict returns the database's time at a monotonic time.
func (v *vote) predict(mono time.Duration) int64 {
	return v.us + (mono - v.at).Microseconds()
}
