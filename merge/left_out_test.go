//go:build unix

package merge_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

var realm = []string{
	"CREATE TABLE accounts (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) UNIQUE, seen DATE, vip TINYINT)",
	`CREATE TABLE heroes (id INT AUTO_INCREMENT PRIMARY KEY, account_id INT NOT NULL, name VARCHAR(20), level INT, FOREIGN KEY (account_id) REFERENCES accounts (id))`,
	"CREATE TABLE bags (hero_id INT NOT NULL, slot INT NOT NULL, PRIMARY KEY (hero_id, slot), FOREIGN KEY (hero_id) REFERENCES heroes (id))",
	"CREATE TABLE guilds (id INT AUTO_INCREMENT PRIMARY KEY, leader_id INT NOT NULL DEFAULT 0)",
	"CREATE TABLE mails (id INT AUTO_INCREMENT PRIMARY KEY, sender_id INT, body TEXT, FOREIGN KEY (sender_id) REFERENCES heroes (id))",
	"CREATE TABLE visits (hero_id INT, at INT)", // rows may be equal
	"CREATE TABLE ranking (place INT PRIMARY KEY, hero_id INT)",
	"INSERT INTO accounts VALUES (1, 'ann', '2024-05-01', 0), (2, 'bob', '2019-01-01', 0), (3, 'old', '2018-01-01', 1), (4, 'none', NULL, NULL)",
	"INSERT INTO heroes VALUES (11, 1, 'A', 60), (12, 1, 'B', 3), (21, 2, 'C', 70), (31, 3, 'D', 9), (41, 4, 'E', 1)",
	"INSERT INTO bags VALUES (11, 1), (11, 2), (12, 1), (21, 1), (31, 7)",
	"INSERT INTO guilds VALUES (1, 11), (2, 21), (3, 0)",
	"INSERT INTO mails VALUES (1, 11, 'from A'), (2, 21, 'from C'), (3, NULL, 'from nobody')",
	"INSERT INTO visits VALUES (11, 5), (11, 5), (21, 5), (21, 5), (31, 9)",
	"INSERT INTO ranking VALUES (1, 21), (2, 11)",
}

// leaving is two sources whose idle accounts go with their heroes, what they own, and the visits at 9.
func leaving(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, "", realm, nil, []string{"UPDATE accounts SET name = CONCAT(name, '2')", "UPDATE accounts SET seen = '2024-01-01' WHERE id = 2"})
	for name, conditions := range map[string][]*plan.Condition{
		"accounts": {{Where: "seen < '2020-01-01' -- long ago", Except: "vip = 1"}},
		"heroes":   {{Where: "level < 5", Sources: []string{"s1"}}, {Where: "level < 10 AND name = 'none'"}},
		"visits":   {{Where: "at = 9"}},
	} {
		f.table(name).WithoutRows = conditions
	}
	f.table("ranking").Empty = true
	to := func(table, column, parent string, gone plan.Orphans) *plan.Column {
		c := f.column(table, column)
		c.Role, c.Refers, c.Gone, c.Decided, c.Suspects = plan.RoleReference, []*plan.Reference{{Table: parent}}, gone, true, nil
		return c
	}
	to("heroes", "account_id", "accounts", plan.OrphansDrop)
	to("bags", "hero_id", "heroes", plan.OrphansDrop)
	to("guilds", "leader_id", "heroes", plan.OrphansNull).None = []string{"0"}
	to("mails", "sender_id", "heroes", plan.OrphansNull)
	to("visits", "hero_id", "heroes", plan.OrphansDrop)
	to("ranking", "hero_id", "heroes", "")
	f.plan.Questions = nil
	f.tables()
	return f
}

func (f *fixture) table(name string) *plan.Table {
	f.Helper()
	t := f.plan.Table(name)
	if t == nil {
		f.Fatalf("no table %s", name)
	}
	return t
}

const leftOut = `source,table,row,reason
s1,accounts,2,without_rows 1
s1,bags,"[12,1]",hero_id = 12
s1,bags,"[21,1]",hero_id = 21
s1,heroes,12,without_rows 1
s1,heroes,21,account_id = 2
s1,heroes,41,without_rows 1
`

