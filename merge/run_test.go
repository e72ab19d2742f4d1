//go:build unix

package merge_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A fixture is some sources of one schema, and a target.
type fixture struct {
	*testing.T
	target  *sql.DB
	sources []merge.Source
	plan    *plan.Plan
	config  merge.Config
	dsn     func(database string) string // of their server
}

// newFixture makes a source of each list of statements, after those of the
// schema, and a target. Each source mints the ids of each table that has a key.
// parameters are of the DSN.
func newFixture(t *testing.T, parameters string, schema []string, sources ...[]string) *fixture {
	t.Helper()
	server := dbtest.SharedMariaDB(t)
	open := func(parameters string) *sql.DB {
		db, err := sql.Open("mysql", server.DSN(server.CreateDatabase(t))+parameters)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	f := &fixture{T: t, target: open(parameters), dsn: server.DSN, config: merge.Config{Namespace: "game", Registry: open(""), ChunkRows: 100}}
	for i, statements := range sources {
		s := merge.Source{Name: fmt.Sprintf("s%d", i+1), DB: open(parameters)}
		f.exec(s.DB, append(schema[:len(schema):len(schema)], statements...)...)
		f.sources = append(f.sources, s)
	}
	if err := errors.Join(
		sqlsnow.Migrate(t.Context(), f.config.Registry, sqlsnow.MySQL),
		sqlsnow.Init(t.Context(), f.config.Registry, sqlsnow.MySQL, sqlsnow.Namespace{Name: "game", Layout: snow.DefaultLayout(), Workers: 16}),
	); err != nil {
		t.Fatal(err)
	}
	f.inspect()
	return f
}

// inspect makes the plan of the sources, all of whose rows get new ids.
func (f *fixture) inspect() {
	f.Helper()
	var err error
	if f.plan, err = merge.Inspect(f.Context(), sqlsnow.MySQL, f.sources...); err != nil {
		f.Fatal(err)
	}
	for _, table := range f.plan.Tables {
		for _, c := range table.Columns {
			c.Decided = true
			if c.Role == plan.RoleKey {
				table.NewIDs = f.plan.Sources
			}
		}
		for _, u := range table.Unique {
			u.Decided = true
		}
	}
}

func (f *fixture) exec(db *sql.DB, statements ...string) {
	f.Helper()
	conn, err := db.Conn(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	defer conn.Close()
	for _, text := range append([]string{"SET autocommit = 1"}, statements...) {
		if _, err := conn.ExecContext(f.Context(), dbtest.Sequences(text)); err != nil {
			f.Fatalf("%s: %v", text, err)
		}
	}
}

// column returns a column of the plan.
func (f *fixture) column(table, column string) *plan.Column {
	f.Helper()
	for _, t := range f.plan.Tables {
		for _, c := range t.Columns {
			if t.Name == table && c.Name == column {
				return c
			}
		}
	}
	f.Fatalf("no column %s.%s", table, column)
	return nil
}

// tables makes the target's tables.
func (f *fixture) tables() {
	f.Helper()
	statements, err := f.plan.Schema()
	if err != nil {
		f.Fatal(err)
	}
	f.exec(f.target, statements...)
}

func (f *fixture) merge() *merge.Merge {
	f.Helper()
	m, err := merge.New(sqlsnow.MySQL, f.target, f.sources, f.plan, f.config)
	if err != nil {
		f.Fatal(err)
	}
	return m
}

func (f *fixture) run() error {
	f.Helper()
	_, err := f.merge().Run(f.Context())
	return err
}

// rows returns what a query returns, a line for each row, with NULL as -.
func (f *fixture) rows(db *sql.DB, query string) string {
	f.Helper()
	rows, err := db.QueryContext(f.Context(), query)
	if err != nil {
		f.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		f.Fatal(err)
	}
	var lines []string
	for rows.Next() {
		values, places := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			f.Fatal(err)
		}
		cells := make([]string, len(names))
		for i, v := range values {
			if cells[i] = "-"; v.Valid {
				cells[i] = v.String
			}
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	if err := rows.Err(); err != nil {
		f.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// Values of all types arrive as they are, whatever the driver is set to.
func TestMySQLValues(t *testing.T) {
	const columns = `id INT AUTO_INCREMENT PRIMARY KEY, ti TINYINT, su SMALLINT UNSIGNED, bu BIGINT UNSIGNED, de DECIMAL(30,10), fl FLOAT, db DOUBLE,
		bi BIT(20), yr YEAR, da DATE, dt DATETIME(6), ts TIMESTAMP(3) NULL, tm TIME(2), ch CHAR(5), vc VARCHAR(50), la VARCHAR(20) CHARACTER SET latin1,
		bn BINARY(4), vb VARBINARY(20), bl BLOB, tx LONGTEXT, en ENUM('x','it''s'), st SET('a','b'), js JSON, pt POINT, bo BOOLEAN`
	rows := []string{
		"SET SESSION sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'",
		`INSERT INTO kinds VALUES (NULL, -128, 65535, 18446744073709551615, -12345678901234567890.0123456789, 16777217, 0.1, b'10000000000000000001', 1901,
			'0000-00-00', '2024-02-31 23:59:59.123456', '2024-10-27 01:30:00.123', '-838:59:59.99', 'a  ', 'quote '' back \\ tab	雪🙂', 'é', X'00FF0000', X'00', X'C328',
			'line\nline', 'it''s', 'a,b', '{"a": 1.10, "b": [null]}', ST_GeomFromText('POINT(1.5 -2)', 4326), TRUE)`,
		`INSERT INTO kinds (ti) VALUES (NULL)`,
		`INSERT INTO kinds VALUES (NULL, 0, 0, 0, 0, -3.4e38, -1.7976931348623157e308, b'0', 0, '9999-12-31', '0000-00-00 00:00:00', '1970-01-01 00:00:01', '00:00:00', '', '', '',
			'', '', '', '', 'x', '', 'null', NULL, FALSE)`,
		`INSERT INTO kinds (fl, db) VALUES (1.1, 5e-324)`,
	}
	const all = `SELECT ti, su, bu, de, fl * 1e0, db, HEX(bi), yr, CAST(da AS CHAR), CAST(dt AS CHAR), CAST(ts AS CHAR), tm, HEX(ch), HEX(vc), HEX(la), HEX(bn), HEX(vb), HEX(bl),
		HEX(tx), en + 0, st + 0, js, ST_AsText(pt), ST_SRID(pt), bo FROM kinds ORDER BY id`
	for name, parameters := range map[string]string{
		"default":      "",
		"parsed":       "&parseTime=true&loc=Asia%2FKolkata",
		"interpolated": "&interpolateParams=true&clientFoundRows=true",
		"ansi":         "&sql_mode=%27ANSI,TRADITIONAL%27&time_zone=%27%2B05:30%27&autocommit=0",
		"latin1":       "&charset=latin1",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, parameters, []string{"CREATE TABLE kinds (" + columns + ") CHARACTER SET utf8mb4"}, rows)
			f.tables()
			if err := f.run(); err != nil {
				t.Fatal(err)
			}
			query := func(db *sql.DB) string {
				conn, err := db.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if _, err := conn.ExecContext(t.Context(), "SET time_zone = '+00:00'"); err != nil {
					t.Fatal(err)
				}
				return f.rows(db, strings.Replace(all, "CAST(ts AS CHAR)", "UNIX_TIMESTAMP(ts)", 1))
			}
			if got, want := query(f.target), query(f.sources[0].DB); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A column of the target may have another type, if it holds the values.
func TestOtherTypes(t *testing.T) {
	f := newFixture(t, "", []string{
		"CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, v INT)", "CREATE TABLE b (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20) CHARACTER SET latin1)",
		"CREATE TABLE c (id INT AUTO_INCREMENT PRIMARY KEY, v INT UNSIGNED)", "CREATE TABLE d (id INT AUTO_INCREMENT PRIMARY KEY, v DATETIME(3))",
	}, []string{
		"INSERT INTO a (v) VALUES (-5)", "INSERT INTO b (v) VALUES ('é')", "INSERT INTO c (v) VALUES (5)", "INSERT INTO d (v) VALUES ('2024-01-01 01:02:03.4')",
	})
	f.tables()
	f.exec(f.target, "ALTER TABLE a MODIFY v BIGINT", "ALTER TABLE b MODIFY v VARCHAR(20) CHARACTER SET utf8mb4", "ALTER TABLE c MODIFY v INT", "ALTER TABLE d MODIFY v DATETIME(6)")
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got := f.rows(f.target, "SELECT a.v, b.v, c.v, CAST(d.v AS CHAR) FROM a, b, c, d"); got != "-5 é 5 2024-01-01 01:02:03.400000" {
		t.Errorf("got %s", got)
	}
}

var players = []string{
	"CREATE TABLE players (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL, created_at DATETIME NOT NULL, UNIQUE (name))",
	"CREATE TABLE items (id INT AUTO_INCREMENT PRIMARY KEY, player_id INT, kind VARCHAR(10), FOREIGN KEY (player_id) REFERENCES players (id))",
}

func somePlayers(prefix string, n int) []string {
	return []string{
		fmt.Sprintf("INSERT INTO players (name, created_at) SELECT CONCAT('%s', seq), TIMESTAMPADD(MINUTE, seq, '2024-05-01') FROM seq_1_to_%d", prefix, n),
		fmt.Sprintf("INSERT INTO items (player_id, kind) SELECT 1 + seq * 7 %% %d, 'sword' FROM seq_1_to_%d", n, n),
	}
}

// A run that was taken for dead commits nothing any more.
func TestLostLease(t *testing.T) {
	f := newFixture(t, "", players, somePlayers("a", 1000))
	f.tables()
	f.config.Writers = 1 // none is under way while it waits
	var m *merge.Merge
	copied := make(chan struct{})
	var once atomic.Bool
	f.config.Events = func(e report.Event) {
		if e.Kind == report.EventChunk && e.Phase == "copy" && once.CompareAndSwap(false, true) {
			m.Pause(true)
			close(copied)
		}
	}
	m = f.merge()
	done := make(chan error)
	go func() { _, err := m.Run(t.Context()); done <- err }()
	<-copied
	var held *report.RunningError
	if err := f.run(); !errors.As(err, &held) || held.Holder == "" || !held.Until.After(time.Now().Add(-time.Minute)) {
		t.Errorf("a second run: got %v, want a HeldError", err)
	}
	f.exec(f.target, "UPDATE snow_merge_lease SET fence = fence + 1, holder = 'thief'")
	before := f.rows(f.target, "SELECT COUNT(*) FROM snow_merge_chunks WHERE phase = 'copy'")
	m.Pause(false)
	var lost *report.OvertakenError
	if err := <-done; !errors.As(err, &lost) {
		t.Errorf("the run after that: got %v, want a LostError", err)
	}
	if after := f.rows(f.target, "SELECT COUNT(*) FROM snow_merge_chunks WHERE phase = 'copy'"); after != before {
		t.Errorf("%s batches were copied, and %s after the lease was lost", before, after)
	}
	f.exec(f.target, "UPDATE snow_merge_lease SET until_us = 0")
	f.config.Events = nil
	if err := f.run(); err != nil {
		t.Errorf("the next run: %v", err)
	}
}

// Before anything is copied the plan may be changed, and not afterwards.
func TestChangedPlan(t *testing.T) {
	f := newFixture(t, "", players, somePlayers("a", 300), somePlayers("a", 200))
	f.tables()
	var unique *plan.Unique
	for _, table := range f.plan.Tables {
		for _, u := range table.Unique {
			if u.Columns[0] == "name" {
				unique = u
			}
		}
	}
	unique.Rule = plan.RuleFail
	var clash *report.ClashError
	if err := f.run(); !errors.As(err, &clash) || clash.Source != "s2" || clash.With != "s1" || clash.Table != "players" {
		t.Fatalf("got %v, want a ClashError", err)
	}
	unique.Rule = plan.RuleSuffix
	var stopped atomic.Bool
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	f.config.Events = func(e report.Event) {
		if e.Kind == report.EventChunk && e.Phase == "copy" && stopped.CompareAndSwap(false, true) {
			stop()
		}
	}
	if _, err := f.merge().Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("an interrupted run: got %v", err)
	}
	unique.Suffix = "#"
	if err := f.run(); !errors.Is(err, report.ErrUnfinished) {
		t.Errorf("another plan: got %v, want %v", err, report.ErrUnfinished)
	}
	unique.Suffix = ""
	f.config.Namespace = "other"
	if err := f.run(); !errors.As(err, new(*snow.FieldError)) {
		t.Errorf("another namespace: got %v, want a FieldError", err)
	}
	f.config.Namespace = "game"
	if err := f.run(); err != nil {
		t.Fatalf("the same plan: %v", err)
	}
	if got := f.rows(f.target, "SELECT COUNT(*), COUNT(DISTINCT name), SUM(name LIKE '%\\_s2') FROM players"); got != "500 500 200" {
		t.Errorf("players: %s", got)
	}
	f.plan.Accepted, unique.Suspects = []string{"names: suffix, for players"}, nil
	if found, err := f.merge().Verify(t.Context()); err != nil || found.Failed > 0 || len(found.Open) == 0 {
		t.Errorf("the same plan with a line under accepted: got %+v, %v", found, err)
	}
	unique.Suffix = "#"
	if err := f.run(); !errors.Is(err, report.ErrMerged) {
		t.Errorf("another plan afterwards: got %v, want %v", err, report.ErrMerged)
	}
}

func TestPauseFile(t *testing.T) {
	f := newFixture(t, "", players, somePlayers("a", 300))
	f.tables()
	f.config.PauseFile = filepath.Join(t.TempDir(), "pause")
	if err := os.WriteFile(f.config.PauseFile, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var told []report.EventKind
	f.config.Events = func(e report.Event) {
		if e.Kind == report.EventPause {
			if err := os.Remove(f.config.PauseFile); err != nil {
				t.Error(err)
			}
		}
		if e.Kind == report.EventPause || e.Kind == report.EventResume {
			told = append(told, e.Kind)
		}
	}
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if len(told) != 2 || told[0] != report.EventPause || told[1] != report.EventResume {
		t.Errorf("told %v", told)
	}
}

// A guild's leader is NULL at first. Setting it changes nothing else.
func TestLinkedRows(t *testing.T) {
	f := newFixture(t, "", []string{
		"CREATE TABLE guilds (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), leader INT, changed TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP)",
		"CREATE TABLE players (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), guild INT, boss INT, FOREIGN KEY (guild) REFERENCES guilds (id), FOREIGN KEY (boss) REFERENCES players (id))",
		"ALTER TABLE guilds ADD FOREIGN KEY (leader) REFERENCES players (id)",
	}, []string{
		"INSERT INTO guilds (name, changed) SELECT CONCAT('g', seq), '2020-02-02 02:02:02' FROM seq_1_to_700",
		"INSERT INTO players (name, guild) SELECT CONCAT('p', seq), 1 + seq % 700 FROM seq_1_to_1500",
		"UPDATE players SET boss = 1501 - id WHERE id <> 3",
		"UPDATE guilds SET leader = 1500 - id, changed = changed WHERE id <> 5",
	})
	f.tables()
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	const query = `SELECT g.name, g.changed = '2020-02-02 02:02:02', p.name, b.name, h.name FROM guilds g LEFT JOIN players p ON p.id = g.leader LEFT JOIN players b ON b.id = p.boss
		LEFT JOIN guilds h ON h.id = p.guild ORDER BY g.id`
	if got, want := f.rows(f.target, query), f.rows(f.sources[0].DB, query); got != want {
		t.Errorf("got\n%.500s\nwant\n%.500s", got, want)
	}
	if got := f.rows(f.target, "SELECT COUNT(*) FROM players WHERE boss IS NULL"); got != "1" {
		t.Errorf("players without a boss: %s", got)
	}
}

// A source whose database has the name of the target's, on another server, is another database.
func TestSameNameOnAnotherServer(t *testing.T) {
	f := newFixture(t, "", players, somePlayers("here", 300))
	name := f.rows(f.target, "SELECT DATABASE()")
	other := dbtest.MariaDB(t)
	open := func(name string) *sql.DB {
		db, err := sql.Open("mysql", other.DSN(name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	f.exec(open(""), "CREATE DATABASE "+name)
	f.sources[0].DB = open(name)
	f.exec(f.sources[0].DB, append(slices.Clone(players), somePlayers("there", 300)...)...)
	f.tables()
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got := f.rows(f.target, "SELECT COUNT(*), SUM(name LIKE 'there%') FROM players"); got != "300 300" {
		t.Errorf("players and those of the source: %s", got)
	}
}

// Rows that are merged into others are left out where ids are kept, and what refers to them refers to the others.
func TestMergedRowsKeepIDs(t *testing.T) {
	f := newFixture(t, "", []string{
		"CREATE TABLE players (id INT PRIMARY KEY, name VARCHAR(20), UNIQUE (name))",
		"CREATE TABLE items (id INT PRIMARY KEY, player_id INT, FOREIGN KEY (player_id) REFERENCES players (id))",
	}, []string{"INSERT INTO players VALUES (1, 'a'), (2, 'b')", "INSERT INTO items VALUES (1, 1), (2, 2)"},
		[]string{"INSERT INTO players VALUES (11, 'a'), (12, 'c')", "INSERT INTO items VALUES (11, 11), (12, 12), (13, NULL)"})
	for _, table := range f.plan.Tables {
		table.NewIDs = nil
		for _, u := range table.Unique {
			if u.Columns[0] == "name" {
				u.Rule = plan.RuleKeep
			}
		}
	}
	f.tables()
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got := f.rows(f.target, "SELECT i.id, player_id, name FROM items AS i LEFT JOIN players AS p ON p.id = player_id ORDER BY 1"); got != "1 1 a\n2 2 b\n11 1 a\n12 12 c\n13 - -" {
		t.Errorf("got %s", got)
	}
}
