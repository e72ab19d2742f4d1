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

// TestEvidence asks Inspect about one column at a time, of a source beside which
// there are 3000 players, with ids from 1 on.
func TestEvidence(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	const fill = "INSERT INTO things SELECT seq, %s FROM seq_1_to_%d"
	tests := []struct {
		name   string
		column string // definition
		value  string // of row seq
		rows   int
		want   string
		says   string // in a suspect, or in the evidence of a question
	}{
		{"a name and no values", "player_id INT", "NULL", 100, "reference players, asked", "no values"},
		{"a name and other values", "player_id INT NOT NULL", "seq + 100000", 100, "plain, asked", "0 of 100 sampled values"},
		{"a name and some orphans", "player_id INT NOT NULL", "IF(seq % 20 = 0, 77777, seq)", 100, "reference players, asked", "of 96 sampled values"},
		{"a name and many orphans", "player_id INT NOT NULL", "IF(seq % 2 = 0, 77777 + seq, seq)", 100, "reference players, asked", "50 of 100"},
		{"a name of nothing", "steam_id INT NOT NULL", "seq + 100000", 100, "plain, asked", "steam_id"},
		{"an unknown name", "mystery_id INT NOT NULL", "seq", 100, "undecided, asked", "mystery_id"},
		{"a number", "level INT NOT NULL", "seq % 60", 100, "plain", ""},
		{"a number of players", "max_players INT NOT NULL", "seq % 60 + 1", 100, "plain", ""},
		{"a table's name", "player INT NOT NULL", "seq", 100, "reference players, asked", "named after the table"},
		{"itself", "parent_id INT NOT NULL", "seq DIV 2", 100, "reference things none 0, asked", "same table"},
		{"a text of digits", "player_id VARCHAR(10) NOT NULL", "seq", 100, "reference players, asked", "named after the table"},
		{"a text", "player_id VARCHAR(10) NOT NULL", "CONCAT('x', seq)", 100, "plain", ""},
		{"a flag", "player_id TINYINT NOT NULL", "1", 100, "reference players, asked", "named after the table"},
		{"late rows", "mates TEXT NOT NULL", "IF(seq < 1500, '', CONCAT(seq, ',', seq + 1))", 2500, "list players, suspect", "a list of ids"},
		{"bytes", "player_id VARBINARY(20) NOT NULL", "seq", 100, "plain", ""},
		{"a list of one", "player_ids VARCHAR(40) NOT NULL", "IF(seq = 7, '1, 2', seq)", 100, "list players, suspect", "a list of ids"},
		{"a list whose name says nothing", "roster TEXT NOT NULL", "CONCAT(seq * 30, ',', 3001 - seq)", 100, "list players, suspect", "sampled values could be ids of players"},
		{"a list with zeros", "roster TEXT NOT NULL", "CONCAT(seq * 30, ',', seq % 2)", 100, "undecided, suspect", "a list of numbers"},
		{"a padded number", "code VARCHAR(40) NOT NULL", "CONCAT(seq, '  ')", 100, "plain", ""},
		{"an array", "player_ids JSON NOT NULL", "CONCAT('[', seq, ', \"', seq, '\"]')", 100, "json $[*]=players, suspect", "$[*]"},
		{"JSON in a text", "data TEXT NOT NULL", `CONCAT('{"a b": {"player_id": ', seq, '}, "players": 12}')`, 100, `json $["a b"].player_id=players, suspect`, "player_id"},
		{"JSON without ids", "data JSON NOT NULL", `CONCAT('{"hp": ', seq, ', "players": 12}')`, 100, "plain", ""},
		{"names in JSON", "data JSON NOT NULL", `CONCAT('{"players": {"', seq, '": 1}}')`, 100, "json $.players.*~=players, suspect", "names of members"},
		{"kinds by their values", "sender INT NOT NULL, kind TINYINT NOT NULL", "IF(seq % 2, seq * 25, 900000 + seq), seq % 2", 100, "polymorphic kind 0= 1=players, suspect", "and most of the others are not"},
		{"no kinds", "sender INT NOT NULL, kind TINYINT NOT NULL", "seq * 25, seq % 2", 100, "reference players, asked", "sender"},
		{"high bits", "guid BIGINT NOT NULL", "IF(seq % 2, (1 << 48) + seq * 25, 900000 + seq)", 100, "packed  players, suspect", "format bits 48?"},
		{"halves", "owner_high INT UNSIGNED NOT NULL, owner_low INT UNSIGNED NOT NULL", "0, IF(seq = 1, 0, seq * 25)", 100, "packed owner_low players none 0, suspect", "named like halves"},
		{"fixed hexadecimal digits", "owner CHAR(16) NOT NULL", "LPAD(HEX(seq * 25), 16, '0')", 100, "packed players, suspect", "as numbers of 16 digits"},
		{"other hexadecimal digits", "owner CHAR(16) NOT NULL", "LEFT(SHA2(seq, 256), 16)", 100, "plain", ""},
		{"JSON whose names say nothing", "data TEXT NOT NULL", `CONCAT('{"level": ', seq % 60 + 1, ', "witness": ', seq * 30, '}')`, 100, "json $.witness=players, suspect", "all of 100 sampled values"},
		{"a kind by number", "target_id INT NOT NULL, target_type INT NOT NULL", "IF(seq % 2 = 0, seq * 30, seq + 100000), seq % 2", 100, "polymorphic target_type 0=players 1=, suspect", `with target_type "0": all of its sampled values could be ids of players, and most of the others are not`},
		{"a kind that says nothing", "player_id INT NOT NULL, player_type INT NOT NULL", "seq * 30, seq % 2", 100, "reference players, asked", "all 100 sampled values"},
		{"broken JSON", "data TEXT NOT NULL", `CONCAT('{"player_id": ', seq)`, 100, "plain", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			source := newSource(t, server, "s",
				"CREATE TABLE players (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, hp INT)", "INSERT INTO players SELECT seq, 1 FROM seq_1_to_3000",
				"CREATE TABLE things (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, "+test.column+")", fmt.Sprintf(fill, test.value, test.rows))
			p, err := merge.Inspect(t.Context(), sqlsnow.MySQL, source)
			if err != nil {
				t.Fatal(err)
			}
			things := findTable(t, p, "things")
			c := things.Columns[1]
			if got := describe(p, "things", c); got != test.want {
				t.Errorf("got %q, want %q; suspects %q", got, test.want, c.Suspects)
			}
			schema, err := merge.ReadSchema(t.Context(), sqlsnow.MySQL, source)
			if err != nil {
				t.Fatal(err)
			}
			decisions, err := plan.Shorten(p, schema)
			if err != nil {
				t.Fatal(err)
			}
			again, err := decisions.Complete(schema)
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(again, "things", findTable(t, again, "things").Columns[1]); got != test.want {
				t.Errorf("from its short form: got %q, want %q", got, test.want)
			}
			if typ := p.TargetType(things, c); strings.HasPrefix(test.want, "reference") && typ != "bigint" && typ != "varchar(19)" {
				t.Errorf("got type %q in the target, want one for ids", typ)
			}
			evidence := slices.Clone(c.Suspects)
			if q := p.Question("things." + c.Name); q != nil {
				evidence = append(evidence, q.Evidence...)
			}
			said := func(text string) bool { return strings.Contains(text, test.says) }
			if test.says != "" && !slices.ContainsFunc(evidence, said) {
				t.Errorf("got evidence %q, want one with %q", evidence, test.says)
			}
		})
	}
}

