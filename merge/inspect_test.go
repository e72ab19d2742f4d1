//go:build unix

package merge_test

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// newSource makes a database and runs statements in it.
func newSource(t *testing.T, server *dbtest.Server, name string, statements ...string) merge.Source {
	t.Helper()
	db, err := sql.Open("mysql", server.DSN(server.CreateDatabase(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), dbtest.Sequences(statement)); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return merge.Source{Name: name, DB: db}
}

// gameServer returns the statements that make the database of a game. Its ids
// begin at first; with a first of 1 they are counted up by the database.
func gameServer(name string, first int64) []string {
	counted, integer := "BIGINT NOT NULL", "BIGINT"
	if first == 1 {
		counted, integer = "INT UNSIGNED NOT NULL AUTO_INCREMENT", "INT UNSIGNED"
	}
	r := strings.NewReplacer("{counted}", counted, "{int}", integer)
	var s []string
	for _, statement := range []string{
		"CREATE TABLE guilds (id {counted}, name VARCHAR(20) COLLATE utf8mb4_bin NOT NULL, leader_id {int}, PRIMARY KEY (id), UNIQUE KEY by_name (name))",
		"CREATE TABLE players (id {counted}, name VARCHAR(20) NOT NULL, guild_id {int}, inviter {int} NULL, gold BIGINT NOT NULL DEFAULT 0, level INT NOT NULL DEFAULT 1," +
			" bag JSON, friends TEXT, shout VARCHAR(10) GENERATED ALWAYS AS (UPPER(LEFT(name, 9))) STORED," +
			" created_at DATETIME NOT NULL, seen_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP," +
			" PRIMARY KEY (id), UNIQUE KEY (name), KEY by_level (level, gold), KEY by_name (name(3))," +
			" CONSTRAINT players_guild FOREIGN KEY (guild_id) REFERENCES guilds (id) ON DELETE SET NULL)",
		"ALTER TABLE guilds ADD CONSTRAINT guilds_leader FOREIGN KEY (leader_id) REFERENCES players (id)",
		"CREATE TABLE player_stats (player_id {int} NOT NULL PRIMARY KEY, wins INT NOT NULL, CONSTRAINT stats_player FOREIGN KEY (player_id) REFERENCES players (id))",
		"CREATE TABLE settings (player_id {int} NOT NULL PRIMARY KEY, volume INT NOT NULL)",
		"CREATE TABLE friendships (player_id {int} NOT NULL, friend_id {int} NOT NULL, since DATE, PRIMARY KEY (player_id, friend_id))",
		"CREATE TABLE ranks (season INT NOT NULL, place INT NOT NULL, player_id {int} NOT NULL, PRIMARY KEY (season, place), CHECK (place > 0))",
		"CREATE TABLE logs (id {counted}, target_type VARCHAR(20) NOT NULL, target_id {int} NOT NULL, mentioned VARCHAR(20), happened INT NOT NULL, PRIMARY KEY (id))",
		"CREATE TABLE skills (id SMALLINT NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL)",
		"CREATE TABLE worlds (id {counted}, weather VARCHAR(20), PRIMARY KEY (id))",
		"CREATE TRIGGER watch BEFORE INSERT ON logs FOR EACH ROW SET NEW.happened = NEW.happened",
		"CREATE VIEW rich AS SELECT id FROM players WHERE gold > 1000",
		"INSERT INTO skills VALUES (1, 'jump'), (2, 'run'), (3, 'swim'), (4, 'fly'), (5, 'dig')",
		fmt.Sprintf("INSERT INTO worlds VALUES (%d, 'rain of %s')", first, name),
	} {
		s = append(s, r.Replace(statement))
	}
	for n := range int64(40) {
		guild, id := first+n, first+n
		if first > 1 {
			id += 1000 // snowflakes of two tables are never the same
		}
		player := fmt.Sprintf("%s player %d", name, n)
		if n < 4 {
			player = fmt.Sprintf("hero %d", n)
		}
		bag := fmt.Sprintf(`{"items": [{"kind": 3, "maker_id": %d}], "pets": {"%d": "cat"}, "max": 5}`, id, id)
		s = append(s,
			fmt.Sprintf("INSERT INTO guilds (id, name) VALUES (%d, '%s guild %d')", guild, name, n),
			fmt.Sprintf("INSERT INTO players (id, name, guild_id, inviter, bag, friends, created_at) VALUES (%d, '%s', %d, %d, '%s', '%d;%d', '2020-01-01')",
				id, player, guild, []int64{0, id}[n%2], bag, id, id-n),
			fmt.Sprintf("INSERT INTO player_stats VALUES (%d, 1)", id),
			fmt.Sprintf("INSERT INTO settings VALUES (%d, 1)", id),
			fmt.Sprintf("INSERT INTO friendships VALUES (%d, %d, NULL)", id, id-n),
			fmt.Sprintf("INSERT INTO ranks VALUES (1, %d, %d)", n+1, id),
			fmt.Sprintf("INSERT INTO logs VALUES (%d, '%s', %d, '%d', %d)",
				id+2000, []string{"player", "Guild", "weather"}[n%3], []int64{id, guild, 999999}[n%3], id, 1_600_000_000+n))
	}
	return append(s, "UPDATE guilds SET leader_id = (SELECT MIN(id) FROM players)")
}

// proposed is what Inspect proposes for a column of two game servers.
var proposed = map[string]string{
	"friendships.player_id":  "reference players, asked",
	"friendships.friend_id":  "reference players, asked",
	"guilds.id":              "key",
	"guilds.leader_id":       "reference players",
	"logs.id":                "key",
	"logs.target_id":         "polymorphic target_type Guild=guilds player=players weather=, suspect",
	"logs.mentioned":         "reference players, asked",
	"player_stats.player_id": "reference players",
	"players.id":             "key",
	"players.name":           "plain, suspect", // another collation
	"players.guild_id":       "reference guilds",
	"players.inviter":        "reference players none 0, asked",
	"players.bag":            "json $.items[*].maker_id=players $.pets.*~=players, suspect",
	"players.friends":        "list players by ;, suspect",
	"ranks.player_id":        "reference players, asked",
	"settings.player_id":     "reference players, asked",
	"skills.id":              "key, asked", // nobody counts it up, and nothing refers to it
	"worlds.id":              "key, asked", // a single row
}

// describe says what a plan makes of a column.
func describe(p *plan.Plan, table string, c *plan.Column) string {
	text := string(c.Role)
	if c.By != "" {
		text += " " + c.By
	}
	for _, r := range c.Refers {
		switch c.Role {
		case plan.RolePolymorphic:
			text += " " + r.Value + "=" + r.Table
		case plan.RoleJSON:
			text += " " + r.Path + "=" + r.Table
		default:
			text += " " + r.Table
		}
	}
	if c.Separator != "" {
		text += " by " + c.Separator
	}
	if len(c.None) > 0 {
		text += " none " + strings.Join(c.None, " ")
	}
	if len(c.Suspects) > 0 {
		text += ", suspect"
	}
	if p.Question(table+"."+c.Name) != nil {
		text += ", asked"
	}
	return text
}

// findTable returns a table of a plan.
func findTable(t *testing.T, p *plan.Plan, name string) *plan.Table {
	t.Helper()
	for _, table := range p.Tables {
		if table.Name == name {
			return table
		}
	}
	t.Fatalf("no table %q", name)
	return nil
}

// findColumn returns a column of a plan.
func findColumn(t *testing.T, p *plan.Plan, table, name string) *plan.Column {
	t.Helper()
	for _, c := range findTable(t, p, table).Columns {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no column %q", table+"."+name)
	return nil
}

// decide settles all suspects as they are proposed.
func decide(p *plan.Plan) {
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			c.Decided = true
		}
		for _, u := range t.Unique {
			u.Decided = true
		}
	}
}

