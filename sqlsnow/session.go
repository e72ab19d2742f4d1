package sqlsnow

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/sqldialect"
)

// A need is what a session must be fit for.
type need int

const (
	toMigrate    need = iota // tables
	toLease                  // rows of worker numbers
	toLeaseLossy             // the same, with a LossWindow
	toNumber                 // rows of segments, which have no LossWindow: the server's settings count as well
)

// A session is a connection that was looked at, on which a write commits by itself.
//
// A connection of a pool may be in a transaction that somebody left open, and what is written there may be rolled back after
// it was confirmed. So each write is preceded by a look at its connection, which nobody else uses in between, and is bound
// to what the look has found by mark:
//
//   - MySQL: the look sets the variable @snow to a random number, and fails where the session or the server is not fit. The
//     write finds its row only where @snow is this number. A binary log of statements has the variable's value in front of
//     the write: replicas, and whoever replays the log, do the same, whatever their own settings. What the server is like
//     during the write itself is told by the write's insert id, which is 0 on one that has become read-only.
//   - PostgreSQL: the look reads now(), which is the start of the transaction. A write in the same transaction has the same.
//   - SQLite: the look begins a transaction and ends it, which fails within another one.
type session struct {
	*sql.Conn
	engine *engine
	need   need
	mark   int64

	standbys string // of PostgreSQL: synchronous_standby_names
}

const (
	mostLeft  = 8  // connections in a transaction that are passed over
	mostStale = 10 // connections that turn out to be closed
)

// alone calls do with a connection on which a write commits by itself; do reports whether it changed something. Connections
// that are in a transaction are passed over, and kept meanwhile, so that the pool gives another one.
func (e *engine) alone(ctx context.Context, db *sql.DB, n need, do func(*session) (changed bool, err error)) error {
	var left []*sql.Conn
	defer func() {
		for _, conn := range left {
			_ = conn.Close()
		}
	}()
	for stale := 0; ; {
		conn, err := connect(ctx, db)
		if err != nil {
			return err
		}
		s := &session{Conn: conn, engine: e, need: n}
		if err = e.look(ctx, s); err == nil {
			var changed bool
			if changed, err = do(s); err == nil && !changed {
				err = s.apart(ctx)
			} else if err == nil && e.settle != nil {
				err = e.settle(ctx, s)
			}
			if err == nil {
				err = ctx.Err() // some drivers and servers answer a cancelled wait for a replica as if it had been one
			}
		} else if errors.Is(err, driver.ErrBadConn) && stale < mostStale {
			stale++
			_ = conn.Close()
			continue
		}
		if !e.isLeft(err) || len(left) == mostLeft || isFull(db) {
			_ = conn.Close()
			return err
		}
		left = append(left, conn)
	}
}

// connect is db.Conn with an error that says whose fault it is.
func connect(ctx context.Context, db *sql.DB) (*sql.Conn, error) {
	conn, err := db.Conn(ctx)
	if err != nil && ctx.Err() != nil && isFull(db) {
		err = fmt.Errorf("no connection, all %d of the pool are in use: %w", db.Stats().MaxOpenConnections, err)
	}
	return conn, err
}

// isFull reports whether a pool has no connection to spare.
func isFull(db *sql.DB) bool {
	s := db.Stats()
	return s.MaxOpenConnections > 0 && s.InUse >= s.MaxOpenConnections
}

// isLeft reports whether an error says that the connection was left in a transaction. Nothing was done then.
func (e *engine) isLeft(err error) bool {
	return err != nil && (errors.Is(err, ErrInTransaction) || e.dialect.Classify(err) == sqldialect.InTransaction)
}

// apart returns ErrInTransaction where the session is still in the transaction that it was in when it was looked at. It is for
// statements that are not bound to the mark, and for those that changed nothing.
func (s *session) apart(ctx context.Context) error {
	if s.engine.apart == nil {
		return nil
	}
	return s.engine.apart(ctx, s)
}

// arguments returns the values of a statement's parameters, the mark among them.
func (s *session) arguments(st statement, values map[string]any) []any {
	values["mark"] = s.mark
	return st.arguments(values)
}

// exec executes a statement and returns how many rows it changed, and its insert id where it changed one.
func (s *session) exec(ctx context.Context, st statement, values map[string]any) (n, id int64, err error) {
	result, err := s.ExecContext(ctx, st.text, s.arguments(st, values)...)
	if err != nil {
		return 0, 0, err
	}
	if n, err = result.RowsAffected(); err != nil || n == 0 || s.engine.told != "" {
		return n, 0, err
	}
	if id, err = result.LastInsertId(); err == nil && id == 0 {
		if err = errUntold; s.isReadOnly(ctx) {
			err = fmt.Errorf("%w, and became so during the write", ErrReadOnly)
		}
	}
	return n, id, err
}

