package chunk

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// CheckDistinct returns [report.ErrSameDatabase] if two sessions are in one database. Their names are for people.
func CheckDistinct(ctx context.Context, a, b *Session, nameOfA, nameOfB string) error {
	same, err := SameDatabase(ctx, a, b)
	switch {
	case err != nil:
		return a.Engine.Failed("tell databases apart", err)
	case !same:
		return nil
	case len(a.Engine.Databases())+len(b.Engine.Databases()) > 0:
		return fmt.Errorf("%w: %s and %s have one in common, whose rows would be merged twice: merge the databases that each has for itself, and leave the one that they share as it is",
			report.ErrSameDatabase, nameOfA, nameOfB)
	}
	return fmt.Errorf("%w: %s is %s", report.ErrSameDatabase, nameOfA, nameOfB)
}

// SameDatabase reports whether two sessions are in one database, or have one of several in common.
func SameDatabase(ctx context.Context, a, b *Session) (bool, error) {
	switch a.Engine.Kind {
	case sqlsnow.Postgres:
		return samePostgres(ctx, a, b)
	case sqlsnow.SQLite:
		return sameSQLite(ctx, a, b)
	}
	if same, err := shareDatabase(ctx, a, b, "SELECT DATABASE(), ''"); err != nil || !same {
		return false, err
	}
	// Only a lock proves that servers are one, but if there are none, names must do.
	seen, known, err := seesLock(ctx, a, b)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if err == nil && known {
		return seen, nil
	}
	return sameNames(ctx, a, b, "SELECT CONCAT_WS(':', @@hostname, @@port), @@datadir")
}

// shareDatabase reports whether two sessions have the name of a database in common. The query returns the name for a
// session, and the name of what it is in, if that counts too.
func shareDatabase(ctx context.Context, a, b *Session, query string) (bool, error) {
	var names [2][]string
	same := func(a, b string) bool { return a == b }
	var within [2]string
	for i, s := range []*Session{a, b} {
		var name sql.NullString
		if err := s.QueryRowContext(ctx, query).Scan(&name, &within[i]); err != nil {
			return false, err
		}
		if names[i] = slices.Collect(maps.Values(s.Engine.Databases())); names[i] == nil {
			names[i] = []string{name.String}
		} else {
			if same = strings.EqualFold; s.ledger { // people wrote the names
				names[i] = append(names[i], name.String)
			}
		}
	}
	return within[0] == within[1] && slices.ContainsFunc(names[0], func(name string) bool {
		return slices.ContainsFunc(names[1], func(other string) bool { return same(name, other) })
	}), nil
}

// sameNames reports whether a query returns the same two names in both sessions.
func sameNames(ctx context.Context, a, b *Session, query string) (bool, error) {
	var names [2][2]sql.NullString
	for i, s := range []*Session{a, b} {
		if err := s.QueryRowContext(ctx, query).Scan(&names[i][0], &names[i][1]); err != nil {
			return false, err
		}
	}
	return names[0] == names[1], nil
}

// samePostgres goes by a lock, which is of one database. It ends with the transactions that the sessions are
// within: behind a pooler another session may get the connection after that.
func samePostgres(ctx context.Context, a, b *Session) (same bool, err error) {
	if same, err := shareDatabase(ctx, a, b, "SELECT current_schema(), current_database()"); err != nil || !same {
		return false, err
	}
	lock := strconv.FormatInt(mathrand.Int64(), 10)
	var taken bool
	if err = a.QueryRowContext(ctx, "SELECT pg_advisory_xact_lock("+lock+") IS NULL").Scan(&taken); err == nil {
		err = b.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock("+lock+")").Scan(&taken)
	}
	return !taken, errors.Join(err, a.Rest(ctx), b.Rest(ctx))
}

// sameSQLite goes by the file. A database in memory is nobody else's.
func sameSQLite(ctx context.Context, a, b *Session) (bool, error) {
	var files [2]os.FileInfo
	for i, s := range []*Session{a, b} {
		var name string
		if err := s.QueryRowContext(ctx, "SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&name); err != nil {
			return false, err
		}
		info, err := os.Stat(name)
		if err != nil {
			return false, nil
		}
		files[i] = info
	}
	return os.SameFile(files[0], files[1]), nil
}

// seesLock reports whether two sessions are on one MySQL server. Addresses
// prove nothing: so one session takes a lock with a name that nobody else knows,
// and the other one must see who has it. It is not known if there are no locks.
func seesLock(ctx context.Context, a, b *Session) (same, known bool, err error) {
	lock := "'snow_merge_" + rand.Text() + "'"
	var taken, holder, seen sql.NullInt64
	err = a.QueryRowContext(ctx, "SELECT GET_LOCK("+lock+", 0), CONNECTION_ID()").Scan(&taken, &holder)
	if err != nil || taken.Int64 != 1 {
		return false, false, err
	}
	err = b.QueryRowContext(ctx, "SELECT IS_USED_LOCK("+lock+")").Scan(&seen)
	if undo := a.QueryRowContext(ctx, "SELECT RELEASE_LOCK("+lock+")").Scan(&taken); err == nil {
		err = undo
	}
	return seen.Valid && seen.Int64 == holder.Int64, err == nil, err
}
