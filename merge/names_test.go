//go:build unix

package merge_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// named is three sources with heroes of the same names, to whom mails refer.
func named(t *testing.T, change func(*plan.Unique)) *fixture {
	t.Helper()
	f := newFixture(
		t, "", []string{
			"CREATE TABLE heroes (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(12) NOT NULL UNIQUE, level INT, seen DATE, at_login TINYINT UNSIGNED NOT NULL, mark VARCHAR(5))",
			"CREATE TABLE mails (id INT AUTO_INCREMENT PRIMARY KEY, hero_id INT, FOREIGN KEY (hero_id) REFERENCES heroes (id))",
		},
		[]string{"INSERT INTO heroes VALUES (1, 'Ann', 10, '2024-01-01', 0, 'x'), (2, 'Bob', 20, NULL, 1, 'x'), (3, 'Cid', 5, '2024-01-01', 255, 'x'), (4, 'Sole', 1, NULL, 0, 'x')", "INSERT INTO mails VALUES (1, 1), (2, 2), (3, 4)"},
		[]string{"INSERT INTO heroes VALUES (1, 'ann', 9, '2024-01-01', 2, 'y'), (2, 'Bob', 20, '2020-01-01', 0, 'y'), (3, 'Cid', 5, '2024-01-01', 0, 'y')", "INSERT INTO mails VALUES (1, 1), (2, 3)"},
		[]string{"INSERT INTO heroes VALUES (1, 'Ann', 11, NULL, 8, 'z'), (2, 'Bob', NULL, '2024-01-01', 0, 'z'), (3, 'Longest name', 1, NULL, 0, 'z'), (4, 'Ann[1]', 1, NULL, 0, 'z')"},
	)
	for _, u := range f.table("heroes").Unique {
		if u.Columns[0] == "name" {
			u.Rule, u.Decided = plan.RuleSuffix, true
			change(u)
		}
	}
	f.plan.Questions = nil
	f.tables()
	return f
}

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		name, want string // name, level, at_login, mark
		change     func(*plan.Unique)
	}{
		{
			"the greatest keeps the name", `Ann 11 8 z
Ann[1] 1 0 z
Ann[2] 10 4 s1
ann[3] 9 6 s2
Bob 20 0 y
Bob[1] 20 5 s1
Bob[2] - 4 s3
Cid 5 255 x
Cid[1] 5 4 s2
Longest name 1 0 z
Sole 1 0 x`,
			func(u *plan.Unique) {
				u.Winner, u.Template = []string{"level", "seen -- the last one"}, "{name}[{n}]"
				u.Set = map[string]string{"at_login": "at_login | 4", "mark": "CASE mark WHEN 'x' THEN 's1' WHEN 'y' THEN 's2' ELSE 's3' END"}
			},
		},
		{
			"both are renamed", `Ann[1] 1 0 z
Longest name 1 0 z
Ss1.Ann 10 0 x
Ss1.Bob 20 1 x
Ss1.Cid 5 255 x
Ss2.ann 9 2 y
Ss2.Bob 20 0 y
Ss2.Cid 5 0 y
Ss3.Ann 11 8 z
Ss3.Bob - 0 z
Sole 1 0 x`,
			func(u *plan.Unique) { u.Both, u.Template = true, "S{source}.{name}" },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := named(t, tt.change)
			forecast, err := f.merge().DryRun(t.Context())
			if err != nil || forecast.Problems > 0 {
				t.Fatal(err, forecast.Err())
			}
			found, err := f.merge().Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := f.rows(f.target, "SELECT name, level, at_login, mark FROM heroes ORDER BY name"); sorted(got) != sorted(tt.want) {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			for i, row := range found.Tables {
				if is := forecast.Tables[indexOf(forecast.Tables, row)]; is.Renamed != row.Renamed {
					t.Errorf("table %d: the dry run counted %d new names, and the report %d", i, is.Renamed, row.Renamed)
				}
			}
			var list strings.Builder
			if err := merge.ExportRenamed(t.Context(), sqlsnow.MySQL, f.target, &list); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(list.String()), "\n")
			// Ann[1] was there
			if lines[0] != "source,table,row,new_id,column,before,after" || len(lines) != strings.Count(tt.want, "[")+strings.Count(tt.want, "Ss") {
				t.Errorf("the list is\n%s", &list)
			}
			for _, line := range lines[1:] {
				fields := strings.Split(line, ",")
				if got := f.rows(f.target, "SELECT name FROM heroes WHERE id = "+fields[3]); got != fields[6] {
					t.Errorf("%s: the name is %s", line, got)
				}
			}
		})
	}
}

func sorted(lines string) string {
	all := strings.Split(lines, "\n")
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// A name that the game does not allow is none.
func TestNamesMatchAPattern(t *testing.T) {
	f := named(t, func(u *plan.Unique) { u.Suffix, u.Pattern = "a", "[A-Za-z]+" })
	forecast, err := f.merge().DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var clash *report.ClashError
	if err := forecast.Err(); !errors.As(err, &clash) || !strings.Contains(err.Error(), `do not match the pattern: the last one is "Anna_1000"`) {
		t.Errorf("got %v", err)
	}
	if forecast.Problems != 2 { // of the third source, where the suffix alone is taken
		t.Errorf("%d rows would stop a run, want 2: %v", forecast.Problems, forecast.Err())
	}
}

// What a renamed row is to get must fit.
func TestNamesSetTooMuch(t *testing.T) {
	f := named(t, func(u *plan.Unique) { u.Set = map[string]string{"at_login": "at_login + 256"} })
	forecast, err := f.merge().DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"dry run": forecast.Err(), "run": f.run()} {
		var row *report.RowError
		if !errors.As(err, &row) || !strings.Contains(err.Error(), "at_login") {
			t.Errorf("%s: got %v, want a RowError", what, err)
		}
	}
}

// A unique key that only the plan has: two rows of one source may have the same name, and the dry run says so. The
// database judges names as the target does.
func TestNamesWithoutAUniqueKey(t *testing.T) {
	for _, rule := range []plan.Rule{plan.RuleFail, plan.RuleSuffix, plan.RuleKeep} {
		f := newFixture(
			t, "", []string{"CREATE TABLE guilds (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(12) NOT NULL)"},
			[]string{"INSERT INTO guilds VALUES (1, 'Fellowship'), (2, 'Rangers'), (3, 'fellowship')"},
			[]string{"INSERT INTO guilds VALUES (1, 'Riders')"},
		)
		f.plan.Questions = nil
		f.table("guilds").Unique = []*plan.Unique{{Name: "guild_name", Columns: []string{"name"}, Rule: rule}}
		f.tables()
		forecast, err := f.merge().DryRun(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var row *report.RowError
		if forecast.Problems != 1 || !errors.As(forecast.Err(), &row) || row.Source != "s1" || row.Row != "[3]" {
			t.Errorf("%s: got %v, want one RowError about row 3 of s1", rule, forecast.Err())
		}
		f.exec(f.sources[0].DB, "UPDATE guilds SET name = 'Company' WHERE id = 3")
		if forecast, err := f.merge().DryRun(t.Context()); err != nil || forecast.Err() != nil {
			t.Errorf("%s, with different names: got %v, %v", rule, err, forecast.Err())
		}
		if err := f.run(); err != nil {
			t.Errorf("%s: %v", rule, err)
		}
	}
}