// Rows that meet a condition go, and with them what they own. What is shared stays, without the reference.
func TestLeftOut(t *testing.T) {
	f := leaving(t)
	forecast, err := f.merge().DryRun(t.Context())
	if err != nil || forecast.Problems > 0 {
		t.Fatal(err, forecast)
	}
	var text strings.Builder
	if err := forecast.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []report.ConditionForecast{
		{Table: "accounts", Source: "s1", Reason: "without_rows 1", Where: "seen < '2020-01-01' -- long ago", Rows: 1},
		{Table: "heroes", Source: "s1", Reason: "without_rows 1", Where: "level < 5", Rows: 2},
		{Table: "heroes", Source: "s2", Reason: "without_rows 2", Where: "level < 10 AND name = 'none'"},
		{Table: "visits", Source: "s2", Reason: "without_rows 1", Where: "at = 9", Rows: 1},
	} {
		found := false
		for _, c := range forecast.Conditions {
			found = found || c == want
		}
		if !found {
			t.Errorf("the forecast lacks %+v: it has %+v", want, forecast.Conditions)
		}
	}
	if !strings.Contains(text.String(), "mails.sender_id (null)") {
		t.Errorf("the dry run does not tell of references to rows that go:\n%s", &text)
	}
	found, err := f.merge().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range found.Tables {
		if is := forecast.Tables[indexOf(forecast.Tables, row)]; is.Dropped != row.Dropped || is.Rows != row.Rows {
			t.Errorf("table %d: the dry run counted %+v, and the report %+v", i, is, row)
		}
	}
	for query, want := range map[string]string{
		"SELECT a.name, h.name FROM accounts a LEFT JOIN heroes h ON h.account_id = a.id ORDER BY 1, 2": "ann A\nann2 A\nann2 B\nbob2 C\nnone -\nnone2 E\nold D\nold2 D",
		"SELECT COUNT(*) FROM bags": "8",
		"SELECT h.name FROM guilds g LEFT JOIN heroes h ON h.id = g.leader_id ORDER BY 1": "-\n-\n-\nA\nA\nC",
		"SELECT SUM(leader_id = 0) FROM guilds":                                           "3",
		"SELECT SUM(sender_id IS NULL) FROM mails":                                        "3",
		"SELECT h.name, v.at FROM visits v JOIN heroes h ON h.id = v.hero_id ORDER BY 1":  "A 5\nA 5\nA 5\nA 5\nC 5\nC 5",
		"SELECT COUNT(*) FROM ranking":                                                    "0",
	} {
		if got := f.rows(f.target, query); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", query, got, want)
		}
	}
	var list strings.Builder
	if err := merge.ExportLeftOut(t.Context(), sqlsnow.MySQL, f.target, &list); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := strings.Cut(list.String(), "s1,visits"); got != leftOut {
		t.Errorf("the list is\n%s", &list)
	}
	if n := strings.Count(list.String(), "visits"); n != 4 {
		t.Errorf("%d visits are in the list, want 4:\n%s", n, &list)
	}
	for table, want := range map[string]string{"accounts": "without_rows 1", "heroes": "", "guilds": ""} {
		_, err := merge.Lookup(t.Context(), sqlsnow.MySQL, f.target, "s1", table, 2)
		var out *report.LeftOutError
		if errors.As(err, &out) != (want != "") || out != nil && out.Reason != want || want != "" && !errors.Is(err, report.ErrNotFound) {
			t.Errorf("look-up of %s 2: got %v", table, err)
		}
	}
}

func indexOf(all []report.TableForecast, row report.Table) int {
	for i, f := range all {
		if f.Table == row.Table && f.Source == row.Source {
			return i
		}
	}
	return 0
}

// A row that must refer to one that goes stops a run, and a dry run says so. A row that goes itself does not.
func TestLeftOutIsRequired(t *testing.T) {
	f := leaving(t)
	f.column("mails", "sender_id").Gone = ""
	forecast, err := f.merge().DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := report.OrphanError{Source: "s1", Table: "mails", Column: "sender_id", Row: "[2]", Value: "21", LeftOut: true}
	for what, err := range map[string]error{"dry run": forecast.Err(), "run": f.run()} {
		var orphan *report.OrphanError
		if !errors.As(err, &orphan) || *orphan != want {
			t.Errorf("%s: got %v, want %v", what, err, &want)
		}
	}
	if forecast.Problems != 1 {
		t.Errorf("%d rows would stop a run, want 1: %v", forecast.Problems, forecast.Err())
	}
	f = leaving(t)
	f.column("mails", "sender_id").Gone = ""
	f.table("mails").WithoutRows = []*plan.Condition{{Where: "id = 2"}}
	if err := f.run(); err != nil {
		t.Error(err)
	}
}

// Which rows go is asked once, whatever the condition depends on, and wherever the run is interrupted.
func TestLeftOutIsAskedOnce(t *testing.T) {
	f := leaving(t)
	f.table("accounts").WithoutRows = []*plan.Condition{{Where: "RAND() < 0.5"}}
	f.config.ChunkRows = 1
	for n := 1; ; n += 1 + n/3 {
		ctx, stop := context.WithCancel(t.Context())
		seen := 0
		f.config.Events = func(report.Event) {
			if seen++; seen == n {
				stop()
			}
		}
		_, err := f.merge().Run(ctx)
		stop()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("run %d: %v", n, err)
		}
	}
	listed := f.rows(f.target, "SELECT COUNT(*) FROM snow_merge_changes WHERE kind = 'dropped' AND after_value = 'without_rows 1' AND source_table IN (SELECT source_table FROM snow_merge_source_tables WHERE tbl = 'accounts')")
	if got := f.rows(f.target, "SELECT 8 - COUNT(*) FROM accounts"); got != listed {
		t.Errorf("%s accounts are missing, and %s are in the list", got, listed)
	}
	f.config.Events = nil
	if found, err := f.merge().Verify(t.Context()); err != nil || found.Err() != nil {
		t.Error(err, found.Err())
	}
}

// A condition that the database does not understand is an error of both, before anything is copied. A plan with
// another one runs then.
func TestLeftOutByNothing(t *testing.T) {
	f := leaving(t)
	f.table("accounts").WithoutRows = []*plan.Condition{{Where: "seen < "}}
	_, err := f.merge().DryRun(t.Context())
	for what, err := range map[string]error{"dry run": err, "run": f.run()} {
		var failed *sqlsnow.DatabaseError
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), `without_rows of table "accounts"`) {
			t.Errorf("%s: got %v, want an error of the condition", what, err)
		}
	}
	f.table("accounts").WithoutRows[0].Where = "seen < '2020-01-01'"
	if err := f.run(); err != nil {
		t.Errorf("another condition: %v", err)
	}
}
