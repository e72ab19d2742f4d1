package sqlsnow

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/migrations"
)

// Migrate makes the tables of this package, for those who run no migration
// tool: it applies the files of package migrations that are missing and
// records them in a table snow_migrations. If none is missing it only reads,
// and needs no right but to read that table.
//
// Any number of processes may call it at the same time: one applies, the
// others wait, as long as ctx lets them. On SQLite that takes connections with
// a busy timeout. A tool may apply the same files before or after: those whose
// table is there and not recorded are recorded, and those whose table is gone
// are applied again. Where a file fails, the ones before it stay applied on
// MySQL, none does on PostgreSQL and SQLite, and the next call goes on from there.
//
// Files that a newer version of this package has recorded are no error, so
// that an old process can restart while a new one is rolled out. Nothing is
// ever taken away: what an older version needs stays there.
//
// The error names the file, as in "sqlsnow: migrate: 0002_snow_workers: …".
// An unknown Dialect, or that of another server, is a [*snow.FieldError].
func Migrate(ctx context.Context, db *sql.DB, d Dialect) error {
	err := migrate(ctx, db, d)
	if err == nil {
		return nil
	}
	if end := ctx.Err(); end != nil && !errors.Is(err, end) { // some drivers say "interrupted"
		err = fmt.Errorf("%w: %w", end, err)
	}
	return fmt.Errorf("sqlsnow: migrate: %w", err)
}

func migrate(ctx context.Context, db *sql.DB, d Dialect) error {
	e, err := engineOf(d)
	if err != nil {
		return err
	}
	m := e.migrator(d)
	if missing, err := m.missing(ctx, db); err != nil || len(missing) == 0 {
		return mistaken(ctx, db, d, err)
	}
	for tries := 0; ; tries++ {
		begun := false
		err := e.alone(ctx, db, toMigrate, func(on *session) (bool, error) {
			if err := on.apart(ctx); err != nil {
				return false, err
			}
			begun = true
			return true, m.migrate(ctx, on.Conn)
		})
		if err == nil {
			return nil
		}
		if !begun {
			err = e.named("begin", err)
		}
		// Locks of MySQL are a node's own: others of a Galera cluster may do the same at the same time.
		if !e.isBusy(err) && !errors.Is(err, ErrNotMigrated) || tries == mostTries || pause(ctx, 100*time.Millisecond) != nil {
			return err
		}
	}
}

