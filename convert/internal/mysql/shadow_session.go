package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/sqldialect"
)

// A session is a connection with settings of its own. It is thrown away at the end, so nobody else gets them.
type session struct {
	*sql.Conn
	mariaDB   bool
	keysInSQL bool // foreign keys are not InnoDB's
}

// open makes a session. Writing a zero or an impossible date that a table has is no error in it, and times are UTC.
// Statements wait no longer than a second for a table.
func open(ctx context.Context, db *sql.DB) (*session, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("mysql: connect: %w", err)
	}
	s := &session{Conn: conn}
	for _, setting := range []string{
		"SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES,STRICT_ALL_TABLES'",
		"SET SESSION time_zone = '+00:00', foreign_key_checks = 0, unique_checks = 1, sql_safe_updates = 0",
		"SET SESSION lock_wait_timeout = 1, innodb_lock_wait_timeout = 1",
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
		"SET NAMES utf8mb4",
	} {
		if err := s.exec(ctx, setting); err != nil {
			s.close()
			return nil, err
		}
	}
	version, err := texts(ctx, s, "SELECT VERSION()")
	if err != nil {
		s.close()
		return nil, err
	}
	s.mariaDB = strings.Contains(version[0][0], "MariaDB")
	native, err := texts(ctx, s, "SHOW VARIABLES LIKE 'innodb_native_foreign_keys'")
	if err != nil {
		s.close()
		return nil, err
	}
	s.keysInSQL = len(native) > 0 && native[0][1] == "OFF"
	return s, nil
}

// close ends the connection.
func (s *session) close() {
	_ = s.Raw(func(any) error { return driver.ErrBadConn })
	_ = s.Close()
}

func (s *session) exec(ctx context.Context, statement string) error { return exec(ctx, s, statement) }

// A querier is a session or a transaction.
type querier interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

func exec(ctx context.Context, q querier, statement string) error {
	_, err := execCount(ctx, q, statement)
	return err
}

// execCount returns how many rows a statement has changed.
func execCount(ctx context.Context, q querier, statement string) (int64, error) {
	done, err := q.ExecContext(ctx, statement)
	if err != nil {
		return 0, fmt.Errorf("mysql: %.300q: %w", statement, err)
	}
	n, err := done.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("mysql: rows of %.300q: %w", statement, err)
	}
	return n, nil
}

// texts returns the rows of a query. A value that is NULL is the empty text.
func texts(ctx context.Context, q querier, query string, args ...any) ([][]string, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("mysql: %.300q: %w", query, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, fmt.Errorf("mysql: columns of %.300q: %w", query, err)
	}
	var all [][]string
	for rows.Next() {
		values := make([]sql.NullString, len(names))
		into := make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, fmt.Errorf("mysql: %.300q: %w", query, err)
		}
		row := make([]string, len(names))
		for i, v := range values {
			row[i] = v.String
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("mysql: %.300q: %w", query, err)
	}
	return all, nil
}

// isBusy reports whether a statement has failed because others use the table.
func isBusy(err error) bool { return sqldialect.MySQL.Classify(err) == sqldialect.Busy }

// errBusy says that others have used the table at each try.
var errBusy = errors.New("transactions use the table all the time")

// patiently repeats what needs a table for itself. Each try stops after the second that lock_wait_timeout allows, and
// lets those pass who wait behind it. The pauses become longer, up to twice that.
func patiently(ctx context.Context, try func() error) error {
	for n := range 600 {
		err := try()
		if !isBusy(err) {
			return err
		}
		if err := sleep(ctx, time.Duration(min(n+1, 20))*100*time.Millisecond); err != nil {
			return err
		}
	}
	return errBusy
}

// locked does something while nobody else writes or reads the tables.
func (s *session) locked(ctx context.Context, tables []string, do func() error) error {
	statement := "LOCK TABLES " + each(tables, ", ", func(name string) string { return quote(name) + " WRITE" })
	return patiently(ctx, func() error {
		if err := s.lock(ctx, statement); err != nil {
			return err
		}
		err := do()
		if unlocked := s.exec(context.WithoutCancel(ctx), "UNLOCK TABLES"); err == nil {
			err = unlocked
		}
		return err
	})
}

// lock tries a statement that locks tables, some times without waiting, and then with. While it waits, a transaction
// that needs another table of the group can meet a deadlock (1213), and the server chooses that transaction: so it is
// with each ALTER and RENAME. MySQL always waits.
func (s *session) lock(ctx context.Context, statement string) error {
	if !s.mariaDB {
		return s.exec(ctx, statement)
	}
	for n := range 20 {
		err := s.exec(ctx, "SET STATEMENT lock_wait_timeout = 0 FOR "+statement)
		if !isBusy(err) {
			return err
		}
		if err := sleep(ctx, time.Duration(n)*5*time.Millisecond); err != nil {
			return err
		}
	}
	return s.exec(ctx, statement)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return fmt.Errorf("mysql: wait: %w", context.Cause(ctx))
	case <-timer.C:
		return nil
	}
}
