//go:build unix

package sqlsnow_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

// openMySQL returns a pool that is closed when the test ends.
func openMySQL(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func exec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// answer returns the only value of a query.
func answer(t *testing.T, db *sql.DB, query string) (text string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&text); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return text
}

const (
	applied  = "SELECT COALESCE(GROUP_CONCAT(version, ' ', name ORDER BY version), '') FROM snow_migrations"
	all      = "1 0001_snow_namespaces,2 0002_snow_workers,3 0003_snow_segments,4 0004_snow_numbers"
	lock     = "CONCAT(DATABASE(), '.snow_migrations')"
	lockFree = "SELECT IS_FREE_LOCK(" + lock + ")"
	ours     = "SELECT COALESCE(GROUP_CONCAT(table_name ORDER BY table_name), '') FROM information_schema.tables WHERE table_schema = DATABASE()"
)

func migrate(t *testing.T, db *sql.DB) {
	t.Helper()
	if err := sqlsnow.Migrate(t.Context(), db, sqlsnow.MySQL); err != nil {
		t.Fatal(err)
	}
}

// wantMigrated checks that all tables can be read, what is recorded, and that the lock was given back.
func wantMigrated(t *testing.T, db *sql.DB) {
	t.Helper()
	if got := answer(t, db, applied); got != all {
		t.Errorf("snow_migrations: got %q, want %q", got, all)
	}
	if got := answer(t, db, "SELECT (SELECT COUNT(*) FROM snow_namespaces) + (SELECT COUNT(*) FROM snow_workers) + (SELECT COUNT(*) FROM snow_segments) + (SELECT COUNT(*) FROM snow_numbers)"); got != "0" {
		t.Errorf("%s rows in new tables", got)
	}
	if answer(t, db, lockFree) != "1" {
		t.Error("the lock is still held")
	}
}

func TestMigrateMariaDB(t *testing.T) {
	t.Parallel()
	server := dbtest.MariaDB(t)
	for name, test := range map[string]func(*testing.T, *dbtest.Server, string){
		"columns":                      migrateColumns,
		"reads only when done":         migrateReadsOnly,
		"fifty at once":                migrateFifty,
		"waits for the lock":           migrateWaits,
		"goes on after a failure":      migrateGoesOn,
		"after a newer version":        migrateNewer,
		"after a tool":                 migrateAfterTool,
		"one connection":               migrateOneConnection,
		"without autocommit":           migrateWithoutAutocommit,
		"context that has ended":       migrateEnded,
		"connection without database":  migrateNowhere,
		"where all are named the same": migrateTwoDatabases,
		"dialect of another server":    otherDialect,
	} {
		t.Run(name, func(t *testing.T) { test(t, server, server.DSN(server.CreateDatabase(t))) })
	}
}

func migrateColumns(t *testing.T, _ *dbtest.Server, dsn string) {
	db := openMySQL(t, dsn)
	exec(t, db, "ALTER DATABASE CHARACTER SET latin1")
	migrate(t, db)
	wantMigrated(t, db)
	const query = `SELECT CONCAT_WS(' ', data_type, character_maximum_length, collation_name, IF(is_nullable = 'YES', 'NULL', NULL), column_key)
		FROM information_schema.columns WHERE table_schema = DATABASE() AND CONCAT(table_name, '.', column_name) = '%s'`
	for column, want := range map[string]string{
		"snow_namespaces.namespace":     "varchar 64 ascii_bin PRI",
		"snow_namespaces.layout":        "varchar 128 ascii_bin ",
		"snow_namespaces.registry_uuid": "char 36 ascii_bin ",
		"snow_namespaces.workers":       "int ",
		"snow_namespaces.window_ms":     "int ",
		"snow_workers.namespace":        "varchar 64 ascii_bin PRI",
		"snow_workers.worker_id":        "int PRI",
		"snow_workers.state":            "smallint ",
		"snow_workers.owner":            "char 32 ascii_bin NULL ",
		"snow_workers.ceiling_tick":     "bigint ",
		"snow_workers.renewed_at_ms":    "bigint ",
		"snow_workers.holder":           "varchar 255 utf8mb4_bin ",
		"snow_segments.tag":             "varchar 64 ascii_bin PRI",
		"snow_segments.next_id":         "bigint ",
		"snow_numbers.series":           "varchar 64 ascii_bin PRI",
		"snow_numbers.last_number":      "bigint ",
		"snow_numbers.pending":          "varchar 8192 ascii_bin ",
	} {
		if got := answer(t, db, fmt.Sprintf(query, column)); got != want {
			t.Errorf("%s: got %q, want %q", column, got, want)
		}
	}
	const engines = "SELECT GROUP_CONCAT(DISTINCT engine) FROM information_schema.tables WHERE table_schema = DATABASE()"
	if got := answer(t, db, engines); got != "InnoDB" {
		t.Errorf("engines: got %q, want InnoDB", got)
	}
}

