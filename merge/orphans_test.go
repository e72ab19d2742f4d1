//go:build unix

package merge_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

var guilds = []string{
	"CREATE TABLE guilds (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20))",
	"CREATE TABLE members (id INT AUTO_INCREMENT PRIMARY KEY, guild_id INT, kind VARCHAR(10), thing_id INT, tags VARCHAR(100), doc JSON)",
	"CREATE TABLE badges (member_id INT NOT NULL, slot INT NOT NULL, PRIMARY KEY (member_id, slot))",
	"INSERT INTO guilds VALUES (1, 'a'), (2, 'b'), (3, 'c')",
}

// orphaned is a source whose members 2 and 3 refer to rows that do not exist.
func orphaned(t *testing.T, kept bool, orphans plan.Orphans) *fixture {
	f := newFixture(t, "", guilds, []string{
		`INSERT INTO members VALUES (1, 1, 'guild', 2, '1, 3', '{"g":[1,2],"boss":"3"}'), (2, 99, 'guild', 98, '97,2 ,96', '{"g":[95,2,94],"boss":"93"}'),
			(3, NULL, 'guild', 0, '3', '{"g":[],"boss":92}'), (4, 0, 'member', 2, '', NULL)`,
		"INSERT INTO badges VALUES (1, 1), (2, 1), (3, 1), (4, 1)",
	})
	for _, table := range f.plan.Tables {
		if kept {
			table.NewIDs = nil
		}
	}
	to := func(column string, role plan.Role, refers ...*plan.Reference) *plan.Column {
		c := f.column("members", column)
		c.Role, c.Refers, c.Orphans, c.Type = role, refers, orphans, "bigint"
		return c
	}
	to("guild_id", plan.RoleReference, &plan.Reference{Table: "guilds"}).None = []string{"0"}
	thing := to("thing_id", plan.RolePolymorphic, &plan.Reference{Table: "guilds", Value: "guild"}, &plan.Reference{Table: "members", Value: "member"})
	thing.By, thing.None = "kind", []string{"0"}
	if orphans == plan.OrphansDrop {
		thing.Orphans = plan.OrphansNull // members refer to themselves
	}
	to("tags", plan.RoleList, &plan.Reference{Table: "guilds"}).Type = "varchar(100)"
	to("doc", plan.RoleJSON, &plan.Reference{Table: "guilds", Path: "$.g[*]"}, &plan.Reference{Table: "guilds", Path: "$.boss"}).Type = "json"
	badge := f.column("badges", "member_id")
	badge.Role, badge.Refers, badge.Orphans, badge.Type = plan.RoleReference, []*plan.Reference{{Table: "members"}}, plan.OrphansFail, "bigint"
	if orphans == plan.OrphansDrop {
		badge.Orphans = plan.OrphansDrop
	}
	for _, table := range f.plan.Tables {
		for _, c := range table.Columns {
			c.Suspects = nil
			if c.Role == plan.RoleKey {
				c.Type = "bigint"
			}
		}
	}
	f.tables()
	return f
}

// names puts the names of guilds and the old ids of members in the place of ids.
func (f *fixture) names(text string) string {
	for _, line := range strings.Split(f.rows(f.target, "SELECT id, name FROM guilds UNION SELECT new_id, CONCAT('member', old_id) FROM snow_merge_map WHERE kind = 0 AND source_table = (SELECT source_table FROM snow_merge_source_tables WHERE tbl = 'members') ORDER BY 1 DESC"), "\n") {
		id, name, _ := strings.Cut(line, " ")
		text = strings.ReplaceAll(text, id, name)
	}
	return text
}

func TestOrphansFail(t *testing.T) {
	f := orphaned(t, false, plan.OrphansFail)
	var orphan *report.OrphanError
	if err := f.run(); !errors.As(err, &orphan) || *orphan != (report.OrphanError{Source: "s1", Table: "members", Column: "guild_id", Row: "[2]", Value: "99"}) {
		t.Fatalf("got %v, want an OrphanError", err)
	}
	f.exec(f.sources[0].DB, "UPDATE members SET guild_id = 2 WHERE id = 2")
	if err := f.run(); !errors.As(err, &orphan) || orphan.Column != "thing_id" || orphan.Value != "98" {
		t.Fatalf("got %v, want an OrphanError", err)
	}
	f.exec(f.sources[0].DB, "UPDATE members SET thing_id = 1, tags = '2', doc = '{\"boss\": 1.5}' WHERE id = 2")
	if err := f.run(); !errors.As(err, &orphan) || orphan.Column != "doc" || orphan.Value != "1.5" {
		t.Fatalf("got %v, want an OrphanError", err)
	}
}

var inJSON = regexp.MustCompile(`\{.*\}`)

