package mergetest

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// Proof merges two small game servers, and sees whether verification finds each
// of a list of damages, and nothing where there is none.
func Proof(t *testing.T, e Engine) {
	g := newGame(t, e)
	m := g.merge(t, nil)
	t.Run("dry run", func(t *testing.T) { g.dryRun(t, m) })
	t.Run("problems", func(t *testing.T) { g.problems(t) })
	found, err := m.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("report", func(t *testing.T) { g.report(t, found) })
	t.Run("lookup", func(t *testing.T) { g.lookup(t) })
	t.Run("export", func(t *testing.T) { g.export(t) })
	t.Run("damages", func(t *testing.T) { g.damages(t, m) })
	t.Run("later merge", func(t *testing.T) { g.later(t, m) })
	t.Run("dropped winner", func(t *testing.T) { newGame(t, e).droppedWinner(t) })
}

// A game is two sources and a target. Source old counts its ids up, source new
// has kept ids.
type game struct {
	Engine
	target   *sql.DB
	old, new *sql.DB
	schema   []string
}

func newGame(t *testing.T, e Engine) *game {
	g := &game{Engine: e, target: e.Open(t), old: e.Open(t), new: e.Open(t)}
	if err := sqlsnow.Migrate(t.Context(), g.target, e.Dialect); err != nil {
		t.Fatal(err)
	}
	if err := sqlsnow.Init(t.Context(), g.target, e.Dialect, sqlsnow.Namespace{Name: namespace, Layout: layout(t), Workers: 32}); err != nil {
		t.Fatal(err)
	}
	nocase, moment := "", "TIMESTAMP NULL"
	switch e.Dialect {
	case sqlsnow.SQLite:
		nocase, moment = " COLLATE NOCASE", "DATETIME NULL"
	case sqlsnow.MySQL:
		moment = "DATETIME NULL"
	}
	g.schema = []string{
		"CREATE TABLE accounts (id BIGINT NOT NULL PRIMARY KEY, email VARCHAR(20) NOT NULL, country VARCHAR(2), UNIQUE (email))",
		"CREATE TABLE players (id BIGINT NOT NULL PRIMARY KEY, account_id BIGINT, slot INT NOT NULL, name VARCHAR(9)" + nocase + " NOT NULL," +
			" gold NUMERIC(12,2) NOT NULL, inviter BIGINT, bag TEXT, friends TEXT, created_at " + moment + ", UNIQUE (account_id, slot), UNIQUE (name))",
		"CREATE TABLE items (id BIGINT NOT NULL PRIMARY KEY, owner_id BIGINT NOT NULL, kind VARCHAR(20))",
		"CREATE TABLE world (name VARCHAR(20) NOT NULL PRIMARY KEY, value VARCHAR(20))",
	}
	for _, db := range []*sql.DB{g.target, g.old, g.new} {
		g.exec(t, db, g.schema...)
	}
	g.exec(t, g.target, "INSERT INTO world VALUES ('boss', 'alive')", "INSERT INTO players VALUES (77, NULL, 1, 'Dee', 1, NULL, NULL, NULL, NULL)")
	g.exec(t, g.old,
		"INSERT INTO accounts VALUES (1, 'a@x', 'de'), (2, 'b@x', 'fr'), (3, 'c@x', NULL)",
		"INSERT INTO players VALUES (1, 1, 1, 'Ann', 10.50, NULL, '{\"pet\": {\"from\": 2}, \"seen\": [\"3\", \"1\"]}', '2,3', '2024-03-01 10:00:00'),"+
			" (2, 2, 1, 'Bob', 20, 1, NULL, '', '2024-02-01 10:00:00'),"+
			" (3, 3, 1, 'Cy', 30, 2, '[]', NULL, NULL), (4, 2, 2, 'Bobby', 40, NULL, NULL, '1', '2024-03-02 10:00:00')",
		"INSERT INTO items VALUES (1, 2, 'sword'), (2, 2, 'bow'), (3, 4, 'hat')",
		"INSERT INTO world VALUES ('boss', 'dead'), ('season', '7')",
	)
	g.exec(t, g.new,
		"INSERT INTO accounts VALUES (1000001, 'b@x', 'fr'), (1000002, 'd@x', 'es')",
		"INSERT INTO players VALUES (2000001, 1000001, 1, 'bobo', 100, NULL, NULL, '2000002', '2025-01-01 10:00:00'),"+
			" (2000002, 1000002, 1, 'Ann', 200, 2000001, '{\"pet\": {\"from\": 2000001}, \"seen\": [2000002]}', NULL, '2025-01-02 10:00:00')",
		"INSERT INTO items VALUES (3000001, 2000001, 'sword')",
		"INSERT INTO world VALUES ('season', '9')",
	)
	return g
}

