package chunk

import (
	"context"
	"crypto/rand"
	"database/sql"
	mathrand "math/rand/v2"
	"os"
	"strconv"

	"github.com/shardsnow/snow/sqlsnow"
)

// SameDatabase reports whether two sessions are in one database.
func SameDatabase(ctx context.Context, a, b *Session) (bool, error) {
	switch a.Engine.Kind {
	case sqlsnow.Postgres:
		return samePostgres(ctx, a, b)
	case sqlsnow.SQLite:
		return sameSQLite(ctx, a, b)
	}
	// Only a lock proves that servers are one, but if there are none, names must do.
	var one, other [4]sql.NullString
	for _, s := range []struct {
		*Session
		into *[4]sql.NullString
	}{{a, &one}, {b, &other}} {
		err := s.QueryRowContext(ctx, "SELECT DATABASE(), @@hostname, @@port, @@datadir").Scan(&s.into[0], &s.into[1], &s.into[2], &s.into[3])
		if err != nil {
			return false, err
		}
	}
	if one[0] != other[0] {
		return false, nil
	}
	seen, known, err := SeesLock(ctx, a, b)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if err == nil && known {
		return seen, nil
	}
	return one == other, nil
}

// samePostgres goes by a lock, which is of one database.
func samePostgres(ctx context.Context, a, b *Session) (same bool, err error) {
	var one, other [2]sql.NullString
	for _, s := range []struct {
		*Session
		into *[2]sql.NullString
	}{{a, &one}, {b, &other}} {
		if err := s.QueryRowContext(ctx, "SELECT current_database(), current_schema()").Scan(&s.into[0], &s.into[1]); err != nil {
			return false, err
		}
	}
	if one != other {
		return false, nil
	}
	lock := strconv.FormatInt(mathrand.Int64(), 10)
	if _, err := a.ExecContext(ctx, "SELECT pg_advisory_lock("+lock+")"); err != nil {
		return false, err
	}
	var taken bool
	err = b.QueryRowContext(ctx, "SELECT pg_try_advisory_lock("+lock+")").Scan(&taken)
	for _, s := range []*Session{a, b} {
		if s == a || taken {
			if _, undo := s.ExecContext(ctx, "SELECT pg_advisory_unlock("+lock+")"); err == nil {
				err = undo
			}
		}
	}
	return !taken, err
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

// SeesLock reports whether two sessions are on one MySQL server. Addresses
// prove nothing: so one session takes a lock with a name that nobody else knows,
// and the other one must see who has it. It is not known if there are no locks.
func SeesLock(ctx context.Context, a, b *Session) (same, known bool, err error) {
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
