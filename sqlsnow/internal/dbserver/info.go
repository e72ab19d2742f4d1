package dbserver

import (
	"fmt"
	"math"
	"time"

	"github.com/shardsnow/snow/sqlsnow/internal/dberrors"
)

// Forever is how much a database may lose that never syncs what it confirms.
const Forever = time.Duration(math.MaxInt64)

// An Info is what a database server says of itself.
type Info struct {
	Now           int64 // its clock, in microseconds since 1970
	ReadOnly      bool
	Unmigrated    bool // the tables of leases are missing; known on SQLite only, which has no error code for it
	InTransaction bool // the session that was asked, where that is known

	setting string        // that weakens what it confirms
	value   string        // of setting
	loses   time.Duration // how much it may lose for that
}

func (i *Info) weaken(setting, value string, loses time.Duration) {
	i.setting, i.value, i.loses = setting, value, loses
}

// Check says whether what rests on the server may lose that much of what it confirmed.
func (i *Info) Check(loss time.Duration) error {
	switch {
	case i.Unmigrated:
		return dberrors.ErrNotMigrated
	case i.ReadOnly:
		return dberrors.ErrReadOnly
	case i.loses > loss && i.loses == Forever:
		return fmt.Errorf("%w: %s is %s", dberrors.ErrNotDurable, i.setting, i.value)
	case i.loses > loss:
		return fmt.Errorf("%w: %s is %s, which needs a LossWindow of %v or more", dberrors.ErrNotDurable, i.setting, i.value, i.loses)
	}
	return nil
}