// migrate applies what is missing. Locks and transactions are a connection's.
func (m migrator) migrate(ctx context.Context, conn *sql.Conn) error {
	if err := m.lock(ctx, conn); err != nil {
		discard(conn) // it may have the lock all the same
		return err
	}
	end := m.unlock
	err := m.apply(ctx, conn)
	if err != nil {
		end = append([]string{"ROLLBACK" + m.ending}, end...)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if m.run(ctx, conn, "unlock", end...) != nil {
		discard(conn)
	}
	return err
}

// discard keeps a connection from the pool; closed, it holds no lock.
func discard(conn *sql.Conn) { _ = conn.Raw(func(any) error { return driver.ErrBadConn }) }

// A migrator migrates databases of one dialect.
type migrator struct {
	*engine
	files  fs.FS
	tables string // lists tables; others than ours are no harm
	table  string // makes snow_migrations
	record string
	begin  []string // takes the lock, with a transaction where tables can be made in one; empty on MySQL
	ending string   // of COMMIT and ROLLBACK: after it the connection is in no transaction, be completion_type CHAIN
	unlock []string // after the end of the transaction
}

// lockName is of MySQL, whose locks are the server's and have names of at most 64 characters.
const lockName = "CONCAT(LEFT(IFNULL(DATABASE(), ''), 48), '.snow_migrations')"

func (e *engine) migrator(d Dialect) migrator {
	switch d {
	case MySQL:
		return migrator{
			engine: e,
			files:  migrations.MySQL(),
			tables: "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'snow%'",
			table: "CREATE TABLE IF NOT EXISTS snow_migrations (version INT NOT NULL PRIMARY KEY," +
				" name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, applied_at DATETIME NOT NULL) ENGINE=InnoDB",
			record: "REPLACE INTO snow_migrations (version, name, applied_at) VALUES (?, ?, UTC_TIMESTAMP())",
			ending: " AND NO CHAIN NO RELEASE",
			unlock: []string{"DO RELEASE_LOCK(" + lockName + ")"},
		}
	case Postgres:
		return migrator{
			engine: e,
			files:  migrations.Postgres(),
			tables: "SELECT relname::text FROM pg_catalog.pg_class" +
				" WHERE pg_catalog.pg_table_is_visible(oid) AND relname LIKE 'snow%'",
			table: "CREATE TABLE IF NOT EXISTS snow_migrations (version INT NOT NULL PRIMARY KEY," +
				" name VARCHAR(64) NOT NULL, applied_at TIMESTAMPTZ NOT NULL)",
			record: "INSERT INTO snow_migrations (version, name, applied_at) VALUES ($1, $2, clock_timestamp())" +
				" ON CONFLICT (version) DO UPDATE SET name = EXCLUDED.name, applied_at = EXCLUDED.applied_at",
			// Any stricter isolation would show what there was before the wait for the lock. The number is "snow_mig" in ASCII.
			begin: []string{"BEGIN ISOLATION LEVEL READ COMMITTED", "SELECT pg_advisory_xact_lock(8317708120292682087)"},
		}
	default:
		return migrator{
			engine: e,
			files:  migrations.SQLite(),
			tables: "SELECT name FROM sqlite_master WHERE name LIKE 'snow%'",
			table: "CREATE TABLE IF NOT EXISTS snow_migrations (version INTEGER NOT NULL PRIMARY KEY," +
				" name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT",
			record: "REPLACE INTO snow_migrations (version, name, applied_at) VALUES (?, ?, CURRENT_TIMESTAMP)",
			begin:  []string{"BEGIN IMMEDIATE"},
		}
	}
}

// lock waits for the lock. On MySQL it does so in steps: a server notices late that the client who waits in it is gone.
func (m migrator) lock(ctx context.Context, conn *sql.Conn) error {
	for m.begin == nil {
		got, err := column[sql.NullInt64](ctx, conn, "SELECT GET_LOCK("+lockName+", 5)")
		switch {
		case err != nil:
			return m.database("lock", err)
		case len(got) != 1 || !got[0].Valid:
			return errors.New("lock: the server can't take it")
		case got[0].Int64 == 1:
			return nil
		}
	}
	return m.run(ctx, conn, "lock", m.begin...)
}

// apply does what is to be done under the lock.
func (m migrator) apply(ctx context.Context, conn *sql.Conn) error {
	missing, err := m.missing(ctx, conn) // again: somebody may have been faster
	if err != nil {
		return err
	}
	if err := m.run(ctx, conn, "snow_migrations", m.table); err != nil {
		return err
	}
	for _, f := range missing {
		if err := m.run(ctx, conn, f.name, f.statement); err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, m.record, f.version, f.name); err != nil {
			return m.database(f.name+": record", err)
		}
	}
	return m.run(ctx, conn, "commit", "COMMIT"+m.ending) // on MySQL for those who connect with autocommit=0
}

// run executes statements. The error names op.
func (m migrator) run(ctx context.Context, conn *sql.Conn, op string, statements ...string) error {
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return m.database(op, err)
		}
	}
	return nil
}

// A migration is an up file. It makes one table, of the file's name.
type migration struct {
	version   int
	name      string // 0001_snow_namespaces
	table     string
	statement string
}

// missing returns the first migration that is not there, and all that follow.
func (m migrator) missing(ctx context.Context, conn queryer) ([]migration, error) {
	all, err := readMigrations(m.files)
	if err != nil {
		return nil, err
	}
	tables, err := column[string](ctx, conn, m.tables)
	if err != nil {
		return nil, m.database("list tables", err)
	}
	if !slices.Contains(tables, "snow_migrations") {
		return all, nil
	}
	versions, err := column[int](ctx, conn, "SELECT version FROM snow_migrations")
	if err != nil {
		return nil, m.database("snow_migrations", err)
	}
	for i, f := range all {
		if !slices.Contains(versions, f.version) || !slices.Contains(tables, f.table) {
			return all[i:], nil
		}
	}
	return nil, nil
}

func readMigrations(files fs.FS) (all []migration, err error) {
	const suffix = ".up.sql"
	names, err := fs.Glob(files, "*"+suffix) // sorted
	if err != nil {
		return nil, err
	}
	for _, file := range names {
		statement, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(file, suffix)
		number, table, _ := strings.Cut(name, "_")
		version, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, migration{version, name, table, string(statement)})
	}
	return all, nil
}

// column returns the single column of a query's rows.
func column[T any](ctx context.Context, conn queryer, query string) (values []T, err error) {
	rows, err := conn.QueryContext(ctx, query+noLimit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, rows.Err()
}
