package merge

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"player_id": "player id", "playerID": "player id", "PlayerId": "player id", "PLAYER-ID": "player id", "HTTPServer": "http server",
		"id": "id", "": "", "__": "", "t_player2": "t player2", "玩家_id": "玩家 id",
	} {
		if got := strings.Join(words(name), " "); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestReadName(t *testing.T) {
	tests := []struct {
		name, stem    string
		named, plural bool
	}{
		{"player_id", "player", true, false},
		{"memberIds", "member", true, true},
		{"id", "", true, false},
		{"uid", "user", true, false},
		{"leader", "leader", true, false},
		{"created_by", "created by", true, false},
		{"players", "player", true, true},
		{"max_players", "max player", true, true},
		{"level", "level", false, false},
		{"paid", "paid", false, false},
		{"player_count", "player count", false, false},
		{"", "", false, false},
	}
	for _, test := range tests {
		got := readName(test.name)
		if strings.Join(got.stem, " ") != test.stem || got.named != test.named || got.plural != test.plural {
			t.Errorf("%q: got %+v, want %+v", test.name, got, test)
		}
	}
}

func TestMatch(t *testing.T) {
	tests := []struct {
		column, table string
		want          int
	}{
		{"player_id", "players", 3},
		{"player_id", "t_player", 3},
		{"playerid", "players", 3},
		{"guild_member_id", "guildmembers", 3},
		{"target_player_id", "players", 2},
		{"member_id", "guild_members", 1},
		{"company_id", "companies", 3},
		{"class_id", "classes", 3},
		{"status_id", "status", 3},
		{"boxes", "box", 3},
		{"player_id", "guilds", 0},
		{"id", "players", 0},
		{"player_level", "players", 0},
		{"grid", "grs", 0},
	}
	for _, test := range tests {
		if got := match(readName(test.column).stem, test.table); got != test.want {
			t.Errorf("%q and %q: got %d, want %d", test.column, test.table, got, test.want)
		}
	}
}

func TestTokenize(t *testing.T) {
	const statement = "CREATE TABLE \"a \"\"b\" (x, -- it's (\n y TEXT DEFAULT 'it''s, (' /* ' */, [z z] INT)"
	want := []string{"CREATE", "TABLE", `"a ""b"`, "(", "x", ",", "y", "TEXT", "DEFAULT", "'it''s, ('", ",", "[z z]", "INT", ")"}
	var got []string
	for _, token := range tokenize(statement) {
		got = append(got, token.text)
		if statement[token.at:token.at+len(token.text)] != token.text {
			t.Errorf("%q is not at %d", token.text, token.at)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for token, want := range map[string]string{`"a ""b"`: `a "b`, "[z z]": "z z", "`a``b`": "a`b", "x": "x", `"`: `"`} {
		if got := unquote(token); got != want {
			t.Errorf("unquote %s: got %q, want %q", token, got, want)
		}
	}
}

// FuzzTokenize checks that tokens lie in order in the statement, with nothing
// but spaces and comments between them, and that no statement is too odd for
// what reads them.
func FuzzTokenize(f *testing.F) {
	f.Add("CREATE TABLE t (a INT CHECK (a > 0) COLLATE nocase, b AS (a || ')') STORED)")
	f.Add("CREATE TABLE t ('a' AS, CHECK")
	f.Add("'it''s /* \"x -- [")
	f.Fuzz(func(t *testing.T, statement string) {
		end := 0
		for _, token := range tokenize(statement) {
			if token.text == "" || token.at < end || statement[token.at:token.at+len(token.text)] != token.text {
				t.Fatalf("%q at %d, after %d", token.text, token.at, end)
			}
			between := strings.TrimLeft(statement[end:token.at], " \t\n\r\f")
			if between != "" && !strings.HasPrefix(between, "--") && !strings.HasPrefix(between, "/*") {
				t.Fatalf("%q is left out", between)
			}
			end = token.at + len(token.text)
		}
		table := &found{Table: &plan.Table{Name: "t", Columns: []*plan.Column{{Name: "a", Generated: "?"}, {Name: "b"}}}}
		table.readStatement(statement)
	})
}
