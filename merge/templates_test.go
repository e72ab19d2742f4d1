//go:build unix

package merge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

func readTemplate(t *testing.T, file string) *plan.Decisions {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := plan.ReadDecisions(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return d
}

// Templates are about no sources, and have nothing that is not decided.
func TestTemplates(t *testing.T) {
	files, err := filepath.Glob("templates/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %v, %v", files, err)
	}
	for _, file := range files {
		d := readTemplate(t, file)
		proposed := slices.ContainsFunc(d.References, func(m *plan.Meaning) bool { return m.Proposed })
		if len(d.Sources)+len(d.NewIDs)+len(d.Schema)+len(d.Questions)+len(d.Accepted) > 0 || proposed {
			t.Errorf("%s is the plan of somebody", file)
		}
	}
}

// serverOfCharacters returns statements that make a small database in the style of the template's, of a realm whose ids
// begin at first.
func serverOfCharacters(first int) []string {
	s := []string{
		"CREATE TABLE characters (guid INT UNSIGNED PRIMARY KEY, account INT UNSIGNED NOT NULL, name VARCHAR(12) NOT NULL, map SMALLINT UNSIGNED NOT NULL)",
		"CREATE TABLE character_stats (guid INT UNSIGNED PRIMARY KEY, maxhealth INT UNSIGNED NOT NULL)",
		"CREATE TABLE character_inventory (guid INT UNSIGNED NOT NULL, bag INT UNSIGNED NOT NULL, slot TINYINT UNSIGNED NOT NULL, item INT UNSIGNED PRIMARY KEY)",
		"CREATE TABLE character_queststatus (guid INT UNSIGNED, quest INT UNSIGNED, PRIMARY KEY (guid, quest))",
		"CREATE TABLE item_instance (guid INT UNSIGNED PRIMARY KEY, itemEntry MEDIUMINT UNSIGNED NOT NULL, owner_guid INT UNSIGNED NOT NULL, creatorGuid INT UNSIGNED NOT NULL)",
		"CREATE TABLE guild (guildid INT UNSIGNED PRIMARY KEY, name VARCHAR(24) NOT NULL, leaderguid INT UNSIGNED NOT NULL)",
		"CREATE TABLE guild_member (guildid INT UNSIGNED NOT NULL, guid INT UNSIGNED PRIMARY KEY)",
		"CREATE TABLE mail (id INT UNSIGNED PRIMARY KEY, messageType TINYINT UNSIGNED NOT NULL, stationery TINYINT NOT NULL, sender INT UNSIGNED NOT NULL, receiver INT UNSIGNED NOT NULL)",
		"CREATE TABLE mail_items (mail_id INT UNSIGNED NOT NULL, item_guid INT UNSIGNED PRIMARY KEY, receiver INT UNSIGNED NOT NULL)",
		"CREATE TABLE custom_house (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, owner INT UNSIGNED NOT NULL)",
	}
	for n := first; n < first+40; n++ {
		s = append(s,
			fmt.Sprintf("INSERT INTO characters VALUES (%d, %d, 'hero%d', 1)", n, n%7+1, n),
			fmt.Sprintf("INSERT INTO character_stats VALUES (%d, 100)", n),
			fmt.Sprintf("INSERT INTO item_instance VALUES (%d, 25, %d, %d)", 2*n, n, n*(n%2)),
			fmt.Sprintf("INSERT INTO character_inventory VALUES (%d, 0, 3, %d)", n, 2*n),
			fmt.Sprintf("INSERT INTO character_queststatus VALUES (%d, %d)", n, n%5+1),
			fmt.Sprintf("INSERT INTO mail VALUES (%d, %d, 41, %d, %d)", n, n%2*3, n, n),
			fmt.Sprintf("INSERT INTO custom_house (owner) VALUES (%d)", n))
	}
	for n := first; n < first+5; n++ {
		s = append(s, fmt.Sprintf("INSERT INTO guild VALUES (%d, 'guild%d', %d)", n, n, n), fmt.Sprintf("INSERT INTO guild_member VALUES (%d, %d)", n, n),
			fmt.Sprintf("INSERT INTO mail_items VALUES (%d, %d, %d)", n, 2*n, n))
	}
	return s
}

func TestCharactersTemplate(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	sources := []merge.Source{newSource(t, server, "eu", serverOfCharacters(1)...), newSource(t, server, "us", serverOfCharacters(20)...)}
	template := readTemplate(t, "templates/azerothcore-characters.yaml")
	t.Run("one database", func(t *testing.T) { charactersTemplate(t, sources, template, "") })
	t.Run("several", func(t *testing.T) {
		for i := range sources {
			var name string
			if err := sources[i].DB.QueryRowContext(t.Context(), "SELECT DATABASE()").Scan(&name); err != nil {
				t.Fatal(err)
			}
			sources[i].Databases = map[string]string{"game": name}
		}
		in, err := template.In("game")
		if err != nil {
			t.Fatal(err)
		}
		charactersTemplate(t, sources, in, "game.")
	})
}

// charactersTemplate applies the template. The names of tables begin with prefix.
func charactersTemplate(t *testing.T, sources []merge.Source, template *plan.Decisions, prefix string) {
	t.Helper()
	p, err := merge.Inspect(t.Context(), sqlsnow.MySQL, sources...)
	if err != nil {
		t.Fatal(err)
	}
	left, err := template.Apply(p)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(left, func(n plan.Name) bool { return n.Text == prefix+"arena_team.captainGuid" && n.Line > 0 }) {
		t.Errorf("arena_team is not there, and the template has it: got %v", left)
	}
	for column, want := range map[string]string{
		"characters.guid": "key", "item_instance.guid": "key", "guild.guildid": "key", "mail.id": "key",
		"character_stats.guid": "reference characters", "character_inventory.guid": "reference characters", "character_inventory.item": "reference item_instance",
		"character_inventory.bag": "reference item_instance", "item_instance.creatorGuid": "reference characters", "guild_member.guid": "reference characters",
		"guild_member.guildid": "reference guild", "mail.sender": "polymorphic characters   ", "mail_items.mail_id": "reference mail",
		"mail_items.item_guid": "reference item_instance", "character_queststatus.quest": "plain", "item_instance.itemEntry": "plain", "mail.stationery": "plain",
	} {
		table, name, _ := strings.Cut(column, ".")
		c := findColumn(t, p, prefix+table, name)
		got := string(c.Role)
		for _, r := range c.Refers {
			got += " " + strings.TrimPrefix(r.Table, prefix)
		}
		if strings.TrimSpace(got) != strings.TrimSpace(want) || !c.Decided {
			t.Errorf("%s: got %q, decided %v, want %q", column, got, c.Decided, want)
		}
		if p.Question(prefix+column) != nil {
			t.Errorf("%s is still asked for", column)
		}
	}
	if c := findColumn(t, p, prefix+"character_inventory", "bag"); !slices.Equal(c.None, []string{"0"}) {
		t.Errorf("bag: got none %q, want 0", c.None)
	}
	if t1 := findTable(t, p, prefix+"character_stats"); len(t1.NewIDs) > 0 {
		t.Errorf("character_stats has no ids of its own, and gets new ones in %q", t1.NewIDs)
	}
	// What the template does not name is as Inspect proposes it.
	if c := findColumn(t, p, prefix+"custom_house", "owner"); c.Decided {
		t.Errorf("custom_house.owner is decided as %s", c.Role)
	}
	schema, err := merge.ReadSchema(t.Context(), sqlsnow.MySQL, sources...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Shorten(p, schema); err != nil {
		t.Error(err)
	}
}