// restricted returns a pool of a user who has these rights on tables of the database, such as "SELECT" on "*".
func restricted(t *testing.T, server *dbtest.Server, db *sql.DB, rights ...[2]string) *sql.DB {
	t.Helper()
	name := answer(t, db, "SELECT DATABASE()")
	exec(t, db, "CREATE USER "+name+"@'%' IDENTIFIED BY 'secret'")
	t.Cleanup(func() { _, _ = db.ExecContext(context.WithoutCancel(t.Context()), "DROP USER "+name+"@'%'") })
	for _, r := range rights {
		exec(t, db, "GRANT "+r[0]+" ON "+name+"."+r[1]+" TO "+name+"@'%'")
	}
	config, err := mysql.ParseDSN(server.DSN(name))
	if err != nil {
		t.Fatal(err)
	}
	config.User, config.Passwd = name, "secret"
	return openMySQL(t, config.FormatDSN())
}

func migrateReadsOnly(t *testing.T, server *dbtest.Server, dsn string) {
	db := openMySQL(t, dsn)
	migrate(t, db)
	when := answer(t, db, "SELECT GROUP_CONCAT(applied_at) FROM snow_migrations")
	migrate(t, db)
	exec(t, db, "DO GET_LOCK("+lock+", 0)") // nobody waits for it when there is nothing to do
	migrate(t, restricted(t, server, db, [2]string{"SELECT", "*"}))
	if got := answer(t, db, "SELECT GROUP_CONCAT(applied_at) FROM snow_migrations"); got != when {
		t.Errorf("applied at %s, and again at %s", when, got)
	}
}

func migrateFifty(t *testing.T, _ *dbtest.Server, dsn string) {
	const callers = 50
	start := make(chan struct{})
	var wg sync.WaitGroup
	for range callers {
		db := openMySQL(t, dsn)
		if err := db.PingContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			<-start
			if err := sqlsnow.Migrate(t.Context(), db, sqlsnow.MySQL); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
	wantMigrated(t, openMySQL(t, dsn))
}

// hold takes the lock of Migrate until release is called.
func hold(t *testing.T, db *sql.DB) (release func()) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got int
	if err := conn.QueryRowContext(t.Context(), "SELECT GET_LOCK("+lock+", 0)").Scan(&got); err != nil || got != 1 {
		t.Fatalf("lock: got %d, %v", got, err)
	}
	return func() {
		if _, err := conn.ExecContext(t.Context(), "DO RELEASE_LOCK("+lock+")"); err != nil {
			t.Error(err)
		}
		conn.Close()
	}
}

// await polls a query until its answer is the one that is wanted.
func await(t *testing.T, db *sql.DB, query, want string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); answer(t, db, query) != want; {
		if time.Now().After(end) {
			t.Fatalf("%s is not %s after a minute", query, want)
		}
	}
}

func migrateWaits(t *testing.T, _ *dbtest.Server, dsn string) {
	db := openMySQL(t, dsn)
	waiting := "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE 'SELECT GET_LOCK(%'"
	release := hold(t, db)

	ctx, cancel := context.WithCancel(t.Context())
	impatient, patient := make(chan error), make(chan error)
	go func() { impatient <- sqlsnow.Migrate(ctx, db, sqlsnow.MySQL) }()
	go func() { patient <- sqlsnow.Migrate(t.Context(), db, sqlsnow.MySQL) }()
	await(t, db, waiting, "2")
	cancel()
	err := <-impatient
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "sqlsnow: migrate: lock: ") {
		t.Errorf("cancelled while another holds the lock: got %v, want %v", err, context.Canceled)
	}
	if got := answer(t, db, ours); got != "" {
		t.Errorf("tables %q were made without the lock", got)
	}
	release()
	if err := <-patient; err != nil {
		t.Error(err)
	}
	await(t, db, lockFree, "1") // the server may just have given it to the one that is gone
	wantMigrated(t, db)
}

