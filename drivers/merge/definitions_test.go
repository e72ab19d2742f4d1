//go:build unix

package merge_test

import (
	"database/sql"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A definition defines a column. It stands behind the name.
type definition struct {
	text  string
	value string // SQL, of a column that needs one; none means the default
	note  string // what the plan says if a part of it is left out, with %s for the name
}

// A columnServer is a server with columns to define on it.
type columnServer struct {
	dialect     sqlsnow.Dialect
	open        func(t *testing.T) *sql.DB
	definitions []definition
	alter       []string // statements after CREATE TABLE
	notes       []string // what they make and Schema leaves out
	without     []string // columns that they make different
	// columns returns the definitions of a table's columns as the server itself has them.
	columns func(t *testing.T, db *sql.DB) map[string]string
}

func mysqlColumns(t *testing.T, db *sql.DB) map[string]string {
	var name, text string
	if err := db.QueryRowContext(t.Context(), "SHOW CREATE TABLE definitions").Scan(&name, &text); err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for line := range strings.Lines(text) {
		before, rest, found := strings.Cut(strings.Trim(line, " ,\n"), "`")
		switch name, text, _ := strings.Cut(rest, "`"); {
		case strings.HasPrefix(line, ")"):
			lines["(table)"] = line
		case found && before != "CREATE TABLE " && before != "CONSTRAINT " && name != "id":
			lines[name] = before + text
		}
	}
	return lines
}

func postgresColumns(t *testing.T, db *sql.DB) map[string]string {
	rows, err := db.QueryContext(t.Context(), `SELECT a.attname::text, concat_ws(' ', format_type(a.atttypid, a.atttypmod), l.collname, CASE WHEN a.attnotnull THEN 'NOT NULL' END,
			pg_get_expr(d.adbin, d.adrelid), a.attgenerated::text, a.attidentity::text, a.attstorage::text, a.attcompression::text, col_description(a.attrelid, a.attnum))
		FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum LEFT JOIN pg_collation l ON l.oid = a.attcollation
		WHERE a.attrelid = 'definitions'::regclass AND a.attnum > 0`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	found := map[string]string{}
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			t.Fatal(err)
		}
		found[name] = text
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestDefinitions merges a table with every kind of column: Schema writes each column as the source has it, or a
// note says what is left out, and the values arrive.
func TestDefinitions(t *testing.T) {
	maria, pg := dbtest.MariaDB(t), dbtest.Postgres(t)
	name, mysql := mysqlServer(t, maria)
	for name, s := range map[string]columnServer{
		name: mysql,
		"PostgreSQL": {
			dialect: sqlsnow.Postgres, definitions: postgresDefinitions, columns: postgresColumns,
			open: func(t *testing.T) *sql.DB { return openGame(t, "pgx", pg.DSN(pg.CreateDatabase(t)), nil) },
			alter: []string{
				`COMMENT ON TABLE definitions IS 'it''s a \ table'`, `COMMENT ON COLUMN definitions.c00 IS 'it''s a \ column'`,
				`ALTER TABLE definitions ALTER c13 SET STORAGE EXTERNAL, ALTER c14 SET COMPRESSION pglz, ADD CONSTRAINT k1 UNIQUE (c15, id) DEFERRABLE,
					ADD CONSTRAINT k2 CHECK (c11 <> 'it''s not')`,
				"CREATE INDEX k3 ON definitions (c11 DESC)", "CREATE UNIQUE INDEX k4 ON definitions (lower(c11), id)",
			},
			notes: []string{
				"check k2 CHECK (((c11)::text <> 'it''s not'::text))", "column c13: Schema leaves out its storage e", "column c14: Schema leaves out its compression p",
				"constraint k1: Schema makes an ordinary one of UNIQUE (c15, id) DEFERRABLE",
				"unique index k4 is not on columns alone: a clash is found when the database refuses the row",
			},
			without: []string{"c13", "c14"},
		},
	} {
		t.Run(name, func(t *testing.T) { roundTrip(t, s) })
	}
}

// mysqlServer returns what a server of MySQL or MariaDB has.
func mysqlServer(t *testing.T, server *dbtest.Server) (name string, s columnServer) {
	s = columnServer{
		dialect: sqlsnow.MySQL, columns: mysqlColumns, without: []string{"k9"},
		open: func(t *testing.T) *sql.DB { return openGame(t, "mysql", server.DSN(server.CreateDatabase(t)), nil) },
	}
	var version string
	if err := s.open(t).QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	const alter = `ALTER TABLE definitions COMMENT 'it''s a \\ table', ADD KEY k1 (c13 DESC, c14(10)) COMMENT 'it''s', ADD KEY k2 (c01), ADD UNIQUE KEY k3 (id, c15),
		ADD UNIQUE KEY k4 (id, c16(5)), ADD FULLTEXT KEY k5 (c31), ADD CONSTRAINT k6 CHECK (c13 <> 'it''s \\'), ADD UNIQUE KEY k9 (id, c21) COMMENT 'login', ADD KEY k7 (c02) `
	const ordinary = "unique key k9: Schema makes an ordinary one, without what the source has besides: COMMENT 'login'"
	const clash = "unique index k4 is not on columns alone: a clash is found when the database refuses the row"
	if strings.Contains(version, "MariaDB") {
		s.definitions, s.alter = append(slices.Clone(mysqlDefinitions), mariadbDefinitions...), []string{alter + "IGNORED"}
		s.notes = []string{`check k6 (` + "`c13`" + ` <> 'it\'s \\')`, clash, ordinary}
		return "MariaDB", s
	}
	s.definitions, s.alter = append(slices.Clone(mysqlDefinitions), oracleDefinitions...), []string{alter + `INVISIBLE, ADD KEY k8 ((concat(c13, '''\\')))`}
	s.notes = []string{`check k6 ((` + "`c13`" + ` <> _utf8mb4'it\'s \\'))`, clash, ordinary}
	return "MySQL", s
}

// A key that programs can't see is numbered by the target too.
func TestInvisibleKey(t *testing.T) {
	_, s := mysqlServer(t, dbtest.MariaDB(t))
	_, target := transfer(t, s.dialect, func() *sql.DB { return s.open(t) },
		"CREATE TABLE log_lines (my_row_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY, line VARCHAR(40))",
		"INSERT INTO log_lines (line) VALUES ('first'), ('second'), ('second')")
	exec(t, target, "INSERT INTO log_lines VALUES ('third')")
	if got := lines(t, target, "SELECT line FROM log_lines ORDER BY my_row_id"); got != "first\nsecond\nsecond\nthird" {
		t.Errorf("got %q", got)
	}
}

func roundTrip(t *testing.T, s columnServer) {
	source, target := s.open(t), s.open(t)
	if s.dialect == sqlsnow.Postgres {
		exec(t, source, "CREATE TYPE mood AS ENUM ('glad', 'it''s sad')")
	}
	lines, names, values := []string{"id bigint NOT NULL PRIMARY KEY"}, []string{"id"}, []string{"%d"}
	for i, d := range s.definitions {
		name := fmt.Sprintf("c%02d", i)
		lines = append(lines, name+" "+d.text)
		if d.value != "" {
			names, values = append(names, name), append(values, d.value)
		}
	}
	exec(t, source, "CREATE TABLE definitions (\n"+strings.Join(lines, ",\n")+")")
	for _, statement := range s.alter {
		exec(t, source, statement)
	}
	insert := "INSERT INTO definitions (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
	for id := range 3 {
		exec(t, source, fmt.Sprintf(insert, id+1))
	}
	p, err := merge.Inspect(t.Context(), s.dialect, merge.Source{Name: "old", DB: source})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Table("definitions").Columns {
		c.Decided = true
		if c.Role != plan.RoleKey {
			c.Role = plan.RolePlain
		}
	}
	p.Table("definitions").NewIDs = nil
	statements, err := p.Schema()
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		exec(t, target, statement)
	}
	want, got := s.columns(t, source), s.columns(t, target)
	notes := slices.Clone(s.notes)
	for i, d := range s.definitions {
		if d.note != "" {
			name := fmt.Sprintf("c%02d", i)
			notes = append(notes, fmt.Sprintf(d.note, name))
			delete(want, name)
			delete(got, name)
		}
	}
	for _, name := range s.without {
		delete(want, name)
	}
	if !maps.Equal(got, want) {
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if got[name] != want[name] {
				t.Errorf("%s:\n got %s\nwant %s", name, got[name], want[name])
			}
		}
	}
	slices.Sort(notes)
	if said := slices.Sorted(slices.Values(p.Table("definitions").Notes)); !slices.Equal(said, notes) {
		t.Errorf("notes:\n got %q\nwant %q", said, notes)
	}
	m, err := merge.New(s.dialect, target, []merge.Source{{Name: "old", DB: source}}, p, merge.Config{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	// A row that the target makes itself has the same defaults and computed values.
	for _, db := range []*sql.DB{source, target} {
		exec(t, db, fmt.Sprintf(insert, 100))
	}
	names = []string{"id"}
	for i, d := range s.definitions {
		if !changing.MatchString(d.text) {
			names = append(names, fmt.Sprintf("c%02d", i))
		}
	}
	wantRows, gotRows := texts(t, source, names), texts(t, target, names)
	if len(wantRows) != 4 || !slices.Equal(gotRows, wantRows) {
		t.Errorf("rows:\n got %s\nwant %s", strings.Join(gotRows, "\n"), strings.Join(wantRows, "\n"))
	}
}

// changing are the defaults that differ from row to row.
var changing = regexp.MustCompile(`(?i)current_|now\(|curdate|uuid`)

// texts returns the rows of a table, each as a text.
func texts(t *testing.T, db *sql.DB, names []string) (found []string) {
	rows, err := db.QueryContext(t.Context(), "SELECT "+strings.Join(names, ", ")+" FROM definitions ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		values := make([]any, len(names))
		for i := range values {
			values[i] = new(sql.NullString)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		line := ""
		for i, name := range names {
			line += fmt.Sprintf("%s=%q ", name, values[i].(*sql.NullString).String)
		}
		found = append(found, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

func exec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// What PostgreSQL 18 has first is carried over, or the plan says that it is left out.
func TestPostgreSQL18(t *testing.T) {
	server := dbtest.Postgres(t)
	open := func() *sql.DB { return opened(t, "pgx", server.DSN(server.CreateDatabase(t))) }
	db := open()
	var version int
	if err := db.QueryRowContext(t.Context(), "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
		t.Fatal(err)
	}
	if version < 18_00_00 {
		t.Skipf("PostgreSQL 18 is needed, and the server has version %d", version)
	}
	statements := []string{
		"CREATE EXTENSION btree_gist",
		"CREATE TABLE rooms (id INT, valid DATERANGE, name TEXT, PRIMARY KEY (id, valid WITHOUT OVERLAPS), CONSTRAINT named UNIQUE (name, valid WITHOUT OVERLAPS))",
		"CREATE TABLE guests (id UUID PRIMARY KEY DEFAULT uuidv7(), name TEXT, loud TEXT GENERATED ALWAYS AS (upper(name)) VIRTUAL)",
		"CREATE TABLE stays (room INT, during DATERANGE, guest UUID PRIMARY KEY, nights INT CONSTRAINT long CHECK (nights > 0) NOT ENFORCED," +
			" CONSTRAINT of_guest FOREIGN KEY (guest) REFERENCES guests NOT ENFORCED, CONSTRAINT of_room FOREIGN KEY (room, PERIOD during) REFERENCES rooms (id, PERIOD valid))",
		"INSERT INTO rooms VALUES (1, '[2026-01-01,2026-02-01)', 'a'), (1, '[2026-02-01,2026-03-01)', 'b')",
		"INSERT INTO guests (name) SELECT 'guest ' || n FROM generate_series(1, 50) n",
		"INSERT INTO stays SELECT 1, '[2026-01-10,2026-02-10)', id, 31 FROM guests",
	}
	for _, statement := range statements {
		exec(t, db, statement)
	}
	p, err := merge.Inspect(t.Context(), sqlsnow.Postgres, merge.Source{Name: "old", DB: db})
	if err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string][]string{
		"rooms": {
			"constraint named: Schema makes an ordinary one of UNIQUE (name, valid WITHOUT OVERLAPS)",
			"constraint rooms_pkey: Schema makes an ordinary one of PRIMARY KEY (id, valid WITHOUT OVERLAPS)",
		},
		"guests": nil,
		"stays": {
			"check long CHECK ((nights > 0)) NOT ENFORCED",
			"foreign key of_guest is left out: FOREIGN KEY (guest) REFERENCES guests(id) NOT ENFORCED",
			"foreign key of_room is left out: FOREIGN KEY (room, PERIOD during) REFERENCES rooms(id, PERIOD valid)",
		},
	} {
		if got := slices.Sorted(slices.Values(p.Table(table).Notes)); !slices.Equal(got, want) {
			t.Errorf("%s: got notes %q, want %q", table, got, want)
		}
	}
	source, target := transfer(t, sqlsnow.Postgres, open, statements...)
	for _, query := range []string{
		"SELECT concat_ws(' ', id, name, loud) FROM guests ORDER BY id", "SELECT stays::text FROM stays ORDER BY guest", "SELECT rooms::text FROM rooms ORDER BY 1",
	} {
		if want, got := lines(t, source, query), lines(t, target, query); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
}

// MySQL makes such a key where a table has none, if it is told so. A server that refuses tables without a primary
// key takes the tables of a merge.
func TestGeneratedInvisibleKey(t *testing.T) {
	server := dbtest.MariaDB(t)
	if !strings.HasPrefix(server.Product(t), "MySQL") {
		t.Skip("only MySQL makes such keys: make test-servers")
	}
	open := func() *sql.DB {
		return opened(t, "mysql", server.DSN(server.CreateDatabase(t))+"&sql_generate_invisible_primary_key=ON&sql_require_primary_key=ON")
	}
	source, target := transfer(t, sqlsnow.MySQL, open, "CREATE TABLE log_lines (line VARCHAR(40))", "INSERT INTO log_lines VALUES ('first'), ('second'), ('second')")
	exec(t, target, "INSERT INTO log_lines VALUES ('third')")
	if got := lines(t, target, "SELECT line FROM log_lines ORDER BY my_row_id"); got != "first\nsecond\nsecond\nthird" {
		t.Errorf("got %q", got)
	}
	const column = "SELECT CONCAT(COLUMN_TYPE, ' ', EXTRA) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND COLUMN_NAME = 'my_row_id'"
	if want, got := lines(t, source, column), lines(t, target, column); got != want || !strings.Contains(got, "INVISIBLE") {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A generated column that the target computes from another expression is found.
func TestVerifyComputed(t *testing.T) {
	server := dbtest.Postgres(t)
	_, s := mysqlServer(t, dbtest.MariaDB(t))
	for name, s := range map[string]columnServer{
		"MySQL":      s,
		"PostgreSQL": {dialect: sqlsnow.Postgres, open: func(t *testing.T) *sql.DB { return opened(t, "pgx", server.DSN(server.CreateDatabase(t))) }},
	} {
		t.Run(name, func(t *testing.T) {
			source, target := s.open(t), s.open(t)
			exec(t, source, "CREATE TABLE phones (id BIGINT PRIMARY KEY, phone VARCHAR(20), digits VARCHAR(20) GENERATED ALWAYS AS (replace(phone, '-', '')) STORED,"+
				" label VARCHAR(40) GENERATED ALWAYS AS (upper(phone)) STORED)")
			exec(t, source, "INSERT INTO phones (id, phone) VALUES (7200000000000000000, '1-2'), (7200000000000000001, '3-4'), (7200000000000000002, '34')")
			sources := []merge.Source{{Name: "old", DB: source}}
			p, err := merge.Inspect(t.Context(), s.dialect, sources...)
			if err != nil {
				t.Fatal(err)
			}
			asProposed(p)
			exec(t, target, "CREATE TABLE phones (id BIGINT PRIMARY KEY, phone VARCHAR(20), digits VARCHAR(20) GENERATED ALWAYS AS (replace(phone, '+', '')) STORED,"+
				" label VARCHAR(40) GENERATED ALWAYS AS (upper(phone)) STORED)")
			m, err := merge.New(s.dialect, target, sources, p, merge.Config{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := m.Run(t.Context())
			if r == nil {
				t.Fatal(err)
			}
			for i, f := range r.Failures {
				if f.Check != report.CheckRows || f.Column != "digits" || i > 1 {
					t.Errorf("got %+v", f)
				}
			}
			if len(r.Failures) != 2 {
				t.Errorf("got %d failures, want one for each row whose digits differ", len(r.Failures))
			}
		})
	}
}

// A DSN without a database is an error.
func TestInspectWithoutDatabase(t *testing.T) {
	server := dbtest.MariaDB(t)
	db := opened(t, "mysql", server.DSN(""))
	if _, err := merge.Inspect(t.Context(), sqlsnow.MySQL, merge.Source{Name: "old", DB: db}); err == nil || !strings.Contains(err.Error(), "names no database") {
		t.Errorf("got %v", err)
	}
}