// query executes a statement that returns a row if it changed one.
func (s *session) query(ctx context.Context, st statement, values map[string]any, places ...any) (changed bool, err error) {
	rows, err := s.QueryContext(ctx, st.text, s.arguments(st, values)...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() { // to the end: SQLite commits there
		if err := rows.Scan(places...); err != nil {
			return false, err
		}
		changed = true
	}
	return changed, errors.Join(rows.Err(), rows.Close())
}

// insert executes an INSERT, which has no mark.
func (e *engine) insert(ctx context.Context, db *sql.DB, n need, st statement, values map[string]any) error {
	return e.alone(ctx, db, n, func(on *session) (bool, error) {
		if err := on.apart(ctx); err != nil {
			return false, err
		}
		_, err := on.ExecContext(ctx, st.text, on.arguments(st, values)...)
		return true, err
	})
}

func (s *session) isReadOnly(ctx context.Context) bool {
	f, err := s.engine.askFacts(ctx, s.Conn)
	return err == nil && f.readOnly
}

// errUntold is of a write that was done, though nobody knows how.
var errUntold = fmt.Errorf("%w: it has no number in it; the table has a trigger, or the server was read-only for a moment", ErrBadReply)

// lookMySQL sets the mark in the session. It fails with "out of range" where the session is not fit; the first assignment, which
// changes nothing, fails within a transaction, which only MariaDB has a variable for.
func lookMySQL(ctx context.Context, s *session) error {
	s.mark = 1 + rand.Int64N(1<<53)
	_, err := s.ExecContext(ctx, setMark(s.need, s.mark))
	if err == nil || codeOf(err) != "1690" {
		return err
	}
	f, failed := s.engine.askFacts(ctx, s.Conn)
	if failed != nil {
		return failed
	}
	if f.inTransaction {
		return ErrInTransaction
	}
	loss := longestLoss
	if s.need == toNumber {
		loss = 0
	}
	if err := f.check(loss); err != nil {
		return err
	}
	return errRefused
}

func setMark(n need, mark int64) string {
	only, fit := "/*!50720 @@transaction_isolation = @@transaction_isolation, */ ", mysqlLone+" AND "+mysqlLogged
	switch n {
	case toMigrate: // which also is for those who connect with autocommit=0
		only, fit = "", mysqlMigrates
	case toNumber:
		fit += " AND " + mysqlDurable
	}
	return fmt.Sprintf("SET %s@snow = %d + IF(%s AND %s, 0, 9223372036854775807)", only, mark, fit, mysqlWrites)
}

// lookPostgres is VALUES and not SELECT, which proxies send to replicas.
func lookPostgres(ctx context.Context, s *session) error {
	return s.QueryRowContext(ctx, "VALUES ("+postgresBegun+", current_setting('synchronous_standby_names'))").Scan(&s.mark, &s.standbys)
}

// settlePostgres waits until the synchronous standbys have what was written, where there are some. The server waits for them
// before it confirms a commit, but a wait that is cancelled, with pg_cancel_backend, is confirmed as well, with a warning.
func settlePostgres(ctx context.Context, s *session) error {
	if s.standbys == "" || s.need == toMigrate || s.need == toLeaseLossy {
		return nil
	}
	var position string
	if err := s.QueryRowContext(ctx, "VALUES (CAST(pg_current_wal_flush_lsn() AS text))").Scan(&position); err != nil {
		return err
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		var have int
		err := s.QueryRowContext(ctx, "SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum') AND flush_lsn >= CAST($1 AS pg_lsn)", position).Scan(&have)
		if err == nil && have < standbys(s.standbys) {
			err = pause(ctx, wait)
		} else {
			return err
		}
		if err != nil {
			return fmt.Errorf("%d of the %d standbys that synchronous_standby_names asks for have it: %w", have, standbys(s.standbys), err)
		}
	}
}

// standbys returns how many standbys synchronous_standby_names asks for, as in "FIRST 2 (a, b, c)", "ANY 1 (*)", "2 (a, b)" and "a, b".
func standbys(names string) int {
	before, _, listed := strings.Cut(names, "(")
	words := strings.Fields(before)
	if n := len(words); listed && n > 0 {
		if count, err := strconv.Atoi(words[n-1]); err == nil {
			return max(count, 1)
		}
	}
	return 1
}

func apartPostgres(ctx context.Context, s *session) error {
	before := s.mark
	if err := lookPostgres(ctx, s); err != nil {
		return err
	}
	if s.mark == before {
		return ErrInTransaction
	}
	return nil
}

func lookSQLite(ctx context.Context, s *session) error {
	if _, err := s.ExecContext(ctx, "BEGIN"); err != nil {
		if codeOf(err) == "1" {
			err = ErrInTransaction
		}
		return err
	}
	if _, err := s.ExecContext(context.WithoutCancel(ctx), "ROLLBACK"); err != nil {
		discard(s.Conn)
		return err
	}
	return nil
}
