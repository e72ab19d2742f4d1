package job

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/shardsnow/snow/internal/sqldialect"
)

// A querier is a pool, a session or a transaction.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// An engine is the SQL that differs between databases.
type engine interface {
	// sql returns a statement of the job with the dialect's placeholders for question marks.
	sql(text string) string
	tables() []string // the statements that create the tables where they are missing
	// here returns what tells the database, or the schema, from the others of the server.
	here() string
	now() string // the time, by the database's clock
	// age returns an expression of seconds since the time in a column.
	age(column string) string
	inserted(text string) string // an INSERT that does nothing where the key is there
	// lock takes the lock of a session, which ends with the session. It does not wait.
	lock(ctx context.Context, q querier, place string, session int64) (bool, error)
	// holder returns the number by which kill ends the session that has the lock, or 0.
	holder(ctx context.Context, q querier, place string, session int64) (int64, error)
	kill(ctx context.Context, q querier, id int64) error
	running() string // a statement for the number of busy sessions
}

func engineOf(d sqldialect.Dialect) (engine, error) {
	switch d {
	case sqldialect.MySQL:
		return mysqlEngine{}, nil
	case sqldialect.Postgres:
		return postgresEngine{}, nil
	}
	return nil, fmt.Errorf("a database of %s is not converted in place", d)
}

type mysqlEngine struct{}

func (mysqlEngine) sql(text string) string { return text }

func (mysqlEngine) tables() []string {
	const kind = " ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
	return []string{
		`CREATE TABLE IF NOT EXISTS snow_convert_run (id INT PRIMARY KEY, plan LONGTEXT NOT NULL, baseline LONGTEXT NOT NULL, fence BIGINT NOT NULL,
			holder VARCHAR(255) NOT NULL, begun DATETIME(6) NOT NULL)` + kind,
		`CREATE TABLE IF NOT EXISTS snow_convert_steps (name VARCHAR(255) PRIMARY KEY, seq INT NOT NULL, state VARCHAR(20) NOT NULL,
			gate INT NOT NULL, position LONGTEXT NOT NULL, done_rows BIGINT NOT NULL, of_rows BIGINT NOT NULL,
			begun DATETIME(6) NULL, ended DATETIME(6) NULL)` + kind,
		`CREATE TABLE IF NOT EXISTS snow_convert_run_sessions (session BIGINT PRIMARY KEY, fence BIGINT NOT NULL, holder VARCHAR(255) NOT NULL,
			step VARCHAR(255) NOT NULL, done_rows BIGINT NOT NULL, of_rows BIGINT NOT NULL, seen DATETIME(6) NOT NULL)` + kind,
	}
}

func (mysqlEngine) here() string { return "SELECT DATABASE()" }
func (mysqlEngine) now() string  { return "UTC_TIMESTAMP(6)" }

func (mysqlEngine) age(column string) string {
	return "TIMESTAMPDIFF(MICROSECOND, " + column + ", UTC_TIMESTAMP(6)) / 1e6"
}

func (mysqlEngine) inserted(text string) string { return "INSERT IGNORE" + text[len("INSERT"):] }

// lockName is unique on the server, because locks of sessions don't belong to a database.
func lockName(place string, session int64) string {
	sum := sha256.Sum256([]byte(place))
	return fmt.Sprintf("snow_convert.%x.%d", sum[:8], session)
}

func (mysqlEngine) lock(ctx context.Context, q querier, place string, session int64) (bool, error) {
	var got sql.NullBool
	err := q.QueryRowContext(ctx, "SELECT GET_LOCK(?, 0)", lockName(place, session)).Scan(&got)
	return got.Bool, err
}

func (mysqlEngine) holder(ctx context.Context, q querier, place string, session int64) (int64, error) {
	var id sql.NullInt64
	err := q.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?)", lockName(place, session)).Scan(&id)
	return id.Int64, err
}

func (mysqlEngine) kill(ctx context.Context, q querier, id int64) error {
	_, err := q.ExecContext(ctx, "KILL CONNECTION "+strconv.FormatInt(id, 10))
	if sqldialect.Code(err) == "1094" { // it has ended by itself
		return nil
	}
	return err
}

func (mysqlEngine) running() string {
	return "SHOW GLOBAL STATUS LIKE 'Threads_running'"
}

type postgresEngine struct{}

func (postgresEngine) sql(text string) string {
	var out []byte
	for i, n := 0, 0; i < len(text); i++ {
		if text[i] == '?' {
			n++
			out = append(out, sqldialect.Postgres.Placeholder(n)...)
			continue
		}
		out = append(out, text[i])
	}
	return string(out)
}

func (postgresEngine) tables() []string {
	return []string{
		`CREATE TABLE IF NOT EXISTS snow_convert_run (id INT PRIMARY KEY, plan TEXT NOT NULL, baseline TEXT NOT NULL, fence BIGINT NOT NULL,
			holder TEXT NOT NULL, begun TIMESTAMPTZ NOT NULL)`,
		`CREATE TABLE IF NOT EXISTS snow_convert_steps (name TEXT PRIMARY KEY, seq INT NOT NULL, state TEXT NOT NULL,
			gate INT NOT NULL, position TEXT NOT NULL, done_rows BIGINT NOT NULL, of_rows BIGINT NOT NULL,
			begun TIMESTAMPTZ, ended TIMESTAMPTZ)`,
		`CREATE TABLE IF NOT EXISTS snow_convert_run_sessions (session BIGINT PRIMARY KEY, fence BIGINT NOT NULL, holder TEXT NOT NULL,
			step TEXT NOT NULL, done_rows BIGINT NOT NULL, of_rows BIGINT NOT NULL, seen TIMESTAMPTZ NOT NULL)`,
	}
}

func (postgresEngine) here() string { return "SELECT current_schema()" }
func (postgresEngine) now() string  { return "clock_timestamp()" }

func (postgresEngine) age(column string) string {
	return "EXTRACT(EPOCH FROM clock_timestamp() - " + column + ")::float8"
}

func (postgresEngine) inserted(text string) string { return text + " ON CONFLICT DO NOTHING" }

// lockKey is unique in the database, which advisory locks belong to.
func lockKey(place string, session int64) uint64 {
	sum := sha256.Sum256([]byte(lockName(place, session)))
	return binary.BigEndian.Uint64(sum[:])
}

func (postgresEngine) lock(ctx context.Context, q querier, place string, session int64) (bool, error) {
	var got bool
	err := q.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", int64(lockKey(place, session))).Scan(&got)
	return got, err
}

func (postgresEngine) holder(ctx context.Context, q querier, place string, session int64) (int64, error) {
	key := lockKey(place, session)
	var pid int64
	err := q.QueryRowContext(ctx, `SELECT pid FROM pg_catalog.pg_locks
		WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
			AND classid::bigint = $1 AND objid::bigint = $2 AND objsubid = 1 AND granted`, int64(key>>32), int64(key&(1<<32-1))).Scan(&pid)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return pid, err
}

func (postgresEngine) kill(ctx context.Context, q querier, id int64) error {
	_, err := q.ExecContext(ctx, "SELECT pg_terminate_backend($1::int)", id)
	return err
}

func (postgresEngine) running() string {
	return `SELECT 'active', count(*) FROM pg_catalog.pg_stat_activity
		WHERE state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid()`
}