// TestKinds asks Inspect which rows get new ids.
func TestKinds(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	const snow = "7200000000000000000"
	tests := []struct {
		name     string
		key      string
		a, b     []string // rows of (id, name)
		mint     []string
		suspects bool // of the key
		unique   string
	}{
		{"counted", "INT NOT NULL AUTO_INCREMENT", []string{"(1, 'a'), (2, 'b')"}, []string{"(1, 'c'), (2, 'd')"}, []string{"a", "b"}, false, "[name]=fail"},
		{"snowflakes", "BIGINT NOT NULL", []string{"(" + snow + ", 'a')"}, []string{"(" + snow + " + 1, 'b')"}, nil, false, "[id]=fail [name]=fail"},
		{"young snowflakes", "BIGINT NOT NULL", []string{"(40000000000000, 'a')"}, []string{"(40000000000001, 'b')"}, nil, false, "[id]=fail [name]=fail"},
		{"one of them", "BIGINT NOT NULL", []string{"(1, 'a'), (2, 'b')"}, []string{"(" + snow + ", 'c')"}, []string{"a"}, false, "[id]=fail [name]=fail"},
		{"both in one", "BIGINT NOT NULL", []string{"(1, 'a'), (" + snow + ", 'b')"}, []string{"(2, 'c'), (3, 'd')"}, []string{"a", "b"}, true, "[id]=fail [name]=fail"},
		{"empty and counted", "INT NOT NULL AUTO_INCREMENT", nil, nil, []string{"a", "b"}, false, "[name]=fail"},
		{"empty", "BIGINT NOT NULL", nil, nil, nil, false, "[id]=fail [name]=fail"},
		{"negative", "BIGINT NOT NULL", []string{"(-1, 'a'), (2, 'b')"}, []string{"(3, 'c'), (4, 'd')"}, []string{"a", "b"}, true, "[id]=fail [name]=fail"},
		{"past 2^63", "BIGINT UNSIGNED NOT NULL", []string{"(1, 'a'), (18446744073709551615, 'b')"}, []string{"(2, 'c'), (3, 'd')"}, []string{"a", "b"}, true, "[id]=fail [name]=fail"},
		{"one row", "INT NOT NULL", []string{"(1, 'a')"}, []string{"(1, 'b')"}, []string{"a", "b"}, true, "[id]=fail [name]=fail"},
		{"the same rows", "INT NOT NULL", []string{"(1, 'a'), (2, 'b')"}, []string{"(2, 'b'), (1, 'a')"}, nil, false, "[id]=match, suspect [name]=match, suspect"},
		{"the same names", "INT NOT NULL", []string{"(1, 'a'), (2, 'b')"}, []string{"(2, 'a'), (1, 'b')"}, []string{"a", "b"}, false, "[name]=match, suspect"},
		{"some of the names", "INT NOT NULL", []string{"(1, 'a'), (2, 'b'), (3, 'c')"}, []string{"(2, 'A'), (1, 'x')"}, []string{"a", "b"}, false, "[name]=suffix, suspect"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			source := func(name string, rows []string) merge.Source {
				statements := []string{"CREATE TABLE things (id " + test.key + " PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE)"}
				for _, values := range rows {
					statements = append(statements, "INSERT INTO things VALUES "+values)
				}
				return newSource(t, server, name, statements...)
			}
			p, err := merge.Inspect(t.Context(), sqlsnow.MySQL, source("a", test.a), source("b", test.b))
			if err != nil {
				t.Fatal(err)
			}
			things := findTable(t, p, "things")
			if !slices.Equal(things.NewIDs, test.mint) {
				t.Errorf("new ids for %q, want %q", things.NewIDs, test.mint)
			}
			got := things.Columns[0].Suspects
			if q := p.Question("things.id"); q != nil { // then it is asked only there
				if len(got) > 0 {
					t.Errorf("it is in question %q, and has suspects %q", q.Name, got)
				}
				got = slices.DeleteFunc(slices.Clone(q.Evidence), func(line string) bool { return !strings.HasPrefix(line, "things.id: ") })
			}
			if len(got) > 0 != test.suspects {
				t.Errorf("got suspects %q", got)
			}
			var unique []string
			for _, u := range things.Unique {
				text := fmt.Sprintf("%v=%s", u.Columns, u.Rule)
				if len(u.Suspects) > 0 {
					text += ", suspect"
				}
				unique = append(unique, text)
			}
			if got := strings.Join(unique, " "); got != test.unique {
				t.Errorf("got unique keys %q, want %q", got, test.unique)
			}
		})
	}
}

