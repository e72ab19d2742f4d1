//go:build unix

package merge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// TestSilent gives Inspect what it could take for something else without a word. The second source has more rows, and
// only its own names.
func TestSilent(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	const (
		chars  = "CREATE TABLE chars (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, nick VARCHAR(20)); INSERT INTO chars SELECT seq, CONCAT('{s}', seq) FROM seq_1_to_{240}"
		sparse = "CREATE TABLE chars (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, nick VARCHAR(20)); INSERT INTO chars SELECT seq * 7, CONCAT('{s}', seq) FROM seq_1_to_{240}"
		clans  = "CREATE TABLE clans (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, title VARCHAR(20)); INSERT INTO clans SELECT seq, CONCAT('{s}', seq) FROM seq_1_to_{40}"
	)
	tests := []struct {
		name   string
		tables []string
		want   map[string]string // what describe says of columns
		says   string            // in the evidence or a suspect of the first
	}{
		{
			"a key that counts up",
			[]string{chars, "CREATE TABLE mails (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, body VARCHAR(20)); INSERT INTO mails SELECT seq, '{s}' FROM seq_1_to_{120}"},
			map[string]string{"mails.id": "key"},
			"",
		},
		{
			"a key that is another table's id",
			[]string{sparse, "CREATE TABLE mascots (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, body VARCHAR(20)); INSERT INTO mascots SELECT seq * 14, '{s}' FROM seq_1_to_{120}"},
			map[string]string{"mascots.id": "reference chars, asked"},
			"ids of",
		},
		{
			"a key of a part that counts up as the whole does",
			[]string{
				strings.ReplaceAll(chars, "chars", "stories"), "CREATE TABLE story_texts (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, body VARCHAR(20)); INSERT INTO story_texts SELECT seq, '{s}' FROM seq_1_to_{240} WHERE seq < 200",
				"CREATE TABLE story_votes (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, story_id INT NOT NULL); INSERT INTO story_votes SELECT seq, 1 + seq * {80} % 239 FROM seq_1_to_199",
			},
			map[string]string{"story_texts.id": "reference stories, asked", "story_votes.id": "key"},
			"ids of",
		},
		{
			"a key that may be another table's id",
			[]string{chars, "CREATE TABLE mascots (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, body VARCHAR(20)); INSERT INTO mascots SELECT seq * 2, '{s}' FROM seq_1_to_{120}"},
			map[string]string{"mascots.id": "undecided, asked"},
			"ids of",
		},
		{
			"a key that is each id of another table",
			[]string{sparse, "CREATE TABLE purses (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, coins INT); INSERT INTO purses SELECT seq * 7, seq FROM seq_1_to_{240}"},
			map[string]string{"purses.id": "reference chars, asked"},
			"ids of",
		},
		{
			"a key that no source counts up, of another table's ids",
			[]string{chars, "CREATE TABLE horse_names (id INT NOT NULL PRIMARY KEY, label VARCHAR(20)); INSERT INTO horse_names SELECT seq * 3, '{s}' FROM seq_1_to_{80}"},
			map[string]string{"horse_names.id": "reference chars, asked"},
			"ids of",
		},
		{
			"an initial",
			[]string{strings.ReplaceAll(chars, "chars", "player"), "CREATE TABLE guild_seat (pid INT NOT NULL PRIMARY KEY, rung INT); INSERT INTO guild_seat SELECT seq * 3, 1 FROM seq_1_to_{80}"},
			map[string]string{"guild_seat.pid": "reference player, asked"},
			"ids of",
		},
		{
			"properties of large ids",
			[]string{
				"CREATE TABLE beings (id INT UNSIGNED NOT NULL PRIMARY KEY, cfg INT); INSERT INTO beings SELECT 1300000000 + seq * 3, 1 FROM seq_1_to_{240}",
				"CREATE TABLE traits (being_id INT UNSIGNED NOT NULL, type SMALLINT NOT NULL, value INT UNSIGNED NOT NULL, PRIMARY KEY (being_id, type));" +
					"INSERT INTO traits SELECT 1300000000 + seq * 3, 2, 1300000000 + ({240} + 1 - seq) * 3 FROM seq_1_to_{240}; INSERT INTO traits SELECT 1300000000 + seq * 3, 26, seq * 1000 FROM seq_1_to_{100}",
			},
			map[string]string{"traits.value": "polymorphic type 2=beings 26=, suspect"},
			"does type say",
		},
		{
			"kinds of one table",
			[]string{
				sparse, strings.Replace(clans, "SELECT seq", "SELECT 268000000 + seq * 5", 1),
				"CREATE TABLE goods (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, owner_id INT, loc VARCHAR(10) NOT NULL);" +
					"INSERT INTO goods (owner_id, loc) SELECT seq * 7, ELT(1 + seq % 3, 'BAG', 'DOLL', 'STORE') FROM seq_1_to_{240}; INSERT INTO goods (owner_id, loc) SELECT 268000000 + seq * 5, 'CLAN' FROM seq_1_to_{40}",
			},
			map[string]string{"goods.owner_id": "polymorphic loc BAG=chars CLAN=clans DOLL=chars STORE=chars, suspect"},
			"",
		},
		{
			"kinds whose ids all begin at 1",
			[]string{
				chars, clans,
				"CREATE TABLE chests (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, owner_id INT, owner_type TINYINT NOT NULL);" +
					"INSERT INTO chests (owner_id, owner_type) SELECT seq, 1 FROM seq_1_to_{240}; INSERT INTO chests (owner_id, owner_type) SELECT seq, 2 FROM seq_1_to_{40}",
			},
			map[string]string{"chests.owner_id": "polymorphic owner_type 1=chars 2=clans, suspect"},
			"",
		},
		{
			"a kind beside ids of one table",
			[]string{
				chars,
				"CREATE TABLE chests (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, owner_id INT, owner_type TINYINT NOT NULL); INSERT INTO chests (owner_id, owner_type) SELECT 1 + seq % {240}, seq % 2 FROM seq_1_to_{900}",
			},
			map[string]string{"chests.owner_id": "reference chars, asked"},
			"does owner_type say whose ids these are?",
		},
		{
			"ids of two tables",
			[]string{
				sparse, strings.Replace(clans, "SELECT seq", "SELECT 268000000 + seq * 5", 1),
				"CREATE TABLE stores (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, thing_id INT); INSERT INTO stores (thing_id) SELECT seq * 7 FROM seq_1_to_{240}; INSERT INTO stores (thing_id) SELECT 268000000 + seq * 5 FROM seq_1_to_{40}",
			},
			map[string]string{"stores.thing_id": "undecided, asked"},
			"of the others 90 are ids of clans",
		},
		{
			"orphans",
			[]string{
				strings.ReplaceAll(chars, "chars", "player"),
				"CREATE TABLE lore (dwPID INT NOT NULL, entry INT NOT NULL); INSERT INTO lore SELECT 1 + seq % {240}, 1 + seq % 9 FROM seq_1_to_{900}; INSERT INTO lore SELECT {240} + seq * 9, 1 FROM seq_1_to_60",
			},
			map[string]string{"lore.dwPID": "reference player, asked"},
			"sampled values are ids of",
		},
		{
			"orphans of no name",
			[]string{
				chars,
				"CREATE TABLE lore (subject INT NOT NULL, entry INT NOT NULL); INSERT INTO lore SELECT 1 + seq % {240}, 1 + seq % 9 FROM seq_1_to_{900}; INSERT INTO lore SELECT {240} + seq * 9, 1 FROM seq_1_to_60",
			},
			map[string]string{"lore.subject": "plain, asked"},
			"",
		},
		{
			"one name",
			[]string{
				chars, "CREATE TABLE seats (actor INT NOT NULL, rung INT NOT NULL, PRIMARY KEY (actor)); INSERT INTO seats SELECT seq * 3, seq % 9 FROM seq_1_to_{80}",
				"CREATE TABLE gone (actor INT NOT NULL, day DATE, PRIMARY KEY (actor, day)); INSERT INTO gone SELECT 5000 + seq, '2024-01-01' FROM seq_1_to_50",
			},
			map[string]string{"seats.actor": "reference chars, asked", "gone.actor": "plain, asked"},
			"",
		},
		{
			"one value",
			[]string{
				"CREATE TABLE shippers (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, title VARCHAR(20)); INSERT INTO shippers SELECT seq, '{s}' FROM seq_1_to_3",
				"CREATE TABLE parcels (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, ship_via INT, shelf INT); INSERT INTO parcels SELECT seq, 1, 1 FROM seq_1_to_{120}",
			},
			map[string]string{"parcels.ship_via": "plain, asked", "parcels.shelf": "plain"},
			"",
		},
		{
			"two large values",
			[]string{
				"CREATE TABLE songs (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, title VARCHAR(20)); INSERT INTO songs SELECT 1000000 + seq, '{s}' FROM seq_1_to_300",
				"CREATE TABLE ties (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, entity0 INT NOT NULL, entity1 INT NOT NULL); INSERT INTO ties SELECT seq, 1000001 + seq % 2, 1000200 + seq % 3 FROM seq_1_to_{120}",
			},
			map[string]string{"ties.entity0": "plain, asked", "ties.entity1": "plain, asked"},
			"",
		},
		{
			"one large value beside orphans",
			[]string{
				strings.Replace(chars, "SELECT seq", "SELECT 5000 + seq * 3", 1),
				"CREATE TABLE halls (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, chosen INT NOT NULL); INSERT INTO halls SELECT seq, IF(seq % 10, 5030, 9000 + seq) FROM seq_1_to_{120}",
			},
			map[string]string{"halls.chosen": "plain, asked"},
			"",
		},
		{
			"a name with numbers",
			[]string{
				sparse,
				"CREATE TABLE crews (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, friend1wait INT NOT NULL, friend2wait INT NOT NULL); INSERT INTO crews SELECT seq, 7 + 7 * (seq % {240}), 0 FROM seq_1_to_{900}",
			},
			map[string]string{"crews.friend1wait": "reference chars, asked", "crews.friend2wait": "plain, asked"},
			"",
		},
		{
			"one value of a TINYINT",
			[]string{
				"CREATE TABLE coins (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, title VARCHAR(20)); INSERT INTO coins SELECT seq, '{s}' FROM seq_1_to_3",
				"CREATE TABLE purses (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, coin TINYINT, coin_paid TINYINT); INSERT INTO purses SELECT seq, 1, 1 FROM seq_1_to_{120}",
			},
			map[string]string{"purses.coin": "plain, asked", "purses.coin_paid": "plain, asked"},
			"",
		},
		{
			"decimals, and -1 for nobody",
			[]string{
				"CREATE TABLE logins (id DECIMAL(20,0) NOT NULL PRIMARY KEY, mail VARCHAR(20)); INSERT INTO logins SELECT seq, '{s}' FROM seq_1_to_{240}",
				"CREATE TABLE heroes (id DECIMAL(20,0) NOT NULL PRIMARY KEY, login_id DECIMAL(20,0) NOT NULL DEFAULT -1, mana DECIMAL(20,2)); INSERT INTO heroes SELECT seq, IF(seq % 5 = 0, -1, seq * 2), seq FROM seq_1_to_{120}",
			},
			map[string]string{"logins.id": "key, asked", "heroes.id": "key, asked", "heroes.login_id": "reference logins none -1, asked", "heroes.mana": "plain"},
			"",
		},
		{
			"numbers beside the primary key of a dictionary",
			[]string{"CREATE TABLE rights (id INT NOT NULL AUTO_INCREMENT, node INT NOT NULL, label VARCHAR(20) NOT NULL, PRIMARY KEY (node, label), KEY (id)); INSERT INTO rights SELECT seq, seq DIV 3, CONCAT('r', seq) FROM seq_1_to_60"},
			map[string]string{"rights.id": "key"},
			"",
		},
		{
			"slots in JSON",
			[]string{chars, "CREATE TABLE bags (char_id INT NOT NULL PRIMARY KEY, content JSON NOT NULL);" +
				`INSERT INTO bags SELECT seq * 3, '{"slots": {"1": {"cfg": 7}, "2": {"cfg": 9}, "4": null}}' FROM seq_1_to_{80}`},
			map[string]string{"bags.content": "plain"},
			"",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := propose(t, server, test.tables)
			said := test.says == ""
			for name, want := range test.want {
				table, column, _ := strings.Cut(name, ".")
				c := findTable(t, p, table).Column(column)
				says := slices.Clone(c.Suspects)
				if q := p.Question(name); q != nil {
					says = append(says, q.Evidence...)
				}
				if got := describe(p, table, c); got != want {
					t.Errorf("%s: got %q, want %q; it says %q", name, got, want, says)
				}
				said = said || slices.ContainsFunc(says, func(text string) bool { return strings.Contains(text, test.says) })
			}
			if !said {
				t.Errorf("nothing says %q; the questions are %+v", test.says, p.Questions)
			}
			if err := p.Check(); err != nil {
				for _, q := range p.Questions {
					t.Logf("%s %q %v", q.Name, q.Columns, q.Evidence)
				}
			}
		})
	}
}

