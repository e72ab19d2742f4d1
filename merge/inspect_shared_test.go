//go:build unix

package merge_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// inspected is the plan of two sources that have the same tables, and then some statements of their own, and its decisions.
func inspected(t *testing.T, schema []string, sources ...[]string) *plan.Plan {
	t.Helper()
	server := dbtest.SharedMariaDB(t)
	var all []merge.Source
	for i, statements := range sources {
		all = append(all, newSource(t, server, string(rune('a'+i)), slices.Concat(schema, statements)...))
	}
	p, err := merge.Inspect(t.Context(), sqlsnow.MySQL, all...)
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := merge.ReadSchema(t.Context(), sqlsnow.MySQL, all...)
	if err != nil {
		t.Fatal(err)
	}
	d, err := plan.Shorten(p, schemas)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Complete(schemas); err != nil {
		t.Fatalf("inspect refuses its own plan: %v", err)
	}
	asked := map[string]int{}
	for _, q := range d.Questions {
		for _, n := range q.Columns {
			asked[n.Text]++
		}
	}
	for name, n := range asked {
		if n > 1 {
			t.Errorf("%s is in %d questions", name, n)
		}
	}
	return p
}

// Tables that are the same on both servers are asked about, and not doubled without a word.
func TestInspectSharedTables(t *testing.T) {
	p := inspected(t, []string{
		"CREATE TABLE characters (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE)",
		"CREATE TABLE drops (id INT AUTO_INCREMENT PRIMARY KEY, monster INT NOT NULL, chance INT NOT NULL)",
		"CREATE TABLE recipes (code VARCHAR(20) PRIMARY KEY, id INT NOT NULL AUTO_INCREMENT UNIQUE, label VARCHAR(20) NOT NULL)",
		"CREATE TABLE flags (id INT AUTO_INCREMENT PRIMARY KEY, is_set TINYINT NOT NULL)",
		"CREATE TABLE owners (id INT AUTO_INCREMENT PRIMARY KEY, character_id INT NOT NULL, note VARCHAR(20) NOT NULL, FOREIGN KEY (character_id) REFERENCES characters (id))",
		"CREATE TABLE states (state_id INT NOT NULL AUTO_INCREMENT, character_id INT NOT NULL, label VARCHAR(20) NOT NULL, PRIMARY KEY (state_id, character_id), FOREIGN KEY (character_id) REFERENCES characters (id))",
		"CREATE TABLE ranks (id INT AUTO_INCREMENT PRIMARY KEY, character_id INT NOT NULL, points INT NOT NULL, FOREIGN KEY (character_id) REFERENCES characters (id))",
		"CREATE TABLE looks (character_id INT NOT NULL, colour INT NOT NULL, FOREIGN KEY (character_id) REFERENCES characters (id))",
		"CREATE TABLE teams (character_id INT NOT NULL, leads TINYINT NOT NULL, FOREIGN KEY (character_id) REFERENCES characters (id))",
		"CREATE TABLE icons (id INT AUTO_INCREMENT PRIMARY KEY, character_id INT NOT NULL, file VARCHAR(20) NOT NULL, FOREIGN KEY (character_id) REFERENCES characters (id))",
		"CREATE TABLE shop (monster INT NOT NULL, price INT NOT NULL, amount SMALLINT NOT NULL, PRIMARY KEY (monster, price))",
		"CREATE TABLE gacha (weight INT NOT NULL, prize INT NOT NULL)",
		"CREATE TABLE gacha_log (weight INT NOT NULL, prize INT NOT NULL)",
		"INSERT INTO drops SELECT seq, 70000 + seq * 37, seq % 7 FROM seq_1_to_300",
		"INSERT INTO recipes SELECT CONCAT('c', seq), seq, CONCAT('l', seq) FROM seq_1_to_50",
		"INSERT INTO flags SELECT seq, seq % 2 FROM seq_1_to_60",
		"INSERT INTO shop SELECT 70000 + seq, seq * 5, seq % 9 FROM seq_1_to_300",
		"INSERT INTO gacha SELECT seq * 3, 9000000 + seq FROM seq_1_to_300",
	},
		[]string{
			"INSERT INTO characters SELECT seq, CONCAT('an', seq) FROM seq_1_to_300", "INSERT INTO owners SELECT seq, seq, CONCAT('n', seq) FROM seq_1_to_60",
			"INSERT INTO states SELECT (1 + seq) DIV 2, 1 + (1 + seq) % 2, CONCAT('s', seq) FROM seq_1_to_12", "INSERT INTO ranks VALUES (1, 3, 5), (2, 1, 19), (3, 2, 23), (4, 1, 13)",
			"INSERT INTO looks SELECT seq, 1000 + seq % 7 FROM seq_1_to_60", "INSERT INTO teams SELECT seq, seq % 2 FROM seq_1_to_60", "INSERT INTO gacha_log SELECT seq, 9000000 + seq FROM seq_1_to_100",
			"INSERT INTO icons SELECT seq, seq * 3, CONCAT('i', seq) FROM seq_1_to_40",
		},
		[]string{
			"INSERT INTO characters SELECT seq, CONCAT('bo', seq) FROM seq_1_to_300", "INSERT INTO owners SELECT seq, seq, CONCAT('n', seq) FROM seq_1_to_60",
			"INSERT INTO states SELECT (1 + seq) DIV 2, 1 + (1 + seq) % 2, CONCAT('s', seq) FROM seq_1_to_12", "INSERT INTO ranks VALUES (1, 3, 5), (2, 1, 19), (3, 2, 23), (4, 1, 13)",
			"INSERT INTO looks SELECT seq, 1000 + seq % 7 FROM seq_1_to_60", "INSERT INTO teams SELECT seq, seq % 2 FROM seq_1_to_60", "INSERT INTO gacha_log SELECT 94 + seq, 9000094 + seq FROM seq_1_to_106",
			"INSERT INTO icons SELECT seq, seq * 2, CONCAT('i', seq) FROM seq_1_to_40",
		},
	)
	rule := func(table string) (found plan.Rule, suspects string) {
		for _, u := range findTable(t, p, table).Unique {
			if slices.Equal(u.Columns, findTable(t, p, table).PrimaryKey) {
				return u.Rule, strings.Join(u.Suspects, "; ")
			}
		}
		return "", ""
	}
	for table, want := range map[string]string{"drops": "300 of 300", "shop": "300 of those rows are equal"} {
		if got, why := rule(table); got != plan.RuleMatch || !strings.Contains(why, want) || len(findTable(t, p, table).NewIDs) > 0 {
			t.Errorf("%s: rule %s, suspects %q: want match, and %q", table, got, why, want)
		}
	}
	if recipes := findTable(t, p, "recipes"); len(recipes.NewIDs) > 0 || len(recipes.Unique) != 2 || slices.ContainsFunc(recipes.Unique, func(u *plan.Unique) bool { return u.Rule != plan.RuleMatch || len(u.Suspects) != 1 }) {
		t.Errorf("recipes: new ids for %q, unique keys %+v %+v", recipes.NewIDs, recipes.Unique[0], recipes.Unique[1:])
	}
	said := func(table, column string) string {
		text := strings.Join(findTable(t, p, table).Column(column).Suspects, "; ")
		if q := p.Question(table + "." + column); q != nil {
			text += strings.Join(q.Evidence, "; ")
		}
		return text
	}
	for table, want := range map[string]string{"flags": "60 of 60 sampled rows are the same", "owners": "character_id refers to rows with new ids", "icons": "but for the rows that they refer to"} {
		if got := said(table, "id"); !strings.Contains(got, want) || len(findTable(t, p, table).NewIDs) != 2 {
			t.Errorf("%s: asked %q, new ids for %q; want %q, and all rows copied", table, got, findTable(t, p, table).NewIDs, want)
		}
	}
	if got, why := rule("states"); got != plan.RuleFail || !strings.Contains(why, "12 of 12 sampled rows are the same in two sources") {
		t.Errorf("states: rule %s, asked %q", got, why)
	}
	if got := said("ranks", "id"); !strings.Contains(got, "4 of 4 sampled rows are the same") {
		t.Errorf("ranks: asked %q", got)
	}
	if got := said("looks", "colour"); !strings.Contains(got, "60 of 60 sampled rows are the same") || len(findTable(t, p, "looks").WithoutRows) > 0 {
		t.Errorf("looks: asked %q", got)
	}
	if got := said("teams", "character_id") + said("teams", "leads"); strings.Contains(got, "the same") {
		t.Errorf("teams: asked %q", got)
	}
	gacha := findTable(t, p, "gacha")
	if got := said("gacha", "weight"); !strings.Contains(got, "all 300 rows are the same") || len(gacha.WithoutRows) != 1 || !slices.Equal(gacha.WithoutRows[0].Sources, []string{"b"}) {
		t.Errorf("gacha: %q, without rows %v", got, gacha.WithoutRows)
	}
	if log := findTable(t, p, "gacha_log"); strings.Contains(said("gacha_log", "weight"), "the same") || len(log.WithoutRows) > 0 {
		t.Errorf("gacha_log: %q, without rows %v", said("gacha_log", "weight"), log.WithoutRows)
	}
}

