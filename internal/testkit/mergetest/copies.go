package mergetest

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// Copies merges tables without a primary key, whose rows may be equal, or equal only to a collation, and sees whether
// verification finds rows that are lost, changed or too many.
func Copies(t *testing.T, e Engine) {
	c := newCopies(t, e)
	m := c.merge(t)
	c.trials(t, m)
	f, err := m.DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Err(); err != nil {
		t.Errorf("dry run: %v", err)
	}
	found, err := m.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range found.Tables {
		want := map[string]report.Table{
			"stacks old": {Rows: 4*copiesOf + 2, Copied: 4*copiesOf + 1, Dropped: 1},
			"stacks new": {Rows: 3, Copied: 3},
			"tags old":   {Rows: 3, Copied: 3},
			"tags new":   {Rows: 3, Copied: 3, Renamed: 1},
		}[row.Table+" "+row.Source]
		if row.Table != "players" && (row.Rows != want.Rows || row.Copied != want.Copied || row.Dropped != want.Dropped || row.Renamed != want.Renamed || row.Hash != row.Found) {
			t.Errorf("%s of %s: got %+v, want %+v", row.Table, row.Source, row, want)
		}
	}
	for _, ref := range found.References {
		if want := int64(3*copiesOf + 3); ref.Table == "stacks" && ref.Column == "player_id" && ref.Checked != want {
			t.Errorf("got %+v, want %d of them", ref, want)
		}
	}
	c.compare(t)
	c.damages(t, m)
}

// copiesOf is how many equal rows there are: more than a chunk has.
const copiesOf = 30

type copies struct {
	Engine
	target, old, new *sql.DB
}

func newCopies(t *testing.T, e Engine) *copies {
	c := &copies{Engine: e, target: e.Open(t), old: e.Open(t), new: e.Open(t)}
	if err := sqlsnow.Migrate(t.Context(), c.target, e.Dialect); err != nil {
		t.Fatal(err)
	}
	if err := sqlsnow.Init(t.Context(), c.target, e.Dialect, sqlsnow.Namespace{Name: namespace, Layout: layout(t), Workers: 32}); err != nil {
		t.Fatal(err)
	}
	types := map[sqlsnow.Dialect][5]string{ // of texts whose case does not count, of bytes, of floats, JSON, moments
		sqlsnow.MySQL:    {"VARCHAR(20)", "BLOB", "DOUBLE", "JSON", "DATETIME(6)"},
		sqlsnow.Postgres: {"VARCHAR(20)", "BYTEA", "DOUBLE PRECISION", "JSON", "TIMESTAMPTZ"},
		sqlsnow.SQLite:   {"VARCHAR(20) COLLATE NOCASE", "BLOB", "REAL", "TEXT", "DATETIME"},
	}[e.Dialect]
	for _, db := range []*sql.DB{c.old, c.new} {
		c.exec(t, db, "CREATE TABLE players (id INT NOT NULL PRIMARY KEY)", "INSERT INTO players VALUES (1), (2), (3)",
			fmt.Sprintf("CREATE TABLE stacks (player_id INT, item %s, data %s, weight %s, more %s, got %s)", types[0], types[1], types[2], types[3], types[4]),
			"CREATE TABLE tags (player_id INT, tag VARCHAR(20), UNIQUE (tag))")
	}
	c.exec(t, c.old, "ALTER TABLE stacks ADD COLUMN lot INT")
	blob := map[sqlsnow.Dialect]string{sqlsnow.MySQL: "x'00ff'", sqlsnow.Postgres: `'\x00ff'`, sqlsnow.SQLite: "x'00ff'"}[e.Dialect]
	odd := "0.1"
	if e.Dialect == sqlsnow.Postgres {
		odd = "'NaN'"
	}
	var rows []string
	for range copiesOf {
		rows = append(rows, "(1, 'sword', NULL, 0.1, NULL, NULL, 1)", "(1, 'Sword', NULL, 0.1, '{}', NULL, 1)", "(1, 'sword', "+blob+", "+odd+`, '{"b": [1, 2]}', '2024-01-01 10:00:00', 1)`,
			"(NULL, NULL, NULL, NULL, NULL, NULL, NULL)")
	}
	rows = append(rows, "(99, 'lost', NULL, NULL, NULL, NULL, NULL)")
	// with something at the path, and first where rows are read in that order
	const only = `(3, 'sword ', NULL, 0.1, '{"a": [1, 2]}', NULL, 1)`
	random := rand.New(rand.NewPCG(1, 2))
	random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	c.exec(t, c.old, "INSERT INTO stacks VALUES "+strings.Join(slices.Insert(rows, 0, only), ", "), "INSERT INTO tags VALUES (1, 'red'), (2, NULL), (2, NULL)")
	c.exec(t, c.new, "INSERT INTO stacks VALUES (1, 'sword', NULL, 0.1, NULL, NULL), (1, 'sword', NULL, 0.1, NULL, NULL), (NULL, NULL, NULL, NULL, NULL, NULL)",
		"INSERT INTO tags VALUES (3, 'red'), (2, NULL), (2, NULL)")
	return c
}