func TestInspect(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	old := newSource(t, server, "old", gameServer("old", 1)...)
	young := newSource(t, server, "young", append(gameServer("young", 7_200_000_000_000_000_000),
		"ALTER TABLE players ADD COLUMN vip TINYINT NOT NULL DEFAULT 0", "ALTER TABLE players MODIFY name VARCHAR(30) COLLATE utf8mb4_bin NOT NULL")...)
	p, err := merge.Inspect(t.Context(), sqlsnow.MySQL, old, young)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range p.Tables {
		for _, c := range table.Columns {
			name := table.Name + "." + c.Name
			want := cmp.Or(proposed[name], "plain")
			if got := describe(p, table.Name, c); got != want {
				t.Errorf("%s: got %q, want %q; suspects %q", name, got, want, c.Suspects)
			}
		}
		var mint []string
		switch table.Name {
		case "guilds", "logs", "players", "worlds":
			mint = []string{"old"}
		}
		if !slices.Equal(table.NewIDs, mint) {
			t.Errorf("%s: new ids for %q, want %q", table.Name, table.NewIDs, mint)
		}
		for _, u := range table.Unique {
			key := fmt.Sprintf("%s %v", table.Name, u.Columns)
			want, suspected := plan.RuleFail, false
			switch key {
			case "players [name]":
				want, suspected = plan.RuleSuffix, true
			case "ranks [season place]":
				suspected = true
			case "skills [id]":
				want, suspected = plan.RuleMatch, true
			}
			if u.Rule != want || (len(u.Suspects) > 0) != suspected {
				t.Errorf("%s: got rule %q and suspects %q, want %q", key, u.Rule, u.Suspects, want)
			}
		}
	}
	mysqlDefaults := map[string]string{"seen_at": "CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP", "gold": "'0'"}
	if got := findTable(t, p, "players").Created; got != "created_at" {
		t.Errorf("players are dated by %q", got)
	}
	for column, want := range map[string]string{"seen_at": "current_timestamp() ON UPDATE current_timestamp()", "gold": "0"} {
		if got := findColumn(t, p, "players", column).Default; got == nil || *got != want && *got != mysqlDefaults[column] {
			t.Errorf("the default of %s is %q, want %q", column, *got, want)
		}
	}
	if got := findColumn(t, p, "players", "vip"); !slices.Equal(got.Sources, []string{"young"}) {
		t.Errorf("vip is in %q", got.Sources)
	}
	if want := []string{"old: view rich", "young: view rich"}; !slices.Equal(p.Notes, want) {
		t.Errorf("got notes %q, want %q", p.Notes, want)
	}
	if got := findTable(t, p, "logs").Notes; !slices.Contains(got, "trigger watch before insert") {
		t.Errorf("got notes %q, want the trigger", got)
	}

	// Everything with a question is an error until it has an answer.
	var questions int
	for _, table := range p.Tables {
		for _, c := range table.Columns {
			questions += min(1, len(c.Suspects))
		}
		for _, u := range table.Unique {
			questions += min(1, len(u.Suspects))
		}
	}
	questions += len(p.Questions)
	err = p.Check()
	if got := strings.Count(fmt.Sprint(err), "not decided"); got != questions {
		t.Errorf("%d of %d suspects are errors: %v", got, questions, err)
	}
	if fault := new(plan.Error); !errors.As(err, &fault) || !strings.Contains(fault.Reason, `question "player_id" is not decided`) {
		t.Errorf("got %v, want a *plan.Error that names the question", fault)
	}
	decide(p)
	if err := p.Check(); err != nil {
		t.Errorf("all is decided: %v", err)
	}
}

