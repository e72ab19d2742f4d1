package sqlsnow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/retry"
	"github.com/shardsnow/snow/migrations"
)

// Migrate makes the tables of this package and of packages segments and numbers, for programs
// without a migration tool: it applies the files of package migrations that are
// missing and records them in a table snow_migrations. If none is missing it
// only reads, and needs no right but to read that table.
//
// Any number of processes may call it at the same time: one applies the files,
// the others wait for it, at most until ctx ends. On SQLite the connections need
// a busy timeout for that. A tool may apply the same files before or after:
// Migrate records files whose table exists, and applies files again whose table
// is gone. If a file fails, the files before it stay applied on MySQL; PostgreSQL
// and SQLite roll them back. The next call goes on from there.
//
// Files that a newer version of this package has recorded are no error, so that
// an old process can restart while a new version is rolled out. Migrate never drops
// anything, so older versions still find their tables.
//
// The error names the file, as in "sqlsnow: migrate: 0002_snow_workers: …".
// An unknown Dialect, or another server's, is a [*snow.FieldError].
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
	e, err := dbserver.MigrationsFor(d)
	if err != nil {
		return err
	}
	info, err := e.Info(ctx, db)
	if err != nil {
		return checkDialect(ctx, db, d, exported(e, "list tables", err))
	}
	m := migratorOf(e.In(info))
	if missing, err := m.missing(ctx, db, info); err != nil || len(missing) == 0 {
		return err
	}
	for tries := 0; ; tries++ {
		begun := false
		err := m.engine.Write(ctx, db, dbserver.ForMigration, func(on *dbserver.Session) (bool, error) {
			if err := on.CheckTransaction(ctx); err != nil {
				return false, err
			}
			begun = true
			return true, m.migrate(ctx, on.Conn)
		})
		if err == nil {
			return nil
		}
		if !begun {
			err = exported(e, "begin", err)
		}
		// A lock of MySQL belongs to one node: other nodes of a Galera cluster may migrate at the same time.
		if !e.IsBusy(err) && !errors.Is(err, ErrNotMigrated) || tries == retry.MaxTries || retry.Pause(ctx, 100*time.Millisecond) != nil {
			return err
		}
	}
}

// migrate applies the missing files on one connection, because locks and transactions belong to a connection.
func (m migrator) migrate(ctx context.Context, conn *sql.Conn) error {
	if err := m.lock(ctx, conn); err != nil {
		dbserver.Discard(conn) // the connection may have the lock all the same
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
		dbserver.Discard(conn)
	}
	return err
}

// A migrator migrates databases of one dialect.
type migrator struct {
	engine *dbserver.Engine
	files  fs.FS
	table  string // makes snow_migrations
	record string
	// begins a transaction and takes the lock; empty on MySQL, where tables can't be made in a transaction
	begin []string
	// follows COMMIT and ROLLBACK, so that they leave the connection in no transaction, even with completion_type=CHAIN
	ending string
	unlock []string // sent after the end of the transaction
}

// lockName names the lock on MySQL. Locks there belong to the whole server, and their names have at most 64 characters.
func lockName(e *dbserver.Engine) string {
	schema := []rune(e.Schema())
	return e.Dialect.Literal(string(schema[:min(len(schema), 48)]) + ".snow_migrations")
}