func migrateGoesOn(t *testing.T, server *dbtest.Server, dsn string) {
	admin := openMySQL(t, dsn)
	db := restricted(t, server, admin, [2]string{"ALL", "snow_migrations"}, [2]string{"ALL", "snow_namespaces"})
	db.SetMaxOpenConns(1)
	for range 2 {
		err := sqlsnow.Migrate(t.Context(), db, sqlsnow.MySQL)
		var denied *mysql.MySQLError
		if !errors.As(err, &denied) || denied.Number != 1142 || !strings.HasPrefix(err.Error(), "sqlsnow: migrate: 0002_snow_workers: ") {
			t.Errorf("without the right to make snow_workers: got %v", err)
		}
		if got, want := answer(t, admin, applied), "1 0001_snow_namespaces"; got != want {
			t.Errorf("snow_migrations: got %q, want %q", got, want)
		}
		if answer(t, db, lockFree) != "1" {
			t.Error("the lock is still held")
		}
	}
	exec(t, admin, "INSERT INTO snow_namespaces VALUES ('orders', 'l', 'u', 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)")
	migrate(t, admin)
	if got := answer(t, admin, applied); got != all {
		t.Errorf("snow_migrations: got %q, want %q", got, all)
	}
	if got := answer(t, admin, "SELECT COUNT(*) FROM snow_namespaces"); got != "1" {
		t.Errorf("namespaces: got %s, want the 1 that was there", got)
	}
}

func migrateNewer(t *testing.T, _ *dbtest.Server, dsn string) {
	db := openMySQL(t, dsn)
	migrate(t, db)
	exec(t, db, "INSERT INTO snow_migrations VALUES (9999, '9999_later', UTC_TIMESTAMP())", "DROP TABLE snow_workers")
	migrate(t, db)
	if got, want := answer(t, db, applied), all+",9999 9999_later"; got != want {
		t.Errorf("snow_migrations: got %q, want %q", got, want)
	}
}

// What a tool did is not in snow_migrations: it made the tables, or dropped them.
func migrateAfterTool(t *testing.T, _ *dbtest.Server, dsn string) {
	for done, statements := range map[string][]string{
		"made all tables":          {"DELETE FROM snow_migrations"},
		"made all before":          {"DROP TABLE snow_migrations"},
		"made the first":           {"DELETE FROM snow_migrations", "DROP TABLE snow_workers"},
		"dropped all":              {"DROP TABLE snow_numbers, snow_segments, snow_workers, snow_namespaces"},
		"dropped the last":         {"DROP TABLE snow_numbers"},
		"dropped and made one":     {"DROP TABLE snow_workers, snow_namespaces", "CREATE TABLE snow_workers LIKE kept"},
		"recorded the second only": {"DELETE FROM snow_migrations WHERE version = 1"},
	} {
		t.Run(done, func(t *testing.T) {
			db := openMySQL(t, dsn)
			migrate(t, db)
			exec(t, db, "CREATE TABLE IF NOT EXISTS kept LIKE snow_workers")
			exec(t, db, statements...)
			migrate(t, db)
			wantMigrated(t, db)
		})
	}
}

func migrateOneConnection(t *testing.T, _ *dbtest.Server, dsn string) {
	db := openMySQL(t, dsn)
	db.SetMaxOpenConns(1)
	before := answer(t, db, "SELECT CONNECTION_ID()")
	migrate(t, db)
	wantMigrated(t, db)
	if got := answer(t, db, "SELECT CONNECTION_ID()"); got != before {
		t.Errorf("connection %s was replaced by %s", before, got)
	}
}

func migrateWithoutAutocommit(t *testing.T, _ *dbtest.Server, dsn string) {
	migrate(t, openMySQL(t, dsn+"&autocommit=0"))
	wantMigrated(t, openMySQL(t, dsn))
}

func migrateEnded(t *testing.T, _ *dbtest.Server, dsn string) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	db := openMySQL(t, dsn)
	if err := sqlsnow.Migrate(ctx, db, sqlsnow.MySQL); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if got := answer(t, db, ours); got != "" {
		t.Errorf("tables %q were made", got)
	}
}

