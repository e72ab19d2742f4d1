package dbserver

import (
	"database/sql"
	"fmt"
	"math"
	"time"

	"github.com/shardsnow/snow/internal/dberrors"
)

// Forever is the loss of a database that never syncs what it confirms.
const Forever = time.Duration(math.MaxInt64)

// An Info is a server's clock, and its settings as far as they matter for durability.
type Info struct {
	Now int64 // its clock, in microseconds since 1970
	// when the question was sent, on a connection that was there, and answered, on the clock of this process
	Asked, Answered time.Time

	ReadOnly      bool
	Unmigrated    bool // the tables of leases are missing; known on SQLite only, which has no error code for it
	InTransaction bool // the session that was asked, where that is known

	Schema string   // the engine's, or else the schema of the session that was asked
	Tables []string // the engine's tables that exist in the schema; all tables of MigrationsFor

	changed sql.NullString // whether the session has another schema than when it was opened
	unsafe  string         // which table may lose what is written, and why; empty if none does
	stopped bool           // SET timestamp has stopped the session's clock
	// the server is MariaDB, which looks for one temporary table sooner than it counts them
	oneByOne bool

	setting string        // the setting that makes commits less durable; empty if there is none
	value   string        // of setting
	loses   time.Duration // how much the server may lose because of it
}

func (i *Info) weaken(setting, value string, loses time.Duration) {
	i.setting, i.value, i.loses = setting, value, loses
}

// Check returns an error unless the server takes writes, may lose at most loss of what it confirmed, and has tables
// that are stored as durably as that.
func (i *Info) Check(loss time.Duration) error {
	switch {
	case i.Unmigrated:
		return dberrors.ErrNotMigrated
	case i.ReadOnly:
		return dberrors.ErrReadOnly
	case i.unsafe != "":
		return fmt.Errorf("%w: %s", dberrors.ErrNotDurable, i.unsafe)
	case i.loses > loss && i.loses == Forever:
		return fmt.Errorf("%w: %s is %s", dberrors.ErrNotDurable, i.setting, i.value)
	case i.loses > loss:
		return fmt.Errorf("%w: %s is %s, which needs a LossWindow of %v or more", dberrors.ErrNotDurable, i.setting, i.value, i.loses)
	}
	return nil
}
