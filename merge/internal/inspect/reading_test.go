package inspect

import (
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// schema is a plan with tables and columns of names.
func schema(tables map[string][]string) *plan.Plan {
	p := &plan.Plan{}
	for name, columns := range tables {
		t := &plan.Table{Name: name}
		for _, c := range columns {
			t.Columns = append(t.Columns, &plan.Column{Name: c})
		}
		p.Tables = append(p.Tables, t)
	}
	return p
}

func TestRead(t *testing.T) {
	v := newVocabulary(schema(map[string][]string{
		"players": {"id", "playername"}, "guild": {"guildid"}, "item_instance": {"guid"}, "orders": {"id_order"}, "homunculus": {"homun_id"},
	}))
	tests := []struct {
		name, stem   string
		id, quantity bool
	}{
		{"guid", "", true, false},
		{"playerGuid", "player", true, false},
		{"player_guid", "player", true, false},
		{"itemguid", "item", true, false},
		{"leaderguid", "leader", true, false},
		{"guildid", "guild", true, false},
		{"homunid", "homun", true, false},
		{"containerGUID", "container", true, false},
		{"PlayerGuid1", "player", true, false},
		{"id_order", "order", true, false},
		{"id_order_2", "order", true, false},
		{"item0", "item", false, false},
		{"itemowner", "item owner", false, false},
		{"itemkey", "item", true, false},
		{"owner", "owner", false, false},
		{"receiver_accountid", "receiver account", true, false},
		{"max_players", "max player", false, true},
		{"level", "level", false, true},
		{"valid", "valid", false, false},
		{"unpaid", "unpaid", false, false},
		{"grid", "grid", false, false},
		{"", "", false, false},
		{"_7_", "", false, false},
	}
	for _, test := range tests {
		got := v.read(test.name)
		if strings.Join(got.stem, " ") != test.stem || got.id != test.id || got.quantity != test.quantity {
			t.Errorf("%q: got %+v, want %+v", test.name, got, test)
		}
	}
}

// TestNamed asks which names say that there are ids, without any other evidence.
func TestNamed(t *testing.T) {
	p := schema(map[string][]string{"users": nil, "guild_members": nil, "players": nil, "companies": nil, "grs": nil})
	v, namesIDs := newVocabulary(p), NamesIDs(p)
	tests := []struct {
		name, stem           string
		named, plural, alone bool // alone: a column of that name has ids
	}{
		{"player_id", "player", true, false, true},
		{"playerid", "player", true, false, true},
		{"memberIds", "member", true, true, true},
		{"id", "", true, false, true},
		{"uid", "user", true, false, true},
		{"target_pid", "target", true, false, true},
		{"guild", "guild", true, false, true},
		{"leader", "leader", true, false, true},
		{"created_by", "created by", true, false, true},
		{"parent", "parent", true, false, true},
		{"players", "player", true, true, false},
		{"max_players", "max player", true, true, false},
		{"level", "level", false, false, false},
		{"paid", "paid", false, false, false},
		{"player_count", "player count", false, false, false},
		{"", "", false, false, false},
	}
	for _, test := range tests {
		got := v.readReference(test.name)
		if strings.Join(got.stem, " ") != test.stem || got.named() != test.named || got.plural != test.plural {
			t.Errorf("%q: got %+v, want %+v", test.name, got, test)
		}
		if got := namesIDs(test.name); got != test.alone {
			t.Errorf("%q names ids: got %v", test.name, got)
		}
	}
	for name, want := range map[string]map[string]float64{
		"player_id":        {"players": 5, "t_player": 5, "guilds": 0},
		"target_player_id": {"players": 4},
		"guild_member_id":  {"guildmembers": 5, "guild_members": 5},
		"member_id":        {"guild_members": 2},
		"company_id":       {"companies": 5},
		"class_id":         {"classes": 5},
		"status_id":        {"status": 5},
		"boxes":            {"box": 5},
		"id":               {"players": 0},
		"player_level":     {"players": 2.5}, // a quantity
		"grid":             {"grs": 0},
	} {
		for table, points := range want {
			if got := alike(v.readReference(name).stem, v.thing(table)); got != points {
				t.Errorf("%q and %q: got %v, want %v", name, table, got, points)
			}
		}
	}
}

// TestPrefix leaves out the word that nearly all tables begin with.
func TestPrefix(t *testing.T) {
	v := newVocabulary(schema(map[string][]string{"ps_cart": nil, "ps_order": nil, "ps_lang": nil, "ps_tax_rules": nil, "other": nil}))
	for table, want := range map[string]string{"ps_cart": "cart", "ps_tax_rules": "tax rule", "other": "other", "tbl_players": "player", "ps": "ps"} {
		if got := strings.Join(v.thing(table), " "); got != want {
			t.Errorf("%q: got %q, want %q", table, got, want)
		}
	}
}

func TestAlike(t *testing.T) {
	tests := []struct {
		stem, of string
		want     float64
	}{
		{"player", "player", 5},
		{"arena team", "arenateam", 5},
		{"target player", "player", 4},
		{"char", "character", 3.5},
		{"character", "char", 3.5},
		{"leader char", "character", 3},
		{"address delivery", "address", 2.5},
		{"item", "item instance", 2},
		{"member", "guild member", 2},
		{"pet", "character pet", 2},
		{"merc", "mercenary owner", 1.5},
		{"petition", "character pet", 0}, // no table is short for a column
		{"player", "guild", 0},
		{"", "guild", 0},
		{"guild", "", 0},
	}
	for _, test := range tests {
		if got := alike(strings.Fields(test.stem), strings.Fields(test.of)); got != test.want {
			t.Errorf("%q and %q: got %v, want %v", test.stem, test.of, got, test.want)
		}
	}
}

// TestPoints weighs values: they count for much if chance explains them badly.
func TestPoints(t *testing.T) {
	tests := []struct {
		name        string
		fit         fit
		n           int
		least, most float64
	}{
		{"no values", fit{}, 0, 0, 0},
		{"no rows", fit{found: inclusion{0, 5}}, 5, -1, -1},
		{"others", fit{found: inclusion{2, 50}, known: true}, 50, -9, -9},
		{"many orphans", fit{found: inclusion{35, 50}, known: true}, 50, -2.5, -2.5},
		{"dense ids", fit{found: inclusion{50, 50}, known: true, info: -0.5, reach: 0.5}, 50, 0, 1},
		{"sparse ids", fit{found: inclusion{50, 50}, known: true, info: 40, reach: 0.5}, 50, 4, 5},
		{"a small part of the range", fit{found: inclusion{50, 50}, known: true, reach: 0.1}, 50, -1, 0},
		{"snowflakes", fit{found: inclusion{50, 50}, known: true, reach: 0.9, start: 1 << 50}, 50, 7, 9},
	}
	for _, test := range tests {
		if got := test.fit.points(test.n); got < test.least || got > test.most {
			t.Errorf("%s: got %v, want %v to %v", test.name, got, test.least, test.most)
		}
	}
}
