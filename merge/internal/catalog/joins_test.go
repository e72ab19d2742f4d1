package catalog

import (
	"slices"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

func TestJoins(t *testing.T) {
	table := func(name string, columns ...string) *Table {
		t := &Table{Table: &plan.Table{Name: name}}
		for _, c := range columns {
			t.Columns = append(t.Columns, &plan.Column{Name: c})
		}
		return t
	}
	c := &Catalog{Tables: []*Table{table("players", "id", "boss"), table("mails", "id", "sender", "receiver"), table("log", "who")}}
	tests := []struct {
		name, text, trigger string
		want                []string
	}{
		{"as MariaDB writes a view", "select `g`.`p`.`id` AS `id` from (`g`.`players` `p` join `g`.`mails` on(`p`.`id` = `g`.`mails`.`sender`))", "", []string{"players.id=mails.sender"}},
		{"aliases", `SELECT * FROM players AS a JOIN mails b ON b.receiver = a.id WHERE a.boss = 5`, "", []string{"mails.receiver=players.id"}},
		{"itself", `SELECT 1 FROM "players" a LEFT JOIN "players" b ON (a."boss" = b."id")`, "", []string{"players.boss=players.id"}},
		{"a trigger", "BEGIN DELETE FROM mails WHERE sender = OLD.id OR receiver = old.id; END", "players", []string{"mails.sender=players.id", "mails.receiver=players.id"}},
		{"a routine", "BEGIN UPDATE log l SET l.who = 3; SELECT m.id FROM mails m, log WHERE m.sender = log.who; END", "", []string{"mails.sender=log.who"}},
		{"no columns", "SELECT * FROM players p WHERE p.id = (SELECT max(x.y) FROM x) AND p.nothing = p.id AND 'id' = p.id", "", nil},
		{"broken", "SELECT = . = ( = FROM mails = ", "", nil},
		{"empty", "", "", nil},
	}
	for _, test := range tests {
		f := &joinFinder{catalog: c, tokens: tokenize(test.text), names: map[string]*Table{}}
		if of := c.Table(test.trigger); of != nil {
			f.names["new"], f.names["old"] = of, of
		}
		var got []string
		for _, j := range f.find() {
			got = append(got, j.Left+"="+j.Right)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// A definition may name tables of other databases, which are called otherwise on the server.
func TestJoinsOfDatabases(t *testing.T) {
	table := func(name string, columns ...string) *Table {
		t := &Table{Table: &plan.Table{Name: name}}
		for _, c := range columns {
			t.Columns = append(t.Columns, &plan.Column{Name: c})
		}
		return t
	}
	for text, want := range map[string]string{
		"select 1 from (`eu_game`.`hero` `h` join `eu_auth`.`account` `a` on(`h`.`account` = `a`.`id`))": "game.hero.account=auth.account.id",
		"SELECT 1 FROM hero h JOIN EU_AUTH.log l ON l.who = h.account":                                   "auth.log.who=game.hero.account",
		"SELECT 1 FROM hero h JOIN log l ON l.who = h.account":                                           "game.log.who=game.hero.account",
		"SELECT 1 FROM hero h JOIN account a ON a.id = h.account":                                        "", // the database of the definition has no such table
		"SELECT 1 FROM log WHERE OLD.account = log.who":                                                  "game.hero.account=game.log.who",
	} {
		c := &Catalog{Tables: []*Table{table("auth.account", "id"), table("auth.log", "who"), table("game.hero", "account"), table("game.log", "who")}}
		c.findJoins(definition{database: "game", table: "game.hero", where: "here", text: text}, map[string]string{"auth": "eu_auth", "game": "eu_game"})
		got := ""
		for _, j := range c.Joins {
			got += j.Left + "=" + j.Right
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func FuzzJoins(f *testing.F) {
	f.Add("select p.id from players p join mails on p.id = mails.sender")
	c := &Catalog{Tables: []*Table{{Table: &plan.Table{Name: "players", Columns: []*plan.Column{{Name: "id"}}}}}}
	f.Fuzz(func(t *testing.T, text string) {
		finder := &joinFinder{catalog: c, tokens: tokenize(text), names: map[string]*Table{}}
		for _, j := range finder.find() {
			t.Errorf("%q: a join of %q and %q, and there is one column", text, j.Left, j.Right)
		}
	})
}