func (g *game) exec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// merge returns the merge by a plan that edit may change.
func (g *game) merge(t *testing.T, edit func(*plan.Plan), sources ...merge.Source) *merge.Merge {
	t.Helper()
	column := func(name, typ string, role plan.Role, refers ...*plan.Reference) *plan.Column {
		return &plan.Column{Name: name, Type: typ, Nullable: true, Role: role, Refers: refers}
	}
	to := func(table, path string) *plan.Reference { return &plan.Reference{Table: table, Path: path} }
	moment := map[sqlsnow.Dialect]string{sqlsnow.MySQL: "datetime", sqlsnow.Postgres: "timestamp without time zone", sqlsnow.SQLite: "DATETIME"}[g.Dialect]
	mint := []string{"old"}
	key := func() *plan.Column { return &plan.Column{Name: "id", Type: "bigint", Role: plan.RoleKey} }
	p := &plan.Plan{Version: 1, Dialect: g.Dialect.String(), Sources: []string{"new", "old"}, Tables: []*plan.Table{
		{
			Name: "items", PrimaryKey: []string{"id"}, NewIDs: mint,
			Columns: []*plan.Column{key(), column("owner_id", "bigint", plan.RoleReference, to("players", "")), column("kind", "varchar(20)", plan.RolePlain)},
		},
		{
			Name: "players", PrimaryKey: []string{"id"}, NewIDs: mint, Created: "created_at",
			Columns: []*plan.Column{
				key(),
				column("account_id", "bigint", plan.RoleReference, to("accounts", "")),
				column("slot", "int", plan.RolePlain),
				column("name", "varchar(9)", plan.RolePlain),
				column("gold", "numeric(12,2)", plan.RolePlain),
				column("inviter", "bigint", plan.RoleReference, to("players", "")),
				column("bag", "text", plan.RoleJSON, to("players", "$.pet.from"), to("players", "$.seen[*]")),
				column("friends", "text", plan.RoleList, to("players", "")),
				column("created_at", moment, plan.RolePlain),
			},
			Unique: []*plan.Unique{
				{Columns: []string{"account_id", "slot"}, Rule: plan.RuleKeep},
				{Columns: []string{"name"}, Rule: plan.RuleSuffix},
			},
		},
		{
			Name: "accounts", PrimaryKey: []string{"id"}, NewIDs: mint,
			Columns: []*plan.Column{key(), column("email", "varchar(20)", plan.RolePlain), column("country", "varchar(2)", plan.RolePlain)},
			Unique:  []*plan.Unique{{Columns: []string{"email"}, Rule: plan.RuleMatch}},
		},
		{
			Name: "world", PrimaryKey: []string{"name"},
			Columns: []*plan.Column{column("name", "varchar(20)", plan.RolePlain), column("value", "varchar(20)", plan.RolePlain)},
			Unique:  []*plan.Unique{{Columns: []string{"name"}, Rule: plan.RuleKeep}},
		},
	}}
	if edit != nil {
		edit(p)
	}
	if len(sources) == 0 {
		sources = []merge.Source{{Name: "old", DB: g.old}, {Name: "new", DB: g.new}}
	}
	m, err := merge.New(g.Dialect, g.target, sources, p, merge.Config{
		Namespace:  namespace,
		Assertions: []merge.Assertion{{Name: "swords", SQL: "SELECT COUNT(*) FROM items WHERE kind = 'sword'"}, {Name: "hats", SQL: "SELECT SUM(1) FROM items WHERE kind = 'hat'"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// tableCounts are the counts for a table of a source.
type tableCounts struct {
	table, source                            string
	rows, rekeyed, merged, renamed, inTarget int64
}

// counts is what comes of the game: accounts 2 and 1000001 are one, so players
// 2 and 2000001 have one slot.
var counts = []tableCounts{
	{"accounts", "new", 2, 0, 0, 0, 0},
	{"accounts", "old", 3, 2, 1, 0, 0},
	{"items", "new", 1, 0, 0, 0, 0},
	{"items", "old", 3, 3, 0, 0, 0},
	{"players", "new", 2, 0, 0, 0, 1},
	{"players", "old", 4, 3, 1, 1, 1},
	{"world", "new", 1, 0, 0, 0, 1},
	{"world", "old", 2, 0, 2, 0, 1},
}

func (g *game) dryRun(t *testing.T, m *merge.Merge) {
	f, err := m.DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []tableCounts
	for _, row := range f.Tables {
		got = append(got, tableCounts{row.Table, row.Source, row.Rows, row.Rekeyed, row.Merged, row.Renamed, row.Before})
	}
	slices.SortFunc(got, func(a, b tableCounts) int { return strings.Compare(a.table+a.source, b.table+b.source) })
	if !slices.Equal(got, counts) {
		t.Errorf("got %v, want %v", got, counts)
	}
	if err := f.Err(); err != nil {
		t.Errorf("got %v, want nil", err)
	}
	var clashes []string
	for _, c := range f.Clashes {
		clashes = append(clashes, fmt.Sprint(c.Table, c.Unique, c.Source, "/", c.With, " ", c.Rule, " ", c.Rows, " ", c.Failing, " ", c.Samples))
	}
	slices.Sort(clashes)
	want := []string{
		`accounts[email]old/new match 1 0 [row [2]: "b@x"]`,
		`players[account_id slot]old/new keep 1 0 [row [2]: "2", "1"]`,
		`players[name]old/new suffix 1 0 [row [1]: "Ann"]`,
		`world[name]old/ keep 1 0 [row ["boss"]: "boss"]`,
		`world[name]old/new keep 1 0 [row ["season"]: "season"]`,
	}
	if !slices.Equal(clashes, want) {
		t.Errorf("clashes: got\n%s\nwant\n%s", strings.Join(clashes, "\n"), strings.Join(want, "\n"))
	}
	if len(f.Orphans)+len(f.Misfits)+len(f.Open) > 0 {
		t.Errorf("got %+v, %+v and %q, want none", f.Orphans, f.Misfits, f.Open)
	}
	if len(f.Dates) != 1 || f.Dates[0].Undated != 1 || f.Dates[0].Inversions != 0 {
		t.Errorf("dates: got %+v, want one row without a date", f.Dates)
	}
	var n int
	if err := g.target.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM snow_merge_map").Scan(&n); err == nil {
		t.Error("the dry run made tables")
	}
	if err := f.WriteText(t.Output()); err != nil {
		t.Error(err)
	}
}

func (g *game) report(t *testing.T, r *report.Report) {
	var got []tableCounts
	for _, row := range r.Tables {
		got = append(got, tableCounts{row.Table, row.Source, row.Rows, row.Rekeyed, row.Merged, row.Renamed, 0})
		if row.Copied != row.Rows-row.Merged || row.Hash != row.Found || row.Dropped != 0 {
			t.Errorf("got %+v, want all but the merged copied, and equal hashes", row)
		}
		if minted := row.Source == "old" && row.Table != "world"; minted != (row.Worker != nil) {
			t.Errorf("got %+v, want a worker number %v", row, minted)
		}
	}
	slices.SortFunc(got, func(a, b tableCounts) int { return strings.Compare(a.table+a.source, b.table+b.source) })
	want := slices.Clone(counts)
	for i := range want {
		want[i].inTarget = 0
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, row := range r.Targets {
		if row.Table == "players" && row != (report.Target{Table: "players", Before: 1, Copied: 5, Rows: 6}) {
			t.Errorf("got %+v, want 1 row before, 5 copied", row)
		}
	}
	checked := map[string]int64{}
	for _, row := range r.References {
		checked[row.Table+"."+row.Column+row.Path] = row.Checked
		if row.Orphans != 0 {
			t.Errorf("got orphans in %+v", row)
		}
	}
	for name, want := range map[string]int64{
		"items.owner_id": 4, "players.account_id": 5, "players.inviter": 2, "players.bag$.pet.from": 2, "players.bag$.seen[*]": 3, "players.friends": 4,
	} {
		if checked[name] != want {
			t.Errorf("references in %s: got %d checked, want %d", name, checked[name], want)
		}
	}
	if len(r.Assertions) != 2 || r.Assertions[0].Got != "2" || r.Assertions[1].Got != "1" {
		t.Errorf("assertions: got %+v", r.Assertions)
	}
	if err := r.WriteText(t.Output()); err != nil {
		t.Error(err)
	}
}

func (g *game) lookup(t *testing.T) {
	var cy int64
	if err := g.target.QueryRowContext(t.Context(), "SELECT id FROM players WHERE name = 'Cy'").Scan(&cy); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		source, table string
		old           int64
		want          snow.ID
	}{
		{"old", "players", 3, snow.ID(cy)},
		{"old", "players", 2, 2000001},
		{"old", "accounts", 2, 1000001},
		{"new", "players", 2000002, 2000002},
		{"old", "players", 5, 0},
		{"new", "players", 3, 0},
		{"old", "guilds", 3, 0},
		{"older", "players", 3, 0},
		{"old", "world", 3, 0},
	} {
		got, err := merge.Lookup(t.Context(), g.Dialect, g.target, tt.source, tt.table, tt.old)
		if got != tt.want || (tt.want == 0) != errors.Is(err, report.ErrNotFound) {
			t.Errorf("%s %s %d: got %d (%v), want %d", tt.source, tt.table, tt.old, got, err, tt.want)
		}
	}
}

func (g *game) export(t *testing.T) {
	var b strings.Builder
	if err := merge.Export(t.Context(), g.Dialect, g.target, &b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if lines[0] != "source,table,old_id,new_id" || len(lines) != 1+4+3+3 {
		t.Errorf("got %q, want a header and 10 lines", lines)
	}
	for _, want := range []string{"old,players,2,2000001", "old,accounts,2,1000001"} {
		if !slices.Contains(lines, want) {
			t.Errorf("got %q, want %q among them", lines, want)
		}
	}
	for _, line := range lines[1:] {
		var oldID int64
		var newID snow.ID
		parts := strings.Split(line, ",")
		if _, err := fmt.Sscan(parts[2]+" "+parts[3], &oldID, (*int64)(&newID)); err != nil {
			t.Fatal(err)
		}
		if got, err := merge.Lookup(t.Context(), g.Dialect, g.target, parts[0], parts[1], oldID); err != nil || got != newID {
			t.Errorf("%s: Lookup returns %d (%v)", line, got, err)
		}
	}
}

// later merges a third source, and verifies the first merge again.
func (g *game) later(t *testing.T, first *merge.Merge) {
	third := g.Open(t)
	g.exec(t, third, g.schema...)
	g.exec(t, third, "INSERT INTO players VALUES (1, NULL, 1, 'Ann', 5, NULL, NULL, NULL, '2024-03-01 10:00:00')", "INSERT INTO items VALUES (7, 1, 'hat'), (8, 1, 'bow')")
	m := g.merge(t, func(p *plan.Plan) {
		p.Sources = []string{"third"}
		for _, table := range p.Tables[:3] {
			table.NewIDs = p.Sources
		}
	}, merge.Source{Name: "third", DB: third})
	found, err := m.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if row := found.Targets[0]; row != (report.Target{Table: "items", Before: 4, Copied: 2, Rows: 6}) {
		t.Errorf("got %+v, want 4 items before, 2 copied", row)
	}
	if found, err = first.Verify(t.Context()); err != nil || !errors.As(found.Err(), new(*report.OpenError)) {
		t.Fatalf("the first merge: got %v, %v, want its assertions open", err, found.Err())
	}
	if row := found.Targets[0]; row != (report.Target{Table: "items", Copied: 4, Later: 2, Rows: 6}) || len(found.Open) != 1 {
		t.Errorf("the first merge: got %+v and %q open, want 4 items copied, 2 later, and 1 thing open", row, found.Open)
	}
	g.exec(t, g.target, "INSERT INTO items VALUES (3, 2000001, 'shield')")
	if found, err = first.Verify(t.Context()); err != nil || found.Err() == nil {
		t.Errorf("with a row too many: got %v, %v", err, found.Err())
	}
}