// TestInspectOnlyReads gives Inspect an account that may do nothing else.
func TestInspectOnlyReads(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	name := server.CreateDatabase(t)
	dsn := server.DSN(name)
	owner, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	defer func() {
		if _, err := owner.ExecContext(context.WithoutCancel(t.Context()), "DROP USER "+name); err != nil {
			t.Error(err)
		}
	}()
	for _, statement := range append(gameServer("old", 1), "CREATE USER "+name+" IDENTIFIED BY 'secret'", "GRANT SELECT ON "+name+".* TO "+name) {
		if _, err := owner.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	db, err := sql.Open("mysql", name+":secret"+dsn[strings.LastIndex(dsn, "@"):])
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p, err := merge.Inspect(t.Context(), sqlsnow.MySQL, merge.Source{Name: "old", DB: db})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"players.id", "players.guild_id", "players.inviter", "logs.target_id"} {
		table, column, _ := strings.Cut(name, ".")
		if got := p.TargetType(findTable(t, p, table), findColumn(t, p, table, column)); got != "bigint unsigned" {
			t.Errorf("%s: got type %q in the target, want one for 64 bits", name, got)
		}
	}
	if got := describe(p, "players", findColumn(t, p, "players", "bag")); got != "json $.items[*].maker_id=players, suspect" {
		t.Errorf("players.bag: got %q", got)
	}
}

