//go:build unix

package merge_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// called is two sources with heroes of the same names, which other rows know by their names.
func called(t *testing.T) *fixture {
	t.Helper()
	source := func(prefix string) []string {
		return []string{
			"INSERT INTO heroes SELECT seq, IF(seq <= 4, CONCAT('Hero', seq), CONCAT('" + prefix + "', seq)), NULL FROM seq_1_to_40",
			"UPDATE heroes a JOIN heroes b ON b.id = a.id % 40 + 1 SET a.spouse_name = b.name",
			"INSERT INTO friends SELECT seq, name, 1 FROM seq_1_to_10, heroes WHERE id <= 12",
			"INSERT INTO letters SELECT id, LOWER(name), CONCAT('Dear ', name) FROM heroes",
			"INSERT INTO ranks SELECT IF(id = 1, name, CONCAT('" + prefix + "', id)), id FROM heroes",
		}
	}
	return newFixture(
		t, "", []string{
			"CREATE TABLE heroes (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(12) NOT NULL UNIQUE, spouse_name VARCHAR(12))",
			"CREATE TABLE friends (hero_id INT NOT NULL, friend_name VARCHAR(12) NOT NULL, since INT, PRIMARY KEY (hero_id, friend_name), FOREIGN KEY (hero_id) REFERENCES heroes (id))",
			"CREATE TABLE letters (id INT AUTO_INCREMENT PRIMARY KEY, sender VARCHAR(12) NOT NULL, body VARCHAR(40) NOT NULL)",
			"CREATE TABLE ranks (title VARCHAR(12), place INT, KEY (place))",
		}, source("an"), source("bo"),
	)
}

// summary says what was found in which column of which source.
func summary(all []report.OldNames) string {
	var lines []string
	for _, row := range all {
		follow := "stay"
		if row.Follow {
			follow = "follow"
		}
		lines = append(lines, strings.Join([]string{row.Source, row.Table + "." + row.Column, row.Of, follow, string(rune('0' + row.Rows/10)), string(rune('0' + row.Rows%10))}, " "))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Names in other columns follow the rows that are renamed, and the forecast says so as the report does.
func TestOldNamesFollow(t *testing.T) {
	f := called(t)
	for name, column := range map[string]*plan.Column{"spouse_name": f.column("heroes", "spouse_name"), "friend_name": f.column("friends", "friend_name"), "sender": f.column("letters", "sender")} {
		if column.Role != plan.RoleName || len(column.Refers) != 1 || *column.Refers[0] != (plan.Reference{Table: "heroes", Path: "name"}) || len(column.Suspects) == 0 {
			t.Errorf("%s: inspect proposes %s %v %q, want the name of a hero", name, column.Role, column.Refers, column.Suspects)
		}
	}
	f.plan.Questions = nil
	f.tables()
	forecast, err := f.merge().DryRun(t.Context())
	if err != nil || forecast.Err() != nil {
		t.Fatal(err, forecast.Err())
	}
	found, err := f.merge().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const want = `s2 friends.friend_name heroes.name follow 4 0
s2 heroes.spouse_name heroes.name follow 0 4
s2 letters.sender heroes.name follow 0 4`
	if got := summary(forecast.OldNames); got != want {
		t.Errorf("the dry run found\n%s\nwant\n%s", got, want)
	}
	if got := summary(found.OldNames); got != want {
		t.Errorf("the report has\n%s\nwant\n%s", got, want)
	}
	for query, want := range map[string]string{
		"SELECT spouse_name FROM heroes WHERE name = 'bo40'":                                     "Hero1_s2",
		"SELECT spouse_name FROM heroes WHERE name = 'an40'":                                     "Hero1",
		"SELECT name FROM heroes WHERE spouse_name = 'Hero3_s2'":                                 "Hero2_s2",
		"SELECT COUNT(*) FROM friends WHERE friend_name LIKE 'Hero%\\_s2'":                       "40",
		"SELECT COUNT(*) FROM friends WHERE friend_name LIKE 'Hero_'":                            "40",
		"SELECT COUNT(*) FROM letters WHERE sender LIKE 'Hero%\\_s2' AND body LIKE 'Dear Hero_'": "4",
	} {
		if got := f.rows(f.target, query); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
}

// Old names in a column that nobody has decided on are open, in the forecast and in the report alike. A column with few of
// them by chance is none.
func TestOldNamesStay(t *testing.T) {
	f := called(t)
	sender := f.column("letters", "sender")
	sender.Role, sender.Refers, sender.Decided, sender.Suspects = plan.RolePlain, nil, false, nil
	for _, c := range []*plan.Column{f.column("letters", "body"), f.column("ranks", "title")} {
		c.Role, c.Decided, c.Suspects = plan.RolePlain, false, nil
	}
	f.plan.Questions = nil
	f.tables()
	forecast, err := f.merge().DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := f.merge().Run(t.Context())
	var left *report.OpenError
	if !errors.As(err, &left) {
		t.Fatalf("got %v, want an OpenError", err)
	}
	for what, open := range map[string][]report.Open{"dry run": forecast.Open, "run": found.Open} {
		if len(open) != 1 || open[0].Table+"."+open[0].Column != "letters.sender" || !strings.Contains(open[0].Reason, `4 of its values are names that rows lose in heroes.name, such as "hero1": "Hero1_s2"`) ||
			!strings.Contains(open[0].Reason, "{name: heroes.name, columns: [letters.sender]}") {
			t.Errorf("%s: open are %q", what, open)
		}
	}
	if got, want := summary(found.OldNames), summary(forecast.OldNames); got != want || !strings.Contains(got, "s2 letters.sender heroes.name stay 0 4") {
		t.Errorf("the report has\n%s\nthe dry run found\n%s", got, want)
	}
}

// A new name that a column has no room for stops the run, and the dry run says so.
func TestOldNamesTooLong(t *testing.T) {
	f := called(t)
	f.column("letters", "sender").Type = "varchar(7)"
	f.plan.Questions = nil
	f.tables()
	forecast, err := f.merge().DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"dry run": forecast.Err(), "run": f.run()} {
		var row *report.RowError
		if !errors.As(err, &row) || row.Table != "letters" || row.Source != "s2" {
			t.Errorf("%s: got %v, want a RowError about letters", what, err)
		}
	}
}
