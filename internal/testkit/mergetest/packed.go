package mergetest

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A chest is what a row of the table chests has in its columns with packed ids, given the ids of some players and a
// guild.
type chest struct {
	guid, high, low, code, slots, note, scores, php, lua string
	blob                                                 []byte
}

// of writes ids as the database's program does.
func (c *chests) of(a, b, guild int64) chest {
	low := fmt.Sprint(int32(a))
	if c.Dialect == sqlsnow.SQLite { // whose integers have 64 bits
		low = fmt.Sprint(uint32(a))
	}
	return chest{
		guid: fmt.Sprint(guild | -1<<63), high: fmt.Sprint(a >> 32), low: low,
		code: fmt.Sprintf("é%019d-%016x!", a, b), slots: fmt.Sprintf("%d 7 %d 7 0 7", a, b), note: fmt.Sprintf("player:%d met player:%d in room 7", a, b),
		scores: fmt.Sprintf(`{"%d": 7, "%d": {"by": "%d"}}`, a, b, a),
		php:    fmt.Sprintf(`a:3:{i:7;s:2:"é";s:2:"to";a:2:{i:0;i:%d;i:1;s:%d:"%d";}s:2:"by";O:5:"Names":1:{i:%d;b:1;}}`, a, len(fmt.Sprint(b)), b, b),
		lua:    fmt.Sprintf("Chest = {\n  7, -- 7\n  owner = %d, [\"by\"] = { [%d] = '7' },\n  guild = \"%d\" }\n", a, b, guild),
		blob:   xored{}.pack(a),
	}
}

// xored is a codec of a program's own: 8 bytes, each of them turned over.
type xored struct{}

func (xored) pack(id int64) []byte { return binary.BigEndian.AppendUint64(nil, ^uint64(id)) }

func (x xored) Replace(value []byte, id func(place string, id int64) (int64, error)) ([]byte, error) {
	if len(value) != 8 {
		return nil, fmt.Errorf("%d bytes: want 8", len(value))
	}
	after, err := id("owner", int64(^binary.BigEndian.Uint64(value)))
	return x.pack(after), err
}

// packings are the columns of chests with packed ids.
var packings = []plan.Column{
	{Name: "guid", Format: "bits 63", Refers: []*plan.Reference{{Path: "1", Table: "guilds"}, {Path: "0"}}},
	{Name: "high", Format: "high 32", By: "low", Refers: []*plan.Reference{{Path: "id", Table: "players"}}},
	{Name: "low", Format: "low 32", By: "high", Refers: []*plan.Reference{{Path: "id", Table: "players"}}},
	{Name: "code", Format: "fixed", Refers: []*plan.Reference{{Path: "2:dec19", Table: "players"}, {Path: "22:hex16", Table: "players"}}},
	{Name: "slots", Format: "fields", Separator: " ", None: []string{"0"}, Refers: []*plan.Reference{{Path: "1+2", Table: "players"}}},
	{Name: "note", Format: `regexp player:(?P<who>\d+)`, Refers: []*plan.Reference{{Path: "who", Table: "players"}}},
	{Name: "scores", Role: plan.RoleJSON, Refers: []*plan.Reference{{Path: "$.*~", Table: "players"}, {Path: "$.*.by", Table: "players"}}},
	{Name: "php", Format: "php", Refers: []*plan.Reference{{Path: "$.to[*]", Table: "players"}, {Path: "$.by.*~", Table: "players"}}},
	{Name: "lua", Format: "lua", Refers: []*plan.Reference{{Path: "$.Chest.owner", Table: "players"}, {Path: "$.Chest.by[*]~", Table: "players"}, {Path: "$.Chest.guild", Table: "guilds"}}},
	{Name: "blob", Format: "codec xored", Refers: []*plan.Reference{{Path: "owner", Table: "players"}}},
}

// chests is a merge of two sources with packed ids.
type chests struct {
	*witnessed
	plan *plan.Plan
}