// The answer both copies the rows of a table that is the same on both, with new ids.
func TestBothOfASharedTable(t *testing.T) {
	f := newFixture(t, "", []string{
		"CREATE TABLE drops (id INT AUTO_INCREMENT PRIMARY KEY, monster INT NOT NULL)", "INSERT INTO drops SELECT seq, 70000 + seq * 37 FROM seq_1_to_30",
		"CREATE TABLE shop (monster INT NOT NULL, price INT NOT NULL, PRIMARY KEY (monster, price))", "INSERT INTO shop SELECT 70000 + seq, seq * 5 FROM seq_1_to_30",
		"CREATE TABLE heroes (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(12))", "INSERT INTO heroes VALUES (1, LEFT(UUID(), 12))",
	}, nil, nil)
	p, err := merge.Inspect(t.Context(), sqlsnow.MySQL, f.sources...)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := merge.ReadSchema(t.Context(), sqlsnow.MySQL, f.sources...)
	if err != nil {
		t.Fatal(err)
	}
	answered := func(table string) (*plan.Plan, error) {
		d, err := plan.Shorten(p, schema)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range d.Questions {
			for _, doubt := range q.Unique {
				if strings.HasPrefix(doubt.Key.Text, table) {
					q.Unique, q.Answer.Text = []plan.Doubt{doubt}, plan.AnswerBoth
					break
				}
			}
		}
		return d.Complete(schema)
	}
	both, err := answered("drops")
	if err != nil {
		t.Fatal(err)
	}
	if drops := findTable(t, both, "drops"); len(drops.NewIDs) != 2 || drops.Merges(both.Sources) {
		t.Errorf("drops: new ids for %q, unique keys %+v", drops.NewIDs, drops.Unique)
	}
	d, err := plan.Shorten(both, schema)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(d.KeepIDs, func(n plan.Name) bool { return n.Text == "drops" }) {
		t.Errorf("keep_ids: %v", d.KeepIDs)
	}
	if _, err := answered("shop"); err == nil || !strings.Contains(err.Error(), "both is for keys") {
		t.Errorf("of a key without ids of its own: got %v", err)
	}
}

