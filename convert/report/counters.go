package report

import (
	"fmt"
	"time"
)

// A CountError says why rows without ids can't be counted beside snow ids, on MySQL and MariaDB.
type CountError struct {
	Table  string // empty: the server
	Reason string
}

func (e *CountError) Error() string {
	if e.Table == "" {
		return "this server can't count rows beside snow ids: " + e.Reason
	}
	return fmt.Sprintf("table %q can't be counted beside snow ids: %s", e.Table, e.Reason)
}

// A SnowIDsError says that a table has snow ids, so its counter can't be set back: it would go on above them.
type SnowIDsError struct {
	Table string
	ID    int64 // the lowest one
}

func (e *SnowIDsError) Error() string {
	return fmt.Sprintf("table %q has snow ids, the lowest is %d: its counter can't be what it was", e.Table, e.ID)
}

// A StillCountedError says that a row came without an id since the last call: a program is left that knows nothing
// of snow. The next call looks again at what came since this one.
type StillCountedError struct {
	Table string
	Who   string // the session's user and host, of the last such row
	At    time.Time
}

func (e *StillCountedError) Error() string {
	return fmt.Sprintf("a row without an id came into table %q at %s, from %q: an old program is left; stop it, let the others do all they do once more, and run again", e.Table, e.At.Format(time.RFC3339), e.Who)
}