// propose inspects two sources with some tables, and completes the plan that is written of it. The second source has
// its own name in place of {s}, and more rows where the first one has {240}, {120} or another such number.
func propose(t *testing.T, server *dbtest.Server, tables []string) *plan.Plan {
	t.Helper()
	var sources []merge.Source
	for n, name := range []string{"a", "b"} {
		text := strings.NewReplacer("{s}", name, "{240}", []string{"240", "300"}[n], "{120}", []string{"120", "150"}[n], "{80}", []string{"80", "100"}[n],
			"{40}", []string{"40", "50"}[n], "{100}", []string{"100", "120"}[n], "{900}", []string{"900", "1100"}[n]).Replace(strings.Join(tables, ";"))
		sources = append(sources, newSource(t, server, name, strings.Split(text, ";")...))
	}
	p, err := merge.Inspect(t.Context(), sqlsnow.MySQL, sources...)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := merge.ReadSchema(t.Context(), sqlsnow.MySQL, sources...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Shorten(p, schema); err != nil {
		t.Error(err)
	}
	return p
}

// A tree that is the same in both sources becomes one by its ids: by its own parents it can't.
func TestTree(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	for _, test := range []struct{ name, ids, root, want string }{
		{"under equal ids", "seq", "0", "[id]=match [parent_id label]=fail"},
		{"under other ids", "seq * {n}", "0", "[parent_id label]=suffix"},
		{"under other ids, without a number for no parent", "seq * {n}", "NULL", "[parent_id label]=fail"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var sources []merge.Source
			for n, name := range []string{"a", "b"} {
				values := strings.NewReplacer("{n}", []string{"1", "3"}[n]).Replace("INSERT INTO shelves SELECT " + test.ids + ", IF(seq < 4, " + test.root + ", (" + strings.Replace(test.ids, "seq", "(seq DIV 3)", 1) + ")), CONCAT('shelf ', seq) FROM seq_1_to_60")
				sources = append(sources, newSource(t, server, name, "CREATE TABLE shelves (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, parent_id INT, label VARCHAR(20) NOT NULL, UNIQUE (parent_id, label))", values))
			}
			p, err := merge.Inspect(t.Context(), sqlsnow.MySQL, sources...)
			if err != nil {
				t.Fatal(err)
			}
			shelves := findTable(t, p, "shelves")
			var unique []string
			for _, u := range shelves.Unique {
				unique = append(unique, fmt.Sprintf("%v=%s", u.Columns, u.Rule))
				u.Decided = true
			}
			if got := strings.Join(unique, " "); got != test.want {
				t.Errorf("got unique keys %q, want %q", got, test.want)
			}
			if _, err := p.AcceptCertain(0); err != nil {
				t.Fatal(err)
			}
			for _, c := range shelves.Columns {
				c.Decided = true
			}
			if err := p.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The run merges it, and adds what one source has alone.
func TestTreeOnce(t *testing.T) {
	shelves := func(n string) string {
		return "INSERT INTO shelves SELECT seq, IF(seq < 4, 0, seq DIV 3), CONCAT('shelf ', seq) FROM seq_1_to_" + n
	}
	f := newFixture(t, "", []string{"CREATE TABLE shelves (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, parent_id INT, label VARCHAR(20) NOT NULL, UNIQUE (parent_id, label))"},
		[]string{shelves("60")}, []string{shelves("65"), "DELETE FROM shelves WHERE id BETWEEN 61 AND 63"})
	table := findTable(t, f.plan, "shelves")
	table.NewIDs = nil
	if _, err := f.plan.AcceptCertain(0); err != nil {
		t.Fatal(err)
	}
	f.tables()
	if _, err := f.merge().DryRun(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got := f.rows(f.target, "SELECT COUNT(*), SUM(parent_id), MAX(id) FROM shelves"); got != f.rows(f.sources[1].DB, "SELECT COUNT(*), SUM(parent_id), MAX(id) FROM shelves") {
		t.Errorf("got %s", got)
	}
	if _, err := f.merge().Verify(t.Context()); err != nil {
		t.Error(err)
	}
}
