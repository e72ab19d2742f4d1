package refname

import (
	"strings"
	"testing"
)

// schema is tables and columns of names.
func schema(tables map[string][]string) []Table {
	var all []Table
	for name, columns := range tables {
		all = append(all, Table{Name: name, Columns: columns})
	}
	return all
}

func TestRead(t *testing.T) {
	v := NewVocabulary(schema(map[string][]string{
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
		{"pid", "pid", true, false},
		{"dwPID", "dw pid", true, false},
		{"bid", "bid", false, false},
		{"valid", "valid", false, false},
		{"unpaid", "unpaid", false, false},
		{"grid", "grid", false, false},
		{"", "", false, false},
		{"_7_", "", false, false},
		{"mendedby", "mended by", false, false},
		{"replyto", "reply to", false, false},
		{"firstguild", "first guild", false, false},
		{"parentlist", "parent list", false, false},
		{"can_see_guild", "can see guild", false, true},
		{"can", "can", false, false},
	}
	for _, test := range tests {
		got := v.Read(test.name)
		if strings.Join(got.Stem, " ") != test.stem || got.ID != test.id || got.Quantity != test.quantity {
			t.Errorf("%q: got %+v, want %+v", test.name, got, test)
		}
	}
}

// TestNamed asks which names say that there are ids, without any other evidence.
func TestNamed(t *testing.T) {
	p := schema(map[string][]string{"users": nil, "guild_members": nil, "players": nil, "companies": nil, "grs": nil})
	v := NewVocabulary(p)
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
		got := v.ReadReference(test.name)
		if strings.Join(got.Stem, " ") != test.stem || got.Named() != test.named || got.Plural != test.plural {
			t.Errorf("%q: got %+v, want %+v", test.name, got, test)
		}
		if got := v.NamesIDs(test.name); got != test.alone {
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
			if got := Alike(v.ReadReference(name).Stem, v.Thing(table)); got != points {
				t.Errorf("%q and %q: got %v, want %v", name, table, got, points)
			}
		}
	}
}

// TestPrefix leaves out the word that nearly all tables begin with.
func TestPrefix(t *testing.T) {
	v := NewVocabulary(schema(map[string][]string{"ps_cart": nil, "ps_order": nil, "ps_lang": nil, "ps_tax_rules": nil, "other": nil}))
	for table, want := range map[string]string{"ps_cart": "cart", "ps_tax_rules": "tax rule", "other": "other", "tbl_players": "player", "ps": "ps"} {
		if got := strings.Join(v.Thing(table), " "); got != want {
			t.Errorf("%q: got %q, want %q", table, got, want)
		}
	}
	v = NewVocabulary(schema(map[string][]string{"a_shop_cart": nil, "a_shop_order": nil, "a_shop_lang": nil, "a_shop_tax_rules": nil, "a_log": nil}))
	for table, want := range map[string]string{"a_shop_cart": "cart", "a_shop_tax_rules": "tax rule", "a_log": "log", "a_shop": "shop"} {
		if got := strings.Join(v.Thing(table), " "); got != want {
			t.Errorf("two words: %q: got %q, want %q", table, got, want)
		}
	}
}

// TestCommon reads names of keys that say nothing of any table, because several have them.
func TestCommon(t *testing.T) {
	v := NewVocabulary([]Table{
		{Name: "bill", Counted: "rowid"},
		{Name: "bank", Counted: "rowid"},
		{Name: "goods", Counted: "rowid"},
		{Name: "town", Counted: "town_id"},
		{Name: "land", Counted: "land_id"},
		{Name: "a", Counted: "town_id"},
		{Name: "b", Counted: "town_id"},
	})
	for name, want := range map[string]bool{"id": true, "rowid": true, "town_id": false, "land_id": false, "bill_id": false, "level": false} {
		if got := v.Read(name); got.Common != want || got.Common && (!got.ID || len(got.Stem) > 0 || got.Family() != "id") {
			t.Errorf("%q: got %+v, want common: %v", name, got, want)
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
		{"first castle wall", "castle wall place", 2},
		{"first castle wall", "wall castle place", 0},
		{"pet", "character pet", 2},
		{"deny member group", "membergroup", 4},
		{"reason", "reportreason", 2},
		{"merc", "mercenary owner", 1.5},
		{"pid", "player", 1.5},
		{"pid", "guild", 0},
		{"ship via", "shipper", 1},
		{"petition", "character pet", 0}, // no table is short for a column
		{"player", "guild", 0},
		{"", "guild", 0},
		{"guild", "", 0},
	}
	for _, test := range tests {
		if got := Alike(strings.Fields(test.stem), strings.Fields(test.of)); got != test.want {
			t.Errorf("%q and %q: got %v, want %v", test.stem, test.of, got, test.want)
		}
	}
}