func migrateNowhere(t *testing.T, server *dbtest.Server, _ string) {
	err := sqlsnow.Migrate(t.Context(), openMySQL(t, server.DSN("")), sqlsnow.MySQL)
	var refused *sqlsnow.DatabaseError
	if !errors.As(err, &refused) || !refused.Elsewhere || !strings.HasSuffix(err.Error(), "with the schema in its DSN: it has no schema") {
		t.Errorf("got %v, want a DatabaseError with Elsewhere", err)
	}
}

// The tables of another database on the server are not ours.
func migrateTwoDatabases(t *testing.T, server *dbtest.Server, dsn string) {
	migrate(t, openMySQL(t, dsn))
	other := openMySQL(t, server.DSN(server.CreateDatabase(t)))
	migrate(t, other)
	wantMigrated(t, other)
}

func otherDialect(t *testing.T, _ *dbtest.Server, dsn string) {
	db := openMySQL(t, dsn)
	ctx := t.Context()
	for _, d := range []sqlsnow.Dialect{sqlsnow.Postgres, sqlsnow.SQLite} {
		_, acquired := sqlsnow.Acquire(ctx, db, d, sqlsnow.LeaseConfig{Namespace: "orders"})
		for call, err := range map[string]error{
			"Migrate": sqlsnow.Migrate(ctx, db, d),
			"Init":    sqlsnow.Init(ctx, db, d, sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout()}),
			"Acquire": acquired,
		} {
			var field *snow.FieldError
			if !errors.As(err, &field) || field.Field != "dialect" || field.Value != d.String() || !strings.Contains(field.Bound, "MySQL") ||
				!strings.Contains(field.Bound, answer(t, db, "SELECT VERSION()")) {
				t.Errorf("%s with the dialect %v: got %v, want a FieldError that names the server", call, d, err)
			}
		}
	}
}

func TestMigrateUnknownDialect(t *testing.T) {
	for _, d := range []sqlsnow.Dialect{0, -1, 4} {
		err := sqlsnow.Migrate(t.Context(), nil, d)
		var field *snow.FieldError
		if !errors.As(err, &field) || field.Field != "dialect" || field.Value != fmt.Sprint(int(d)) {
			t.Errorf("%d: got %v, want a FieldError that names the dialect", int(d), err)
		}
	}
}

// mock returns a server that has none of our tables. It passes each statement to heard.
func mock(t *testing.T, heard func(query string)) (*sql.DB, sqlmock.Sqlmock) {
	t.Helper()
	db, m, err := sqlmock.New(sqlmock.QueryMatcherOption(sqlmock.QueryMatcherFunc(func(want, got string) error {
		heard(got)
		if !strings.HasPrefix(got, want) {
			return fmt.Errorf("got %q, want %q", got, want)
		}
		return nil
	})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.ExpectationsWereMet(); err != nil {
			t.Error(err)
		}
	})
	m.ExpectQuery("SELECT TIMESTAMPDIFF").WillReturnRows(noTables())
	// the check of the session
	m.ExpectExec("SET /*!50720 @@transaction_isolation = @@transaction_isolation, */ @snow").WillReturnResult(sqlmock.NewResult(0, 0))
	return db, m
}

// noTables is what the server says about itself, its settings first.
func noTables() *sqlmock.Rows {
	row := []driver.Value{"1", "0", "1", "1", "0", "1", "1", "0", "1", "fsync", "1", "0", "shop", "0", nil, nil, nil, nil, nil}
	return sqlmock.NewRows(make([]string, len(row))).AddRow(row...)
}

func value(v any) *sqlmock.Rows { return sqlmock.NewRows([]string{"v"}).AddRow(v) }

