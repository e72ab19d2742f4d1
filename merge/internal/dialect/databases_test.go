package dialect

import (
	"testing"

	"github.com/shardsnow/snow/sqlsnow"
)

func TestTable(t *testing.T) {
	e, err := Of(sqlsnow.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	several := e.In(map[string]string{"auth": "eu.auth", "game": "eu`game"})
	one := e.In(map[string]string{"": "eu"})
	for _, test := range []struct {
		in          *Dialect
		table, want string
	}{
		{e, "players", "`players`"},
		{e, "auth.account", "`auth.account`"}, // a dot of its own
		{several, "auth.account", "`eu.auth`.`account`"},
		{several, "game.a.b", "`eu``game`.`a.b`"},
		{several, "snow_merge_map", "`snow_merge_map`"},
		{several, "other.account", "`other.account`"},
		{several, ".account", "`.account`"},
		{one, "players", "`eu`.`players`"},
		{one, ".players", "`eu`.`.players`"},
		{one, "auth.account", "`eu`.`auth.account`"},
	} {
		if got := test.in.Table(test.table); got != test.want {
			t.Errorf("%q in %v: got %s, want %s", test.table, test.in.Databases(), got, test.want)
		}
	}
	const text = `SELECT COUNT(*) FROM {auth}.account WHERE data <> '{"auth": {game2}}'`
	if got, want := several.Expand(text), "SELECT COUNT(*) FROM `eu.auth`.account WHERE data <> '{\"auth\": {game2}}'"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := e.Expand(text); got != text {
		t.Errorf("got %s", got)
	}
	// The values of an expression count before a database of that name, and nothing is expanded in them.
	ab := e.In(map[string]string{"": "x", "a": "eu_a", "b": "eu_b"})
	if got, want := ab.Expand("GREATEST({a}, {b})", "{a}", "'{b}'", "{b}", "2"), "GREATEST('{b}', 2)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if e.In(nil) != e {
		t.Error("without databases it is another dialect")
	}
}