func (c *copies) exec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	(&game{Engine: c.Engine}).exec(t, db, statements...)
}

// merge makes the target's tables, which have a row of each already, and returns the merge.
func (c *copies) merge(t *testing.T) *merge.Merge {
	t.Helper()
	sources := []merge.Source{{Name: "old", DB: c.old}, {Name: "new", DB: c.new}}
	p, err := merge.Inspect(t.Context(), c.Dialect, sources...)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range p.Tables {
		if table.Name != "players" && len(table.PrimaryKey) > 0 {
			t.Errorf("%s: got the primary key %q, want none", table.Name, table.PrimaryKey)
		}
		for _, column := range table.Columns {
			column.Decided = true
			switch {
			case column.Name == "player_id":
				column.Role, column.Refers, column.Orphans = plan.RoleReference, []*plan.Reference{{Table: "players"}}, plan.OrphansDrop
			case column.Name == "more":
				column.Role, column.Refers = plan.RoleJSON, []*plan.Reference{{Table: "players", Path: "$.a[*]"}}
			case column.Role != plan.RoleKey:
				column.Role, column.Refers = plan.RolePlain, nil
			}
		}
		for _, unique := range table.Unique {
			unique.Decided = true
			if table.Name == "tags" {
				unique.Rule = plan.RuleSuffix
			}
		}
	}
	statements, err := p.Schema()
	if err != nil {
		t.Fatal(err)
	}
	c.exec(t, c.target, statements...)
	c.exec(t, c.target, "INSERT INTO stacks (player_id, item) VALUES (NULL, 'here before')", "INSERT INTO stacks (player_id) VALUES (NULL)")
	m, err := merge.New(c.Dialect, c.target, sources, p, merge.Config{Namespace: namespace, ChunkRows: 5})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// trials sees whether a dry run tries rows that nothing tells apart, where only the database can judge them.
func (c *copies) trials(t *testing.T, m *merge.Merge) {
	t.Helper()
	const strict, drop = "ALTER TABLE stacks ADD CONSTRAINT strict CHECK (%s)", "ALTER TABLE stacks DROP CONSTRAINT strict"
	var day, moment string
	switch c.Dialect {
	case sqlsnow.MySQL:
		day, moment = "ALTER TABLE stacks MODIFY got DATE", "ALTER TABLE stacks MODIFY got DATETIME(6)"
	case sqlsnow.Postgres:
		day, moment = "ALTER TABLE stacks ALTER got TYPE DATE", "ALTER TABLE stacks ALTER got TYPE TIMESTAMPTZ"
	default:
		return // changes no table that is there
	}
	for _, test := range []struct {
		do, undo string
		least    int64 // rows that would stop a run
	}{
		{fmt.Sprintf(strict, "item <> 'lost'"), drop, 0}, // a row that is left out
		{fmt.Sprintf(strict, "weight < 0.05"), drop, 3*copiesOf + 3},
		{day, moment, 1},
	} {
		c.exec(t, c.target, test.do)
		f, err := m.DryRun(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", test.do, err)
		}
		if f.Problems < test.least || f.Problems > 0 && test.least == 0 {
			t.Errorf("%s: got %d problems (%v), want %d", test.do, f.Problems, f.Err(), test.least)
		}
		c.exec(t, c.target, test.undo)
	}
}

// compare counts equal rows by what the databases write.
func (c *copies) compare(t *testing.T) {
	t.Helper()
	item := "item"
	if c.Dialect == sqlsnow.MySQL {
		item = "HEX(item)"
	}
	if c.Dialect == sqlsnow.SQLite {
		item = "hex(item)"
	}
	query := "SELECT " + item + ", COUNT(*) FROM stacks WHERE item IS NOT NULL AND item <> 'lost' AND item <> 'here before' GROUP BY " + item + ", data IS NULL"
	count := func(db *sql.DB) map[string]int {
		counts := map[string]int{}
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			var n int
			if err := rows.Scan(&name, &n); err != nil {
				t.Fatal(err)
			}
			counts[name] += n
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return counts
	}
	want := count(c.old)
	for name, n := range count(c.new) {
		want[name] += n
	}
	if got := count(c.target); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	var strays int
	if err := c.target.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM stacks WHERE player_id IS NOT NULL AND player_id NOT IN (SELECT id FROM players)").Scan(&strays); err != nil || strays > 0 {
		t.Errorf("%d rows refer to no player (%v)", strays, err)
	}
}

