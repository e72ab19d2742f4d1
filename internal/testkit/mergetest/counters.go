package mergetest

import (
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// counted are the tables of a server that lets the database number its rows, in the narrow types that such servers
// have.
var counted = map[sqlsnow.Dialect][]string{
	sqlsnow.MySQL: {
		"CREATE TABLE guilds (id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL)",
		"CREATE TABLE players (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, guild_id SMALLINT UNSIGNED, name VARCHAR(20) NOT NULL, level INT NOT NULL DEFAULT 1, FOREIGN KEY (guild_id) REFERENCES guilds (id))",
		"CREATE TABLE visits (player_id INT UNSIGNED NOT NULL, n INT NOT NULL AUTO_INCREMENT, PRIMARY KEY (player_id, n), KEY by_n (n))",
	},
	sqlsnow.Postgres: {
		"CREATE TABLE guilds (id SMALLSERIAL PRIMARY KEY, name VARCHAR(20) NOT NULL)",
		"CREATE TABLE players (id INT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, guild_id SMALLINT REFERENCES guilds, name VARCHAR(20) NOT NULL, level INT NOT NULL DEFAULT 1)",
		"CREATE TABLE visits (player_id INT NOT NULL, n SERIAL, PRIMARY KEY (player_id, n))",
	},
	sqlsnow.SQLite: {
		"CREATE TABLE guilds (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(20) NOT NULL)",
		"CREATE TABLE players (id INTEGER PRIMARY KEY, guild_id SMALLINT REFERENCES guilds (id), name VARCHAR(20) NOT NULL, level INT NOT NULL DEFAULT 1)",
	},
}

// Counters merges servers whose rows the database numbers. Afterwards such a server inserts rows as before, without
// ids, and the next merge takes the numbers that the one before has left.
func Counters(t *testing.T, e Engine) {
	for _, kind := range []plan.IDs{plan.IDsDense, plan.IDsOffset} {
		for _, leave := range []int64{0, 100} {
			t.Run(fmt.Sprint(kind, "/", leave), func(t *testing.T) { (&counters{T: t, Engine: e, kind: kind, leave: leave}).run() })
		}
		t.Run(fmt.Sprint(kind, "/full"), func(t *testing.T) { (&counters{T: t, Engine: e, kind: kind}).full() })
		if e.Dialect != sqlsnow.SQLite { // which has one writer
			t.Run(fmt.Sprint(kind, "/open"), func(t *testing.T) { (&counters{T: t, Engine: e, kind: kind}).open() })
		}
	}
	for i, test := range chosen {
		if !e.has(i) {
			continue
		}
		t.Run(test.name, func(t *testing.T) { (&counters{T: t, Engine: e, kind: test.kind}).choose(test) })
	}
}

// counters are servers whose rows the database numbers.
type counters struct {
	*testing.T
	Engine
	kind  plan.IDs
	leave int64
}

func (c *counters) exec(db *sql.DB, statements ...string) {
	c.Helper()
	for _, text := range statements {
		if _, err := db.ExecContext(c.Context(), text); err != nil {
			c.Fatalf("%s: %v", text, err)
		}
	}
}

func (c *counters) number(db *sql.DB, query string) (n int64) {
	c.Helper()
	if err := db.QueryRowContext(c.Context(), query).Scan(&n); err != nil {
		c.Fatalf("%s: %v", query, err)
	}
	return n
}

// play does what the server does.
func (c *counters) play(db *sql.DB, players, guilds int) {
	c.Helper()
	for i := range guilds {
		c.exec(db, fmt.Sprintf("INSERT INTO guilds (name) VALUES ('guild %d')", i))
	}
	for i := range players {
		c.exec(db, fmt.Sprintf("INSERT INTO players (guild_id, name) SELECT MAX(id), 'player %d' FROM guilds", i))
		if c.Dialect != sqlsnow.SQLite {
			c.exec(db, "INSERT INTO visits (player_id) SELECT MAX(id) FROM players")
		}
	}
}

// server makes one with some rows. A few of them are gone again.
func (c *counters) server(name string, players, guilds int) merge.Source {
	c.Helper()
	s := merge.Source{Name: name, DB: c.Open(c)}
	c.exec(s.DB, counted[c.Dialect]...)
	c.play(s.DB, players, guilds)
	c.exec(s.DB, "UPDATE players SET level = id + 10")
	if c.Dialect != sqlsnow.SQLite {
		c.exec(s.DB, "DELETE FROM visits WHERE player_id = 2")
	}
	c.exec(s.DB, "DELETE FROM players WHERE id = 2")
	return s
}

// plan decides that all rows get new ids which are numbers.
func (c *counters) plan(leave int64, sources ...merge.Source) *plan.Plan {
	c.Helper()
	p, err := merge.Inspect(c.Context(), c.Dialect, sources...)
	if err != nil {
		c.Fatal(err)
	}
	p.Questions = nil
	for _, t := range p.Tables {
		t.IDs, t.Leave = c.kind, leave
		if t.NewIDs = nil; t.Key() != nil {
			t.NewIDs = p.Sources
		}
		for _, column := range t.Columns {
			column.Suspects = nil
			if column.Decided = true; column.Name == "player_id" {
				column.Role, column.Refers = plan.RoleReference, []*plan.Reference{{Table: "players"}}
			}
			if got := p.TargetType(t, column); got != column.Type {
				c.Errorf("%s.%s: the type %q becomes %q", t.Name, column.Name, column.Type, got)
			}
		}
		for _, u := range t.Unique {
			u.Suspects, u.Decided = nil, true
		}
	}
	return shortened(c.T, c.Engine, p, sources)
}

func (c *counters) merge(target *sql.DB, p *plan.Plan, sources ...merge.Source) *merge.Merge {
	c.Helper()
	m, err := merge.New(c.Dialect, target, sources, p, merge.Config{}) // without a namespace
	if err != nil {
		c.Fatal(err)
	}
	return m
}

func (c *counters) run() {
	eu, us, asia := c.server("eu", 6, 3), c.server("us", 5, 2), c.server("asia", 3, 2)
	target := c.Open(c)
	p := c.plan(c.leave, eu, us)
	statements, err := p.Schema()
	if err != nil {
		c.Fatal(err)
	}
	c.exec(target, statements...)
	highest := c.mergeAll(target, p, eu, us)
	c.goOn(target, highest, c.leave)

	// The next merge, with the same decisions, takes what was left, below the rows that the server has inserted in
	// the meantime.
	before := c.highest(target)
	after := c.mergeAll(target, c.plan(c.leave, asia), asia)
	for table, top := range before {
		low := c.number(target, "SELECT MIN(id) FROM "+table+" WHERE id IN (SELECT new_id FROM snow_merge_map WHERE source_table IN (SELECT source_table FROM snow_merge_source_tables WHERE source = 'asia' AND tbl = '"+table+"'))")
		switch {
		case c.leave > 0 && (low <= highest[table] || low > highest[table]+c.leave || after[table] != top):
			c.Errorf("%s: new ids begin with %d and go up to %d, after %d and 100 that were left", table, low, after[table], highest[table])
		case c.leave == 0 && low <= top:
			c.Errorf("%s: new ids begin with %d, and %d was there", table, low, top)
		}
	}
	c.goOn(target, after, 0)
}

// mergeAll merges, looks at each row, and returns the highest id of each table.
func (c *counters) mergeAll(target *sql.DB, p *plan.Plan, sources ...merge.Source) map[string]int64 {
	c.Helper()
	m := c.merge(target, p, sources...)
	forecast, err := m.DryRun(c.Context())
	if err == nil {
		err = forecast.Err()
	}
	if err != nil {
		c.Fatalf("dry run: %v", err)
	}
	if _, err := m.Run(c.Context()); err != nil {
		c.Fatalf("run: %v", err)
	}
	all := c.highest(target)
	for _, n := range forecast.Numbers {
		if n.Highest > all[n.Table] || n.Full() <= 0 || n.Full() >= 1 {
			c.Errorf("%s: the forecast is %+v, %v full, and the highest id is %d", n.Table, n, n.Full(), all[n.Table])
		}
	}
	for _, s := range sources {
		c.find(target, s.Name, s.DB)
	}
	return all
}

// find looks the players of a source up.
func (c *counters) find(target *sql.DB, source string, db *sql.DB) {
	c.Helper()
	rows := c.number(db, "SELECT COUNT(*) FROM players")
	for old := int64(1); old <= 20; old++ {
		id, err := merge.Lookup(c.Context(), c.Dialect, target, source, "players", old)
		if errors.Is(err, report.ErrNotFound) {
			continue
		}
		if err != nil {
			c.Fatal(err)
		}
		rows--
		if n := c.number(target, fmt.Sprintf("SELECT COUNT(*) FROM players WHERE id = %d AND level = %d", id, old+10)); n != 1 {
			c.Errorf("player %d of %s has become %d, which is another row", old, source, id)
		}
	}
	if rows != 0 {
		c.Errorf("%d players of %s are not found", rows, source)
	}
}

func (c *counters) highest(db *sql.DB) map[string]int64 {
	c.Helper()
	all := map[string]int64{}
	for _, table := range []string{"guilds", "players"} {
		all[table] = c.number(db, "SELECT MAX(id) FROM "+table)
	}
	return all
}

// goOn lets the server insert rows, which get the numbers after the ones that were left.
func (c *counters) goOn(target *sql.DB, highest map[string]int64, left int64) {
	c.Helper()
	visits := int64(0)
	if c.Dialect != sqlsnow.SQLite {
		visits = c.number(target, "SELECT MAX(n) FROM visits")
	}
	c.play(target, 2, 1)
	want := map[string]int64{"guilds": highest["guilds"] + left + 1, "players": highest["players"] + left + 2}
	for table, got := range c.highest(target) {
		if got != want[table] {
			c.Errorf("%s: the server's last row has the id %s, want %s", table, strconv.FormatInt(got, 10), strconv.FormatInt(want[table], 10))
		}
	}
	if c.Dialect != sqlsnow.SQLite {
		if got := c.number(target, "SELECT MAX(n) FROM visits"); got != visits+2 {
			c.Errorf("visits: the server's last row has the number %d, want %d", got, visits+2)
		}
	}
}

// full merges rows for which there are not enough numbers: dry run and run say so, and no row is copied.
func (c *counters) full() {
	eu, us := c.server("eu", 6, 3), c.server("us", 5, 2)
	target := c.Open(c)
	p := c.plan(0, eu, us)
	p.Table("guilds").Most = 4
	statements, err := p.Schema()
	if err != nil {
		c.Fatal(err)
	}
	c.exec(target, statements...)
	m := c.merge(target, p, eu, us)
	forecast, err := m.DryRun(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	var room *report.FitError
	if err := forecast.Err(); !errors.As(err, &room) || room.Table != "guilds" || room.ID != "5" || room.Most != "4" {
		c.Errorf("dry run: got %v, want a *report.FitError of table guilds", err)
	}
	_, err = m.Run(c.Context())
	if !errors.As(err, &room) {
		c.Errorf("run: got %v, want a *report.FitError", err)
	}
	if n := c.number(target, "SELECT COUNT(*) FROM guilds"); n != 0 {
		c.Errorf("%d rows were copied", n)
	}
}

// open merges into a target on which somebody plays. What was inserted there stays, and the run does not end well.
func (c *counters) open() {
	eu, us := c.server("eu", 6, 3), c.server("us", 5, 2)
	target := c.Open(c)
	p := c.plan(0, eu, us)
	statements, err := p.Schema()
	if err != nil {
		c.Fatal(err)
	}
	c.exec(target, statements...)
	m, err := merge.New(c.Dialect, target, []merge.Source{eu, us}, p, merge.Config{Events: func(e report.Event) {
		if e.Kind == report.EventPhase && e.Phase == "copy" {
			c.exec(target, "INSERT INTO guilds (name) VALUES ('of somebody')")
		}
	}})
	if err != nil {
		c.Fatal(err)
	}
	for range 2 {
		var row *report.RowError
		if _, err := m.Run(c.Context()); !errors.As(err, &row) || row.Table != "guilds" {
			c.Fatalf("got %v, want a *report.RowError of table guilds", err)
		}
		if n := c.number(target, "SELECT COUNT(*) FROM guilds WHERE name = 'of somebody'"); n < 1 {
			c.Errorf("the row of somebody is gone")
		}
	}
}

// A choice is what a plan says of the numbers of players.
type choice struct {
	name    string
	kind    plan.IDs
	change  func(*plan.Table)
	target  []int64 // ids of players that it has
	want    string  // the new ids of players 1 and 3 of eu and us
	refused string
}

var chosen = []choice{
	{name: "least", kind: plan.IDsDense, change: func(t *plan.Table) { t.Least = 500 }, want: "500 501 505 506"},
	{name: "dense above rows", kind: plan.IDsDense, target: []int64{3, 70}, want: "71 72 76 77"},
	{name: "dense beside rows", kind: plan.IDsDense, change: func(t *plan.Table) { t.Most = 1000 }, target: []int64{3, 2_000_000}, want: "4 5 9 10"},
	{name: "offsets by hand", kind: plan.IDsOffset, change: func(t *plan.Table) { t.Offsets = map[string]int64{"eu": 100, "us": 10_000_000} }, want: "101 103 10000001 10000003"},
	{name: "one offset by hand", kind: plan.IDsOffset, change: func(t *plan.Table) { t.Offsets = map[string]int64{"us": 10_000_000} }, want: "1 3 10000001 10000003"},
	{name: "offset above rows", kind: plan.IDsOffset, target: []int64{3, 1234}, want: "1301 1303 1401 1403"},
	{name: "the offset of the first by hand", kind: plan.IDsOffset, change: func(t *plan.Table) { t.Offsets = map[string]int64{"eu": 5} }, want: "6 8 1 3"},
	{name: "offsets in a gap", kind: plan.IDsOffset, change: func(t *plan.Table) { t.Most, t.Offsets = 50, map[string]int64{"eu": 44} }, target: []int64{1}, want: "45 47 2 4"},
	{name: "offsets that clash", kind: plan.IDsOffset, change: func(t *plan.Table) { t.Offsets = map[string]int64{"eu": 1, "us": 5} }, refused: "those of source"},
	{name: "an offset that clashes", kind: plan.IDsOffset, change: func(t *plan.Table) { t.Offsets = map[string]int64{"us": 50} }, target: []int64{53}, refused: "a row that keeps its id has 53"},
	{name: "an offset below the least", kind: plan.IDsOffset, change: func(t *plan.Table) { t.Least, t.Offsets = 7, map[string]int64{"us": 5} }, refused: "7 is the least"},
	{name: "an offset without room", kind: plan.IDsOffset, change: func(t *plan.Table) { t.Most, t.Offsets = 50, map[string]int64{"us": 50} }, refused: "takes numbers up to 50"},
}

// choose merges by what a plan says.
func (c *counters) choose(test choice) {
	eu, us := c.server("eu", 6, 3), c.server("us", 5, 2)
	target := c.Open(c)
	p := c.plan(0, eu, us)
	if test.change != nil {
		test.change(p.Table("players"))
	}
	statements, err := p.Schema()
	if err != nil {
		c.Fatal(err)
	}
	c.exec(target, statements...)
	for _, id := range test.target {
		c.exec(target, fmt.Sprintf("INSERT INTO players (id, name) VALUES (%d, 'old')", id))
	}
	m := c.merge(target, p, eu, us)
	forecast, err := m.DryRun(c.Context())
	if err == nil {
		err = forecast.Err()
	}
	_, failed := m.Run(c.Context())
	if test.refused != "" {
		for _, err := range []error{err, failed} {
			if err == nil || !strings.Contains(err.Error(), test.refused) {
				c.Errorf("got %v, want %q", err, test.refused)
			}
		}
		return
	}
	if err != nil || failed != nil {
		c.Fatalf("dry run: %v; run: %v", err, failed)
	}
	var got []string
	for _, source := range []string{"eu", "us"} {
		for _, old := range []int64{1, 3} {
			id, err := merge.Lookup(c.Context(), c.Dialect, target, source, "players", old)
			if err != nil {
				c.Fatal(err)
			}
			got = append(got, strconv.FormatInt(int64(id), 10))
		}
	}
	if got := strings.Join(got, " "); got != test.want {
		c.Errorf("got the ids %s, want %s", got, test.want)
	}
}