func TestInspectErrors(t *testing.T) {
	db, err := sql.Open("mysql", "nobody@tcp(127.0.0.1:1)/nothing")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tests := []struct {
		name    string
		dialect sqlsnow.Dialect
		sources []merge.Source
		want    string
	}{
		{"no sources", sqlsnow.MySQL, nil, "no sources"},
		{"no dialect", 0, []merge.Source{{Name: "a", DB: db}}, "dialect"},
		{"no name", sqlsnow.MySQL, []merge.Source{{DB: db}}, `source name ""`},
		{"a bad name", sqlsnow.MySQL, []merge.Source{{Name: "a b", DB: db}}, `"a b"`},
		{"one name twice", sqlsnow.MySQL, []merge.Source{{Name: "a", DB: db}, {Name: "A", DB: db}}, `"A" is there twice`},
		{"no database", sqlsnow.MySQL, []merge.Source{{Name: "a"}}, `source "a" has no database`},
		{"no server", sqlsnow.MySQL, []merge.Source{{Name: "a", DB: db}}, `source "a": `},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := merge.Inspect(t.Context(), test.dialect, test.sources...)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
	failed := new(sqlsnow.DatabaseError)
	if _, err := merge.Inspect(t.Context(), sqlsnow.MySQL, merge.Source{Name: "a", DB: db}); !errors.As(err, &failed) {
		t.Errorf("got %v, want a *sqlsnow.DatabaseError", err)
	}
}

// TestSchema makes a target by the plan's statements, and inspects that.
func TestSchema(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	old := newSource(t, server, "old", gameServer("old", 1)...)
	young := newSource(t, server, "young", gameServer("young", 7_200_000_000_000_000_000)...)
	p, err := merge.Inspect(t.Context(), sqlsnow.MySQL, old, young)
	if err != nil {
		t.Fatal(err)
	}
	decide(p)
	statements, err := p.Schema()
	if err != nil {
		t.Fatal(err)
	}
	got, err := merge.Inspect(t.Context(), sqlsnow.MySQL, newSource(t, server, "target", statements...))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range p.Tables {
		table := findTable(t, got, want.Name)
		for _, c := range want.Columns {
			found := findColumn(t, got, want.Name, c.Name)
			typ, _, _ := strings.Cut(found.Type, "(20)") // as MariaDB writes a bigint
			if wantType, _, _ := strings.Cut(p.TargetType(want, c), "(20)"); typ != wantType || found.Nullable != c.Nullable ||
				found.Generated != c.Generated || found.Collation != c.Collation || (found.Default == nil) != (c.Default == nil) || c.Default != nil && *found.Default != *c.Default {
				t.Errorf("%s.%s: got %+v, want %+v", want.Name, c.Name, found, c)
			}
		}
		if !slices.Equal(table.PrimaryKey, want.PrimaryKey) || table.Options != want.Options {
			t.Errorf("%s: got %q %q, want %q %q", want.Name, table.PrimaryKey, table.Options, want.PrimaryKey, want.Options)
		}
		if got, want := format(table.ForeignKeys), format(want.ForeignKeys); !slices.Equal(got, want) {
			t.Errorf("got foreign keys %q, want %q", got, want)
		}
		if got, want := format(table.Indexes), format(want.Indexes); !slices.Equal(got, want) {
			t.Errorf("got indexes %q, want %q", got, want)
		}
		unique := func(table *plan.Table) (keys []string) {
			for _, u := range table.Unique {
				if !slices.Equal(u.Columns, table.PrimaryKey) {
					keys = append(keys, fmt.Sprint(u.Name, u.Columns))
				}
			}
			return keys
		}
		if got, want := unique(table), unique(want); !slices.Equal(got, want) {
			t.Errorf("got unique keys %q, want %q", got, want)
		}
		if len(table.NewIDs) > 0 {
			t.Errorf("%s: the database still counts up its ids", want.Name)
		}
	}
}

func format[T any](entries []*T) (texts []string) {
	for _, e := range entries {
		texts = append(texts, fmt.Sprintf("%+v", *e))
	}
	return texts
}