func migratorOf(e *dbserver.Engine) migrator {
	switch e.Dialect {
	case MySQL:
		return migrator{
			engine: e,
			files:  migrations.MySQL(),
			table: "CREATE TABLE IF NOT EXISTS snow_migrations (version INT NOT NULL PRIMARY KEY," +
				" name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, applied_at DATETIME NOT NULL) ENGINE=InnoDB",
			record: "REPLACE INTO snow_migrations (version, name, applied_at) VALUES (?, ?, UTC_TIMESTAMP())",
			ending: " AND NO CHAIN NO RELEASE",
			unlock: []string{"DO RELEASE_LOCK(" + lockName(e) + ")"},
		}
	case Postgres:
		return migrator{
			engine: e,
			files:  migrations.Postgres(),
			table: "CREATE TABLE IF NOT EXISTS snow_migrations (version INT NOT NULL PRIMARY KEY," +
				" name VARCHAR(64) NOT NULL, applied_at TIMESTAMPTZ NOT NULL)",
			record: "INSERT INTO snow_migrations (version, name, applied_at) VALUES ($1, $2, clock_timestamp())" +
				" ON CONFLICT (version) DO UPDATE SET name = EXCLUDED.name, applied_at = EXCLUDED.applied_at",
			// A stricter isolation would show the tables as they were before the wait for the lock. The number is
			// "snow_mig" in ASCII.
			begin: []string{"BEGIN ISOLATION LEVEL READ COMMITTED", "SELECT pg_advisory_xact_lock(8317708120292682087)"},
		}
	default:
		return migrator{
			engine: e,
			files:  migrations.SQLite(),
			table: "CREATE TABLE IF NOT EXISTS snow_migrations (version INTEGER NOT NULL PRIMARY KEY," +
				" name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT",
			record: "REPLACE INTO snow_migrations (version, name, applied_at) VALUES (?, ?, CURRENT_TIMESTAMP)",
			begin:  []string{"BEGIN IMMEDIATE"},
		}
	}
}

// lock waits for the lock. On MySQL it waits in steps, because the server is slow to notice that a waiting client
// is gone.
func (m migrator) lock(ctx context.Context, conn *sql.Conn) error {
	for m.begin == nil {
		got, err := column[sql.NullInt64](ctx, conn, "SELECT GET_LOCK("+lockName(m.engine)+", 5)")
		switch {
		case err != nil:
			return databaseError(m.engine, "lock", err)
		case len(got) != 1 || !got[0].Valid:
			return errors.New("lock: the server can't take it")
		case got[0].Int64 == 1:
			return nil
		}
	}
	return m.run(ctx, conn, "lock", m.begin...)
}

// apply applies the files that are missing. The caller has the lock.
func (m migrator) apply(ctx context.Context, conn *sql.Conn) error {
	info, err := m.engine.Ask(ctx, conn) // another process may have applied them during the wait for the lock
	if err != nil {
		return databaseError(m.engine, "list tables", err)
	}
	missing, err := m.missing(ctx, conn, info)
	if err != nil {
		return err
	}
	if err := m.run(ctx, conn, "snow_migrations", m.engine.Qualify(m.table)); err != nil {
		return err
	}
	for _, f := range missing {
		if err := m.run(ctx, conn, f.name, m.engine.Qualify(f.statement)); err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, m.engine.Qualify(m.record), f.version, f.name); err != nil {
			return databaseError(m.engine, f.name+": record", err)
		}
	}
	return m.run(ctx, conn, "commit", "COMMIT"+m.ending) // MySQL needs it on connections with autocommit=0
}

// run executes statements. The error names op.
func (m migrator) run(ctx context.Context, conn *sql.Conn, op string, statements ...string) error {
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return databaseError(m.engine, op, err)
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

// missing returns the first migration that is not applied, and all that follow it.
func (m migrator) missing(ctx context.Context, conn dbserver.Queryer, info dbserver.Info) ([]migration, error) {
	all, err := readMigrations(m.files)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(info.Tables, "snow_migrations") {
		return all, nil
	}
	versions, err := column[int](ctx, conn, m.engine.Qualify("SELECT version FROM snow_migrations"))
	if err != nil {
		return nil, databaseError(m.engine, "snow_migrations", err)
	}
	for i, f := range all {
		if !slices.Contains(versions, f.version) || !slices.Contains(info.Tables, f.table) {
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
func column[T any](ctx context.Context, conn dbserver.Queryer, query string) (values []T, err error) {
	rows, err := conn.QueryContext(ctx, query+dbserver.NoLimit)
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