// A suffix is for names: what programs know by its text, and addresses, keep it.
func TestInspectProposesNoSuffix(t *testing.T) {
	const fill = "INSERT INTO %s SELECT seq, CONCAT('%s', IF(seq %% 3 = 0, seq, CONCAT(DATABASE(), seq)), '%s'), 'x' FROM seq_1_to_90"
	server := []string{
		"CREATE TABLE characters (id INT AUTO_INCREMENT PRIMARY KEY, nick VARCHAR(99) NOT NULL UNIQUE, note CHAR(1))",
		"CREATE TABLE accounts (id INT AUTO_INCREMENT PRIMARY KEY, email VARCHAR(99) NOT NULL UNIQUE, note CHAR(1))",
		"CREATE TABLE contacts (id INT AUTO_INCREMENT PRIMARY KEY, place VARCHAR(99) NOT NULL UNIQUE, note CHAR(1))",
		"CREATE TABLE coupons (id INT AUTO_INCREMENT PRIMARY KEY, coupon_code VARCHAR(99) NOT NULL UNIQUE, note CHAR(1))",
		"CREATE TABLE jobs (name VARCHAR(50) PRIMARY KEY, label VARCHAR(50))",
		"CREATE TABLE config (name VARCHAR(50) PRIMARY KEY, setting VARCHAR(50))",
		"CREATE TABLE users (identifier VARCHAR(50) PRIMARY KEY, gold INT)",
		fmt.Sprintf(fill, "characters", "hero", ""), fmt.Sprintf(fill, "accounts", "m", "@example.com"), fmt.Sprintf(fill, "contacts", "m", "@example.org"), fmt.Sprintf(fill, "coupons", "C", ""),
		"INSERT INTO jobs VALUES ('police', 'Police'), ('ambulance', 'Doctors'), ('miner', 'Miner')",
		"INSERT INTO config SELECT CONCAT('key', seq), CONCAT(DATABASE(), seq) FROM seq_1_to_30",
		"INSERT INTO users SELECT CONCAT('license:', IF(seq % 9 = 0, seq, CONCAT(DATABASE(), seq))), seq * LENGTH(DATABASE()) + ASCII(RIGHT(DATABASE(), 1)) FROM seq_1_to_90",
	}
	p := inspected(t, server, nil, nil)
	for column, want := range map[string]plan.Rule{
		"characters.nick": plan.RuleSuffix, "accounts.email": plan.RuleFail, "contacts.place": plan.RuleFail, "coupons.coupon_code": plan.RuleFail,
		"jobs.name": plan.RuleMatch, "config.name": plan.RuleKeep, "users.identifier": plan.RuleFail,
	} {
		table, name, _ := strings.Cut(column, ".")
		for _, u := range findTable(t, p, table).Unique {
			if slices.Equal(u.Columns, []string{name}) && (u.Rule != want || len(u.Suspects) == 0) {
				t.Errorf("%s: rule %s, suspects %q: want %s, asked", column, u.Rule, u.Suspects, want)
			}
		}
	}
}

// A table that is the same on both is merged once as it is proposed, and the plan is accepted.
func TestMergeSharedTable(t *testing.T) {
	f := newFixture(t, "", []string{
		"CREATE TABLE heroes (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(12))",
		"CREATE TABLE gacha (weight INT NOT NULL, prize INT NOT NULL)", "INSERT INTO gacha SELECT seq * 3, 9000000 + seq FROM seq_1_to_30",
		"CREATE TABLE shop (monster INT NOT NULL, price INT NOT NULL, amount SMALLINT NOT NULL, PRIMARY KEY (monster, price))", "INSERT INTO shop SELECT 70000 + seq, seq * 5, seq % 9 FROM seq_1_to_30",
		"INSERT INTO heroes VALUES (1, 'x'), (2, 'y')",
	}, nil, nil)
	f.plan.Questions = nil
	f.tables()
	if forecast, err := f.merge().DryRun(t.Context()); err != nil || forecast.Err() != nil {
		t.Fatal(errors.Join(err, forecast.Err()))
	}
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got := f.rows(f.target, "SELECT (SELECT COUNT(*) FROM gacha), (SELECT COUNT(*) FROM shop)"); got != "30 30" {
		t.Errorf("gacha and shop have %s rows, want 30 30", got)
	}
}