func TestMigrateWaitsAsLongAsContext(t *testing.T) {
	db, m := mock(t, func(string) {})
	m.ExpectQuery("SELECT GET_LOCK").WillReturnRows(value(0))
	m.ExpectQuery("SELECT GET_LOCK").WillReturnRows(value(0))
	m.ExpectQuery("SELECT GET_LOCK").WillReturnRows(value(1))
	m.ExpectQuery("SELECT TIMESTAMPDIFF").WillReturnRows(noTables())
	ok := sqlmock.NewResult(0, 0)
	m.ExpectExec("CREATE TABLE IF NOT EXISTS `shop`.snow_migrations").WillReturnResult(ok)
	m.ExpectExec("CREATE TABLE IF NOT EXISTS `shop`.snow_namespaces").WillReturnResult(ok)
	m.ExpectExec("REPLACE INTO `shop`.snow_migrations").WithArgs(1, "0001_snow_namespaces").WillReturnResult(ok)
	m.ExpectExec("CREATE TABLE IF NOT EXISTS `shop`.snow_workers").WillReturnResult(ok)
	m.ExpectExec("REPLACE INTO `shop`.snow_migrations").WithArgs(2, "0002_snow_workers").WillReturnResult(ok)
	m.ExpectExec("CREATE TABLE IF NOT EXISTS `shop`.snow_segments").WillReturnResult(ok)
	m.ExpectExec("REPLACE INTO `shop`.snow_migrations").WithArgs(3, "0003_snow_segments").WillReturnResult(ok)
	m.ExpectExec("CREATE TABLE IF NOT EXISTS `shop`.snow_numbers").WillReturnResult(ok)
	m.ExpectExec("REPLACE INTO `shop`.snow_migrations").WithArgs(4, "0004_snow_numbers").WillReturnResult(ok)
	m.ExpectExec("COMMIT").WillReturnResult(ok)
	m.ExpectExec("DO RELEASE_LOCK").WillReturnResult(ok)
	migrate(t, db)
	if got := db.Stats().OpenConnections; got != 1 {
		t.Errorf("open connections: got %d, want the 1 that was used", got)
	}
}

// A connection is closed if it may hold the lock.
func TestMigrateDropsTheConnection(t *testing.T) {
	cause := errors.New("the cause")
	for name, test := range map[string]struct {
		expect func(sqlmock.Sqlmock)
		want   string
	}{
		"server that can't lock": {
			func(m sqlmock.Sqlmock) { m.ExpectQuery("SELECT GET_LOCK").WillReturnRows(value(nil)) },
			"sqlsnow: migrate: lock: the server can't take it",
		},
		"lock of unknown outcome": {
			func(m sqlmock.Sqlmock) { m.ExpectQuery("SELECT GET_LOCK").WillReturnError(cause) },
			"sqlsnow: migrate: lock: the cause",
		},
		"lock not released": {
			func(m sqlmock.Sqlmock) {
				m.ExpectQuery("SELECT GET_LOCK").WillReturnRows(value(1))
				m.ExpectQuery("SELECT TIMESTAMPDIFF").WillReturnError(cause)
				m.ExpectExec("ROLLBACK").WillReturnResult(sqlmock.NewResult(0, 0))
				m.ExpectExec("DO RELEASE_LOCK").WillReturnError(errors.New("another"))
			},
			"sqlsnow: migrate: list tables: the cause",
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, m := mock(t, func(string) {})
			test.expect(m)
			m.ExpectClose()
			if err := sqlsnow.Migrate(t.Context(), db, sqlsnow.MySQL); err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if got := db.Stats().OpenConnections; got != 0 {
				t.Errorf("open connections: got %d, want 0", got)
			}
		})
	}
}

func TestMigrateNamesTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	db, m := mock(t, func(query string) {
		if strings.HasPrefix(query, "CREATE") {
			cancel()
		}
	})
	m.ExpectQuery("SELECT GET_LOCK").WillReturnRows(value(1))
	m.ExpectQuery("SELECT TIMESTAMPDIFF").WillReturnRows(noTables())
	m.ExpectExec("CREATE").WillDelayFor(time.Hour).WillReturnResult(sqlmock.NewResult(0, 0))
	m.ExpectExec("ROLLBACK").WillReturnResult(sqlmock.NewResult(0, 0))
	m.ExpectExec("DO RELEASE_LOCK").WillReturnResult(sqlmock.NewResult(0, 0))
	err := sqlsnow.Migrate(ctx, db, sqlsnow.MySQL)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, sqlmock.ErrCancelled) { // which says nothing of the context
		t.Errorf("got %v, want %v and %v", err, context.Canceled, sqlmock.ErrCancelled)
	}
	if got := db.Stats().OpenConnections; got != 1 {
		t.Errorf("open connections: got %d, want the 1 that was unlocked after the context had ended", got)
	}
}