// spaceless returns a text without the spaces that MySQL writes in JSON.
func spaceless(text string) string {
	return inJSON.ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, " ", "") })
}

func TestOrphansNull(t *testing.T) {
	for _, kept := range []bool{false, true} {
		f := orphaned(t, kept, plan.OrphansNull)
		if err := f.run(); err != nil {
			t.Fatal(err)
		}
		want := `a guild b a, c {"g":[a,b],"boss":"c"}
- guild - b  {"g":[b],"boss":null}
- guild 0 c {"g":[],"boss":null}
0 member member2  -`
		got := f.rows(f.target, "SELECT guild_id, kind, thing_id, tags, doc FROM members ORDER BY id")
		got = spaceless(got)
		if kept {
			want = `1 guild 2 1, 3 {"g":[1,2],"boss":"3"}
- guild - 2  {"g":[2],"boss":null}
- guild 0 3 {"g":[],"boss":null}
0 member 2  -`
		} else {
			got = f.names(got)
		}
		if got != want {
			t.Errorf("kept %t: got\n%s\nwant\n%s", kept, got, want)
		}
	}
}

// What refers to a row that was dropped, by a reference that drops, is dropped.
func TestOrphansDrop(t *testing.T) {
	for _, kept := range []bool{false, true} {
		f := orphaned(t, kept, plan.OrphansDrop)
		if err := f.run(); err != nil {
			t.Fatal(err)
		}
		if got := f.rows(f.target, "SELECT COUNT(*), SUM(kind = 'member') FROM members"); got != "2 1" {
			t.Errorf("kept %t: members: got %s, want 2 of them", kept, got)
		}
		if got := f.rows(f.target, "SELECT COUNT(*) FROM badges JOIN members ON members.id = member_id"); got != "2" {
			t.Errorf("kept %t: badges: got %s, want 2", kept, got)
		}
		if got := f.rows(f.target, "SELECT thing_id FROM members WHERE kind = 'member'"); got != "-" {
			t.Errorf("kept %t: a reference to a dropped row is %s", kept, got)
		}
		if got, want := f.rows(f.target, "SELECT phase, SUM(dropped), SUM(rows_written) FROM snow_merge_chunks GROUP BY phase ORDER BY phase"), "copy 4 7\nmint 4 0"; got != want {
			t.Errorf("kept %t: the ledger has\n%s\nwant\n%s", kept, got, want)
		}
	}
}