// What names a player by its name follows a player who is renamed, if it can: where a foreign key does so, Inspect
// proposes no suffix, and where the name is a key by itself, it says so.
func TestSuffixAndNamesElsewhere(t *testing.T) {
	server := dbtest.SharedMariaDB(t)
	for _, test := range []struct {
		foreign, rule, says string
		role                plan.Role
	}{
		{", FOREIGN KEY (player_name) REFERENCES players (name)", "fail", "no suffix: foreign keys tie ladder.player_name to name", plan.RolePlain},
		{", UNIQUE (player_name)", "suffix", "ladder.player_name of the same values would not follow a new name", plan.RolePlain},
		{"", "suffix", "", plan.RoleName},
	} {
		source := func(name, own string) merge.Source {
			return newSource(t, server, name, "CREATE TABLE players (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE)",
				"CREATE TABLE ladder (place INT NOT NULL PRIMARY KEY, player_name VARCHAR(20) NOT NULL, title_name VARCHAR(20)"+test.foreign+")",
				"INSERT INTO players (name) VALUES ('Bob'), ('"+own+"'), ('"+own+"a')", "INSERT INTO ladder VALUES (1, '"+own+"', 'first'), (2, 'Bob', 'second')")
		}
		p, err := merge.Inspect(t.Context(), sqlsnow.MySQL, source("eu", "Ann"), source("us", "Cy"))
		if err != nil {
			t.Fatal(err)
		}
		u := findTable(t, p, "players").Unique[0]
		if role := findTable(t, p, "ladder").Column("player_name").Role; role != test.role {
			t.Errorf("%s: role %s, want %s", test.foreign, role, test.role)
		}
		if string(u.Rule) != test.rule || len(u.Suspects) == 0 || test.says != "" && u.Suspects[len(u.Suspects)-1] != test.says {
			t.Errorf("got the rule %s and suspects %q, want %s and %q", u.Rule, u.Suspects, test.rule, test.says)
		}
	}
}