// damages sees whether verification finds what is wrong, and says so of the right rows.
func (c *copies) damages(t *testing.T, m *merge.Merge) {
	one := "ctid IN (SELECT ctid FROM stacks WHERE item = 'sword ' LIMIT 1)"
	of := "ctid IN (SELECT ctid FROM stacks WHERE item = 'sword' AND data IS NULL LIMIT 1)"
	switch c.Dialect {
	case sqlsnow.SQLite:
		one, of = strings.ReplaceAll(one, "ctid", "rowid"), strings.ReplaceAll(of, "ctid", "rowid")
		of = strings.ReplaceAll(of, "item = 'sword'", "hex(item) = hex('sword')")
	case sqlsnow.MySQL:
		one, of = "item = 'sword ' AND LENGTH(item) = 6 LIMIT 1", "BINARY item = 'sword' AND data IS NULL LIMIT 1"
	}
	verify := func(t *testing.T) *report.Report {
		r, err := m.Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, damage := range []struct {
		name, statement, undo string
		want                  []string // of the failures' reasons
	}{
		{"one of equal rows is lost", "DELETE FROM stacks WHERE " + of, "INSERT INTO stacks (player_id, item, weight, lot) SELECT player_id, item, weight, lot FROM stacks WHERE " + of, []string{"missing"}},
		{"a row is there twice", "INSERT INTO stacks (player_id, item, weight, lot) SELECT player_id, item, weight, lot FROM stacks WHERE " + of, "DELETE FROM stacks WHERE " + of, []string{"that no source has"}},
		{"a row is changed", "UPDATE stacks SET item = 'SWORD ' WHERE " + one, "", []string{"missing", "that no source has"}},
	} {
		t.Run(damage.name, func(t *testing.T) {
			if r := verify(t); damage.undo != "" && r.Err() != nil {
				t.Fatalf("before: %v", r.Err())
			}
			c.exec(t, c.target, damage.statement)
			r := verify(t)
			if r.Failed != int64(len(damage.want)) {
				t.Errorf("got %+v, want %d failures", r.Failures, len(damage.want))
			}
			for _, want := range damage.want {
				if !slices.ContainsFunc(r.Failures, func(f report.Failure) bool { return f.Table == "stacks" && strings.Contains(f.Reason, want) }) {
					t.Errorf("got %+v, want a failure that says %q", r.Failures, want)
				}
			}
			if damage.undo != "" {
				c.exec(t, c.target, damage.undo)
			}
		})
	}
}
