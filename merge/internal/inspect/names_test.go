package inspect

import (
	"strings"
	"testing"
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
