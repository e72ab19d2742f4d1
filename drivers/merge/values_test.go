//go:build unix

package merge_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// transfer merges one source, made by statements, into a target, and returns both.
func transfer(t *testing.T, d sqlsnow.Dialect, open func() *sql.DB, statements ...string) (source, target *sql.DB) {
	t.Helper()
	source, target = open(), open()
	for _, text := range statements {
		if _, err := source.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	if err := sqlsnow.Migrate(t.Context(), target, d); err != nil {
		t.Fatal(err)
	}
	if err := sqlsnow.Init(t.Context(), target, d, sqlsnow.Namespace{Name: "game", Layout: snow.DefaultLayout(), Workers: 4}); err != nil {
		t.Fatal(err)
	}
	sources := []merge.Source{{Name: "s1", DB: source}}
	p, err := merge.Inspect(t.Context(), d, sources...)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range p.Tables {
		for _, c := range table.Columns {
			c.Decided = true
			if c.Role == plan.RoleUndecided {
				c.Role = plan.RolePlain
			}
			if c.Role == plan.RoleKey {
				table.NewIDs = []string{"s1"}
			}
		}
		for _, u := range table.Unique {
			u.Decided = true
		}
	}
	schema, err := p.Schema()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range schema {
		if _, err := target.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	m, err := merge.New(d, target, sources, p, merge.Config{Namespace: "game"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return source, target
}

// asProposed answers the questions of a plan as proposed.
func asProposed(p *plan.Plan) {
	for _, q := range p.Questions {
		q.Answer = plan.AnswerEach
	}
}

// lines returns what a query returns, which has texts only.
func lines(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text sql.NullString
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text.String)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// Values of all types arrive as they are, whatever the driver is set to.
func TestPostgreSQLValues(t *testing.T) {
	server := dbtest.Postgres(t)
	const columns = `id SERIAL PRIMARY KEY, si SMALLINT, bi BIGINT, nu NUMERIC, n2 NUMERIC(12,3), re REAL, dp DOUBLE PRECISION, bo BOOLEAN, ch CHAR(5), vc VARCHAR(50), tx TEXT,
		by BYTEA, da DATE, tm TIME(3), tz TIMETZ, ts TIMESTAMP, tt TIMESTAMPTZ, iv INTERVAL, uu UUID, js JSON, jb JSONB, ia INT[], ta TEXT[][], ip INET, ra INT4RANGE, bt BIT VARYING(9), en mood, pt POINT`
	for name, parameters := range map[string]string{
		"default":      "",
		"kolkata":      "&TimeZone=Asia%2FKolkata&datestyle=SQL,DMY&intervalstyle=sql_standard&extra_float_digits=0&bytea_output=escape",
		"simple":       "&default_query_exec_mode=simple_protocol",
		"exec":         "&default_query_exec_mode=exec",
		"serializable": "&default_transaction_isolation=serializable",
	} {
		t.Run(name, func(t *testing.T) {
			open := func() *sql.DB {
				return opened(t, "pgx", server.DSN(server.CreateDatabase(t))+parameters)
			}
			source, target := transfer(t, sqlsnow.Postgres, open, "CREATE TYPE mood AS ENUM ('sad', 'it''s')", "CREATE TABLE kinds ("+columns+")",
				`INSERT INTO kinds VALUES (DEFAULT, -32768, 9223372036854775807, 123456789012345678901234567890.000100, -0.5, 3.4028235e38, 5e-324, TRUE, 'a ', 'quote '' \ tab	雪🙂', E'line\nline',
					'\x00ff5c27', '0044-03-15 BC', '23:59:59.999', '01:02:03+05:30', 'infinity', '2024-10-27 01:30:00.123456+00', '1 year -2 days 03:04:05.6',
					'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{"a": 1.10,  "a": 2}', '{"b": [null, 1.10]}', '{1,NULL,-3}', '{{a,"b c"},{"\"",NULL}}', '10.0.0.1/8', '[1,5)', B'10101', 'it''s', '(1.5,-2)')`,
				`INSERT INTO kinds (nu, re, dp, ts, iv) VALUES ('NaN', 'NaN', '-Infinity', '4713-01-01 00:00:00 BC', '-1 mon')`,
				`INSERT INTO kinds (re, dp, tx, by, ia) VALUES (0.1, 0.1, '', '', '{}')`,
				`INSERT INTO kinds DEFAULT VALUES`)
			const query = `SELECT to_jsonb(kinds) - 'id' - 'by' - 're' - 'dp' || jsonb_build_object('by', encode(by, 'hex'), 're', encode(float4send(re), 'hex'), 'dp', encode(float8send(dp), 'hex'), 'js', js::text) FROM kinds ORDER BY id`
			if got, want := lines(t, target, query), lines(t, source, query); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// SQLite's values have types of their own, whatever their columns say.
func TestSQLiteValues(t *testing.T) {
	n := 0
	dir := t.TempDir()
	open := func() *sql.DB {
		n++
		db := opened(t, "sqlite3", "file:"+filepath.Join(dir, fmt.Sprint(n, ".db"))+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)")
		db.SetMaxOpenConns(1)
		return db
	}
	source, target := transfer(t, sqlsnow.SQLite, open,
		"CREATE TABLE kinds (id INTEGER PRIMARY KEY, i INTEGER, t TEXT, r REAL, n NUMERIC, b BLOB, d DATETIME, bo BOOLEAN, x)",
		`INSERT INTO kinds VALUES (1, 9223372036854775807, 'quote '' 雪🙂', 1.5, '0.1', X'00FF', '2024-02-30 25:00:00', 1, NULL)`,
		`INSERT INTO kinds VALUES (2, 'text', X'61', 'text', 1e300, 'text', 1717245045, 'true', X'')`,
		`INSERT INTO kinds VALUES (3, 1.5, 12, 3, X'00', 7, '2024-06-01T12:30:45Z', 0, -0.0)`,
		`INSERT INTO kinds VALUES (4, NULL, '', 9e999, -9e999, '', '', NULL, 5e-324)`)
	const query = `SELECT typeof(i) || quote(i) || typeof(t) || quote(t) || typeof(r) || quote(r) || typeof(n) || quote(n) || typeof(b) || quote(b) || typeof(d) || quote(d) ||
		typeof(bo) || quote(bo) || typeof(x) || quote(x) FROM kinds ORDER BY id`
	if got, want := lines(t, target, query), lines(t, source, query); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, pragma := range []string{"foreign_keys", "query_only", "busy_timeout"} {
		if got, want := lines(t, target, "PRAGMA "+pragma), lines(t, open(), "PRAGMA "+pragma); got != want {
			t.Errorf("afterwards %s is %s, and was %s", pragma, got, want)
		}
	}
}

func opened(t *testing.T, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
