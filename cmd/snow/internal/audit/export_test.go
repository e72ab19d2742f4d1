package audit

// RunAt is Run with a clock.
var RunAt = runAt