func (c *chests) types() (text, bytes, swap string) {
	switch c.Dialect {
	case sqlsnow.MySQL:
		return "VARCHAR(250)", "VARBINARY(8)", "`"
	case sqlsnow.Postgres:
		return "TEXT", "BYTEA", `"`
	}
	return "TEXT", "BLOB", `"`
}

// insert inserts the chest of some row.
func (c *chests) insert(t *testing.T, db *sql.DB, id int, label string, v chest) {
	t.Helper()
	marks := "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
	if c.Dialect == sqlsnow.Postgres {
		marks = "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12"
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO chests VALUES ("+marks+")", id, label, v.guid, v.high, v.low, v.code, v.slots, v.note, v.scores, v.php, v.lua, v.blob); err != nil {
		t.Fatal(err)
	}
}

const chestRows = 40

func newChests(t *testing.T, e Engine) *chests {
	c := &chests{witnessed: &witnessed{Engine: e, target: e.Open(t)}}
	if err := sqlsnow.Migrate(t.Context(), c.target, e.Dialect); err != nil {
		t.Fatal(err)
	}
	if err := sqlsnow.Init(t.Context(), c.target, e.Dialect, sqlsnow.Namespace{Name: namespace, Layout: layout(t), Workers: 32}); err != nil {
		t.Fatal(err)
	}
	text, bytes, q := c.types()
	for _, name := range []string{"s1", "s2"} {
		db := e.Open(t)
		c.sources = append(c.sources, merge.Source{Name: name, DB: db})
		c.exec(t, db, "CREATE TABLE players (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL)", "CREATE TABLE guilds (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL)",
			strings.ReplaceAll(fmt.Sprintf("CREATE TABLE chests (id INTEGER NOT NULL PRIMARY KEY, label VARCHAR(40) NOT NULL, guid BIGINT NOT NULL, \"high\" INTEGER NOT NULL, \"low\" INTEGER NOT NULL,"+
				" code %[1]s, slots %[1]s, note %[1]s, scores %[1]s, php %[1]s, lua %[1]s, \"blob\" %[2]s, UNIQUE (guid))", text, bytes), `"`, q))
		for i := 1; i <= chestRows; i++ {
			c.exec(t, db, fmt.Sprintf("INSERT INTO players VALUES (%d, '%s-%d')", i, name, i), fmt.Sprintf("INSERT INTO guilds VALUES (%d, '%s-%d')", i, name, i))
			a, b, guild := chestHas(i)
			c.insert(t, db, i, fmt.Sprintf("%s-%d", name, i), c.of(int64(a), int64(b), int64(guild)))
		}
	}
	var err error
	if c.plan, err = merge.Inspect(t.Context(), e.Dialect, c.sources...); err != nil {
		t.Fatal(err)
	}
	for _, table := range c.plan.Tables {
		for _, column := range table.Columns {
			column.Decided, column.Suspects = true, nil
			if column.Role != plan.RoleKey {
				column.Role, column.Refers = plan.RolePlain, nil
			}
			for _, p := range packings {
				if table.Name == "chests" && column.Name == p.Name {
					column.Role, column.Format, column.By, column.Separator, column.None, column.Refers = plan.RolePacked, p.Format, p.By, p.Separator, p.None, p.Refers
					if p.Role != "" {
						column.Role = p.Role
					}
				}
			}
		}
		for _, u := range table.Unique {
			u.Decided = true
		}
		table.NewIDs = c.plan.Sources
	}
	c.plan.Questions = nil
	statements, err := c.plan.Schema()
	if err != nil {
		t.Fatal(err)
	}
	c.exec(t, c.target, statements...)
	return c
}

// chestHas returns which players and guild a chest has.
func chestHas(i int) (a, b, guild int) {
	return i*3%chestRows + 1, (i*3+1)%chestRows + 1, i*7%chestRows + 1
}

