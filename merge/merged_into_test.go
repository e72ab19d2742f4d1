//go:build unix

package merge_test

import (
	"errors"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// shops have categories that are merged by name or alias, so that things of
// several categories of one source become one.
func shops(t *testing.T, rule plan.Rule, more ...string) *fixture {
	t.Helper()
	f := newFixture(t, "", []string{
		"CREATE TABLE cats (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) UNIQUE, alias VARCHAR(20) UNIQUE)",
		"CREATE TABLE things (id INT AUTO_INCREMENT PRIMARY KEY, cat_id INT NOT NULL, name VARCHAR(20), UNIQUE (cat_id, name), FOREIGN KEY (cat_id) REFERENCES cats (id))",
		"CREATE TABLE uses (who VARCHAR(9) PRIMARY KEY, thing_id INT, FOREIGN KEY (thing_id) REFERENCES things (id))",
	}, []string{
		"INSERT INTO cats VALUES (1, 'x', 'A'), (2, 'y', NULL)", "INSERT INTO things VALUES (1, 1, 'i'), (2, 2, 'j')", "INSERT INTO uses VALUES ('a1', 1), ('a2', 2)",
	}, append([]string{
		"INSERT INTO cats VALUES (5, 'X', 'B'), (6, 'z', 'ZB'), (7, 'w', 'A')", "INSERT INTO things VALUES (1, 5, 'I'), (2, 6, 'k'), (3, 7, 'i'), (4, 5, 'new')",
		"INSERT INTO uses VALUES ('b1', 1), ('b2', 2), ('b3', 3), ('b4', 4)",
	}, more...), []string{
		"INSERT INTO cats VALUES (1, 'q', 'B'), (2, 'Z', 'n'), (3, 'v', 'ZB'), (4, 'u', 'a')",
		"INSERT INTO things VALUES (1, 1, 'i'), (2, 2, 'K'), (3, 3, 'k'), (4, 4, 'I'), (5, 1, 'new')",
		"INSERT INTO uses VALUES ('c1', 1), ('c2', 2), ('c3', 3), ('c4', 4), ('c5', 5)",
	})
	for _, table := range f.plan.Tables {
		for _, u := range table.Unique {
			if u.Rule = plan.RuleKeep; table.Name == "things" {
				u.Rule = rule
			}
			if table.Name == "uses" {
				u.Rule = plan.RuleFail
			}
		}
	}
	f.tables()
	return f
}

func TestClashesOfWhatWasMerged(t *testing.T) {
	f := shops(t, plan.RuleKeep)
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	const query = "SELECT who, t.name, c.name, c.alias FROM uses JOIN things t ON t.id = thing_id JOIN cats c ON c.id = cat_id ORDER BY who"
	const want = "a1 i x A\na2 j y -\nb1 i x A\nb2 k z ZB\nb3 i x A\nb4 new x A\nc1 i x A\nc2 k z ZB\nc3 k z ZB\nc4 i x A\nc5 new x A"
	if got := f.rows(f.target, query); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Rows of one source may become equal, too.
func TestClashesInsideASource(t *testing.T) {
	const twin = "INSERT INTO things VALUES (9, 7, 'NEW')"
	var clash *report.ClashError
	if err := shops(t, plan.RuleKeep, twin).run(); !errors.As(err, &clash) || clash.Table != "things" || clash.Source != "s2" || clash.With != "s2" {
		t.Errorf("got %v, want a clash of two rows of s2", err)
	}
	f := shops(t, plan.RuleSuffix, twin)
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got := f.rows(f.target, "SELECT COUNT(*), COUNT(DISTINCT cat_id, name) FROM things"); got != "12 12" {
		t.Errorf("got %s things and different names, want 12", got)
	}
}

// Rows of the only source become equal in an empty table, because the target has a row that both refer to then.
func TestClashesInsideTheFirstSource(t *testing.T) {
	f := newFixture(t, "", []string{
		"CREATE TABLE cats (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) UNIQUE, alias VARCHAR(20) UNIQUE)",
		"CREATE TABLE things (id INT AUTO_INCREMENT PRIMARY KEY, cat_id INT NOT NULL, name VARCHAR(20), UNIQUE (cat_id, name), FOREIGN KEY (cat_id) REFERENCES cats (id))",
	}, []string{"INSERT INTO cats VALUES (5, 'x', 'q'), (7, 'w', 'B')", "INSERT INTO things VALUES (1, 5, 'i'), (3, 7, 'i')"})
	for _, table := range f.plan.Tables {
		for _, u := range table.Unique {
			u.Rule = plan.RuleKeep
		}
	}
	f.tables()
	f.exec(f.target, "INSERT INTO cats VALUES (100, 'x', 'B')")
	forecast, err := f.merge().DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"dry run": forecast.Err(), "run": f.run()} {
		var clash *report.ClashError
		if !errors.As(err, &clash) || clash.Table != "things" || clash.With != "s1" {
			t.Errorf("%s: got %v, want a clash of two rows of s1", what, err)
		}
	}
}

// Of rows that become equal, one may be left out. The others still clash.
func TestClashesInsideASourceBesideRowsLeftOut(t *testing.T) {
	for left, clashes := range map[string]bool{"id = 11": true, "id = 12": true, "id = 13": true, "id > 11": false} {
		f := shops(t, plan.RuleKeep)
		f.exec(f.sources[2].DB, "INSERT INTO cats VALUES (5, 'X', 'zz')", "INSERT INTO things VALUES (11, 1, 'solo'), (12, 4, 'SOLO'), (13, 5, 'Solo')")
		f.table("things").WithoutRows = []*plan.Condition{{Where: left, Sources: []string{"s3"}}}
		forecast, err := f.merge().DryRun(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{"dry run": forecast.Err(), "run": f.run()} {
			var clash *report.ClashError
			if !clashes && err != nil || clashes && (!errors.As(err, &clash) || clash.Table != "things" || clash.With != "s3") {
				t.Errorf("without %s: %s: got %v", left, what, err)
			}
		}
	}
}