// Only ids without a row become NULL.
func TestOrphansAreIDs(t *testing.T) {
	f := orphaned(t, false, plan.OrphansNull)
	for _, run := range []bool{false, true} {
		for _, test := range []struct{ column, bad, good string }{
			{"doc", `{"g":[1],"boss":{"id":3}}`, `{"boss":3}`},
			{"doc", `{"g":[1],"boss":[3]}`, `{"boss":3}`},
			{"doc", `{"g":[1],"boss":"007"}`, `{"boss":"7"}`},
			{"doc", `{"g":[1,1e1]}`, `{"g":[10]}`},
			{"doc", `{"g":[true]}`, `{"g":{"all":1}}`},
			{"tags", "1,x", "1,7"},
		} {
			f.exec(f.sources[0].DB, "UPDATE members SET "+test.column+" = '"+test.bad+"' WHERE id = 3")
			var err error
			if run {
				err = f.run()
			} else if forecast, failed := f.merge().DryRun(t.Context()); failed != nil {
				t.Fatal(failed)
			} else {
				err = forecast.Err()
			}
			var bad *report.RowError
			if !errors.As(err, &bad) || bad.Table != "members" || bad.Row != "[3]" || !strings.Contains(bad.Error(), `"`+test.column+`"`) {
				t.Errorf("%s %s, run %t: got %v, want a RowError", test.column, test.bad, run, err)
			}
			f.exec(f.sources[0].DB, "UPDATE members SET "+test.column+" = '"+test.good+"' WHERE id = 3")
		}
	}
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got, want := f.names(f.rows(f.target, "SELECT tags, doc FROM members WHERE guild_id IS NULL AND kind = 'guild' AND thing_id = 0")), `a {"g":{"all":a}}`; spaceless(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A polymorphic id whose kind is NULL is of the kind that is empty.
func TestPolymorphicNull(t *testing.T) {
	for _, named := range []bool{false, true} {
		f := orphaned(t, false, plan.OrphansNull)
		f.exec(f.sources[0].DB, "UPDATE members SET kind = NULL WHERE id IN (1, 3)") // of things 2 and 0, which is none
		if named {
			thing := f.column("members", "thing_id")
			thing.Refers = append(thing.Refers, &plan.Reference{Table: "guilds"})
		}
		err := f.run()
		var plan *plan.Error
		if !named && (!errors.As(err, &plan) || plan.Column != "thing_id" || !strings.Contains(plan.Reason, "NULL")) {
			t.Errorf("got %v, want a PlanError", err)
		}
		if named && err != nil {
			t.Fatal(err)
		}
		if got, want := f.names(f.rows(f.target, "SELECT thing_id FROM members WHERE kind IS NULL ORDER BY id")), "b\n0"; named && got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A path that leads to nothing is told of, for ids may be elsewhere.
func TestPathToNothing(t *testing.T) {
	f := orphaned(t, false, plan.OrphansNull)
	doc := f.column("members", "doc")
	doc.Refers = append(doc.Refers, &plan.Reference{Table: "guilds", Path: "$.chief"})
	forecast, err := f.merge().DryRun(f.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := f.merge().Run(f.Context())
	if !errors.As(err, new(*report.OpenError)) {
		t.Fatalf("got %v, want an *OpenError", err)
	}
	for _, got := range [][]report.Open{forecast.Open, found.Open} {
		if len(got) != 1 || got[0].Kind != report.OpenUnchecked || got[0].Table != "members" || got[0].Column != "doc" || !strings.Contains(got[0].Reason, `"$.chief"`) {
			t.Errorf("got %q open, want the path $.chief", got)
		}
	}
	for _, nothing := range []string{"DELETE FROM members", "UPDATE members SET doc = NULL", `UPDATE members SET doc = '{"chief": null, "boss": 92, "g": [1]}' WHERE id = 1`} {
		f := orphaned(t, false, plan.OrphansNull)
		f.exec(f.sources[0].DB, "DELETE FROM badges", nothing)
		doc := f.column("members", "doc")
		doc.Refers = append(doc.Refers, &plan.Reference{Table: "guilds", Path: "$.chief"})
		report, err := f.merge().Run(f.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Open) > 0 {
			t.Errorf("%s: got %q open, want nothing", nothing, report.Open)
		}
	}
}

// A path that leads to nothing in one source is told of, although it leads to something in another one.
func TestPathToNothingInOneSource(t *testing.T) {
	f := newFixture(t, "", guilds, []string{`INSERT INTO members (id, doc) VALUES (1, '{"boss": 3}'), (2, '{}')`}, []string{`INSERT INTO members (id, doc) VALUES (1, '{"chief": 3}')`})
	for _, table := range f.plan.Tables {
		for _, c := range table.Columns {
			if c.Role == plan.RoleKey {
				c.Type = "bigint"
			} else {
				c.Role, c.Refers = plan.RolePlain, nil
			}
		}
	}
	doc := f.column("members", "doc")
	doc.Role, doc.Refers, doc.Type = plan.RoleJSON, []*plan.Reference{{Table: "guilds", Path: "$.boss"}}, "json"
	f.tables()
	forecast, err := f.merge().DryRun(f.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := f.merge().Run(f.Context())
	if !errors.As(err, new(*report.OpenError)) {
		t.Fatalf("got %v, want an *OpenError", err)
	}
	for _, got := range [][]report.Open{forecast.Open, found.Open} {
		if len(got) != 1 || got[0].Source != "s2" || got[0].Column != "doc" || !strings.Contains(got[0].Reason, `"$.boss"`) {
			t.Errorf("got %q open, want the path $.boss in source s2", got)
		}
	}
}

// A plain column that nobody has decided on is told of if its name or its values say that it has ids, also several
// of them.
func TestUndecidedColumns(t *testing.T) {
	f := newFixture(t, "", []string{"CREATE TABLE players (id INT AUTO_INCREMENT PRIMARY KEY, friend_ids TEXT, doc JSON, uuid CHAR(36), empty_id INT)"},
		[]string{`INSERT INTO players SELECT seq, '3 5 9', CONCAT('{"by": {"who": ', seq, '}}'), UUID(), NULL FROM seq_1_to_40`})
	for _, name := range []string{"friend_ids", "doc", "uuid", "empty_id"} {
		c := f.column("players", name)
		c.Role, c.Refers, c.Suspects, c.Decided = plan.RolePlain, nil, nil, false
	}
	f.plan.Questions = nil
	f.tables()
	forecast, err := f.merge().DryRun(f.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := f.merge().Run(f.Context())
	if !errors.As(err, new(*report.OpenError)) {
		t.Fatalf("got %v, want an *OpenError", err)
	}
	for _, open := range [][]report.Open{forecast.Open, found.Open} {
		var got []string
		for _, o := range open {
			got = append(got, o.Column+" "+string(o.Kind))
		}
		if want := []string{"doc undecided", "friend_ids undecided"}; !slices.Equal(got, want) {
			t.Errorf("got %q open, want %q", got, want)
		}
	}
}