func (c *chests) merge(t *testing.T) *merge.Merge {
	t.Helper()
	m, err := merge.New(c.Dialect, c.target, c.sources, c.plan, merge.Config{Namespace: namespace, ChunkRows: 7, Codecs: map[string]merge.Codec{"xored": xored{}}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ids returns the new ids by the names of rows.
func (c *chests) ids(t *testing.T, table string) map[string]int64 {
	t.Helper()
	rows, err := c.target.QueryContext(t.Context(), "SELECT id, name FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[string]int64{}
	for rows.Next() {
		var id int64
		var name string
		if err := rows.Scan(&id, &name); err != nil {
			t.Fatal(err)
		}
		all[name] = id
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// Packed merges two sources whose ids are packed in other values, in all the ways that a plan describes. It compares
// the result with what the program would have written. It tests that verification finds wrong ids, and that values
// that can't be read, and ids without room, stop the dry run and the run.
func Packed(t *testing.T, e Engine) {
	c := newChests(t, e)
	c.refusals(t)
	f, err := c.merge(t).DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Err(); err != nil || len(f.Open) > 0 {
		t.Errorf("dry run: %v, open %v", err, f.Open)
	}
	found, err := c.merge(t).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range found.References {
		want := int64(2 * chestRows)
		if ref.Path == "1+2" || ref.Column == "note" || ref.Path == "$.*~" || ref.Path == "$.to[*]" {
			want *= 2
		}
		witnessed := ref.Witnessed == want && ref.Undetermined == 0
		if ref.Table == "chests" && (ref.Checked != want || ref.Orphans > 0 || ref.Column != "scores" && !witnessed) {
			t.Errorf("got %+v, want %d checked and all witnessed", ref, want)
		}
	}
	players, guilds := c.ids(t, "players"), c.ids(t, "guilds")
	if len(players) != 2*chestRows || len(guilds) != 2*chestRows {
		t.Fatalf("got %d players and %d guilds", len(players), len(guilds))
	}
	c.compare(t, players, guilds)
	c.astray(t, players)
}

// PackedGone leaves out players, in whose place packed values get the id 0, which stands for nobody.
func PackedGone(t *testing.T, e Engine) {
	c := newChests(t, e)
	c.plan.Table("players").WithoutRows = []*plan.Condition{{Where: "id % 10 = 7"}}
	for _, column := range c.plan.Table("chests").Columns {
		switch {
		case column.Role == plan.RoleJSON: // members go, see the tests of JSON
			column.Role, column.Refers = plan.RolePlain, nil
		case column.Role == plan.RolePacked:
			column.Gone, column.None = plan.OrphansNull, []string{"0"}
		}
	}
	f, err := c.merge(t).DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Err(); err != nil || len(f.Open) > 0 {
		t.Errorf("dry run: %v, open %v", err, f.Open)
	}
	found, err := c.merge(t).Run(t.Context())
	if err != nil || found.Failed > 0 {
		t.Fatalf("got %v, %+v", err, found)
	}
	players := c.ids(t, "players")
	if len(players) != 2*chestRows*9/10 {
		t.Fatalf("got %d players", len(players))
	}
	c.compare(t, players, c.ids(t, "guilds"))
}

// compare compares the target's chests with what the program would have written. Who is not there has the id 0.
func (c *chests) compare(t *testing.T, players, guilds map[string]int64) {
	t.Helper()
	_, _, q := c.types()
	rows, err := c.target.QueryContext(t.Context(), strings.ReplaceAll(`SELECT label, guid, "high", "low", code, slots, note, scores, php, lua, "blob" FROM chests`, `"`, q))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var label, source string
		var got chest
		if err := rows.Scan(&label, &got.guid, &got.high, &got.low, &got.code, &got.slots, &got.note, &got.scores, &got.php, &got.lua, &got.blob); err != nil {
			t.Fatal(err)
		}
		var i int
		source, _, _ = strings.Cut(label, "-")
		if _, err := fmt.Sscanf(label, source+"-%d", &i); err != nil {
			t.Fatal(err)
		}
		a, b, guild := chestHas(i)
		name := func(i int) string { return fmt.Sprintf("%s-%d", source, i) }
		want := c.of(players[name(a)], players[name(b)], guilds[name(guild)])
		if c.plan.Table("chests").Column("scores").Role == plan.RolePlain {
			want.scores = c.of(int64(a), int64(b), 0).scores
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("%s: got\n%q\nwant\n%q", label, got, want)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || n != 2*chestRows {
		t.Fatalf("got %d chests, %v", n, err)
	}
}

// refusals sees that what is wrong stops the dry run and the run alike.
func (c *chests) refusals(t *testing.T) {
	t.Helper()
	_, _, q := c.types()
	source := c.sources[1].DB
	orphan, wide := "which does not exist", "more than 63 bits"
	if c.Dialect == sqlsnow.SQLite {
		orphan, wide = "no half of 32 bits", "no half of 32 bits"
	}
	for _, test := range []struct{ column, value, want string }{
		{"guid", "7", ""}, // of a kind that has no ids
		{"low", "-1", orphan},
		{"high", "-1", wide},
		{"code", "é000000000000000000x-0000000000000001!", "no number of base 10"},
		{"slots", "1 7 x 7", "is no id"},
		{"note", "nobody", "does not match"},
		{"scores", `{"x": 1}`, "x"},
		{"php", "a:1:{i:7;s:3:\"é\";}", "no serialised value of PHP"},
		{"lua", "Chest = { owner = }", "no table of Lua"},
		{"lua", "Chest = { owner = 41 }", "which does not exist"},
	} {
		column := q + test.column + q
		var was string
		if err := source.QueryRowContext(t.Context(), "SELECT "+column+" FROM chests WHERE id = 3").Scan(&was); err != nil {
			t.Fatal(err)
		}
		set := func(value string) {
			c.exec(t, source, "UPDATE chests SET "+column+" = '"+strings.ReplaceAll(value, "'", "''")+"' WHERE id = 3")
		}
		if c.Dialect == sqlsnow.MySQL && strings.Contains(was+test.value, `\`) {
			t.Fatal("a backslash in a literal")
		}
		set(test.value)
		f, err := c.merge(t).DryRun(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Err(); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %q: dry run: got %v, want %q", test.column, test.value, err, test.want)
		}
		set(was)
	}
	// Ids of 63 bits have no room in a part of 40.
	guid := c.plan.Table("chests").Column("guid")
	format, refers := guid.Format, guid.Refers
	guid.Format, guid.Refers = "bits 40", []*plan.Reference{{Path: "8388608", Table: "guilds"}}
	defer func() { guid.Format, guid.Refers = format, refers }()
	f, err := c.merge(t).DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var room *report.FitError
	if err := f.Err(); !errors.As(err, &room) || room.Most != "1099511627775" {
		t.Errorf("dry run: got %v, want a FitError of 40 bits", err)
	}
}

// astray sees whether the witness finds ids that lead to other rows.
func (c *chests) astray(t *testing.T, players map[string]int64) {
	t.Helper()
	a, b, _ := chestHas(5)
	was, is := c.of(players[fmt.Sprintf("s1-%d", a)], players[fmt.Sprintf("s1-%d", b)], 1), c.of(players["s2-1"], players[fmt.Sprintf("s1-%d", b)], 1)
	for _, column := range []struct{ name, was, is string }{{"slots", was.slots, is.slots}, {"php", was.php, is.php}, {"code", was.code, is.code}} {
		c.exec(t, c.target, "UPDATE chests SET "+column.name+" = '"+column.is+"' WHERE label = 's1-5'")
		r, err := c.merge(t).Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, check := range []report.Check{report.CheckRows, report.CheckWitness} {
			if !slices.ContainsFunc(r.Failures, func(f report.Failure) bool { return f.Check == check && f.Table == "chests" && f.Column == column.name }) {
				t.Errorf("%s: got %+v, want a failure of %s", column.name, r.Failures, check)
			}
		}
		c.exec(t, c.target, "UPDATE chests SET "+column.name+" = '"+column.was+"' WHERE label = 's1-5'")
	}
	r, err := c.merge(t).Verify(t.Context())
	if err != nil || r.Failed > 0 {
		t.Errorf("got %v, %+v, want nothing wrong", err, r)
	}
}
