package report

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/merge/plan"
)

func TestForecastAsText(t *testing.T) {
	f := &Forecast{Run: "abc", Sources: []string{"new", "old"}, Took: 1500 * time.Millisecond, Estimate: 7500 * time.Millisecond}
	f.Tables = []TableForecast{{Table: "items", Source: "old", Rows: 3, Rekeyed: 2, Merged: 1}}
	if err := f.Err(); err != nil {
		t.Errorf("got %v, want nil", err)
	}
	u := &plan.Unique{Columns: []string{"name"}, Rule: plan.RuleFail}
	for _, row := range []string{"[1]", "[2]"} {
		f.AddClash(u, &ClashError{Table: "items", Unique: u.Columns, Values: []string{"Bob"}, Source: "old", Row: row}, true)
	}
	for range 7 {
		f.AddOrphan("items", "old", "owner", plan.OrphansNull, `row [1]: "9"`)
	}
	f.OldNames = []OldNames{
		{Table: "friends", Column: "name", Source: "old", Of: "players.name", Rows: 3, Follow: true, Samples: []string{`"Bob": "Bob_old"`}},
		{Table: "mails", Column: "sender", Source: "old", Of: "players.name", Rows: 1, Samples: []string{`"Bob": "Bob_old"`}},
	}
	f.AddMisfit("items", "old", "kind", "row [1]: NULL")
	f.Dates = []DateForecast{{Table: "items", Source: "old", Column: "made", Early: 5, Inversions: 2, Largest: time.Minute}}
	f.Numbers = []NumberForecast{
		{Table: "items", Column: "id", Type: "smallint unsigned", IDs: plan.IDsDense, First: 1, Highest: 60_000, Left: 1000, Most: 1<<16 - 1},
		{Table: "players", Column: "id", Type: "int", IDs: plan.IDsOffset, Offsets: map[string]int64{"old": 4_000_000, "new": 0}, First: 1, Highest: 7_900_000, Most: 1<<31 - 1},
	}
	f.Open = []Open{
		{Kind: OpenUnchecked, Table: "items", Reason: "no trial"},
		{Kind: OpenUndecided, Source: "new", Table: "items", Column: "kind", Reason: "like ids"},
		{Kind: OpenUndecided, Source: "old", Table: "items", Column: "kind", Reason: "like ids"},
		{Kind: OpenUndecided, Source: "old", Table: "auth.users", Column: "level", Reason: "like ids"},
		{Kind: OpenUndecided, Source: "old", Table: "items", Column: "a b", Reason: "like ids"},
	}
	var b strings.Builder
	if err := f.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	const want = `Dry run of the merge of new, old, run abc

Table  Source  Rows  Re-keyed  Merged  Dropped  Renamed  In the target
items  old     3     2         1       0        0        0

Clash         Source  With      Rule  Rows  Failing  Such as
items (name)  old     (target)  fail  2     2        row [1]: "Bob"; row [2]: "Bob"

What fails needs another rule, under unique of the plan: suffix, keep, match or renumber, as in {rule: keep, keys: ['items(name)']}.

Old names     Source  Of            Rows  Become     Such as
friends.name  old     players.name  3     new names  "Bob": "Bob_old"
mails.sender  old     players.name  1     stay       "Bob": "Bob_old"

Orphans             Source  Rows  Such as
items.owner (null)  old     7     row [1]: "9"; row [1]: "9"

Do not fit  Source  Rows  Such as
items.kind  old     1     row [1]: NULL

Dates       Source  Undated  Before epoch  Future  Inversions  Largest
items.made  old     0        5             0       2           1m0s

Numbers     Type               New ids                     From  Highest id  Left free  Up to       Full
items.id    smallint unsigned  dense                       1     60000       1000       65535       93.08 %
players.id  int                offset new +0 old +4000000  1     7900000     0          2147483647  0.37 %

OPEN: unchecked, items: no trial
OPEN: undecided, items.kind, source new: like ids
OPEN: undecided, items.kind, source old: like ids
OPEN: undecided, auth.users.level, source old: like ids
OPEN: undecided, items.a b, source old: like ids
If none of the undecided columns has ids or such names, add this to the plan: plain: [items.kind, auth.users.level]
This took 1.5s. A run may take about 8s.
2 rows would stop a run.
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	if len(f.Orphans) != 1 || len(f.Orphans[0].Samples) != MaxSamples {
		t.Errorf("got %+v, want one column with %d samples", f.Orphans, MaxSamples)
	}
	var clash *ClashError
	if err := f.Err(); !errors.As(err, &clash) || !strings.HasPrefix(err.Error(), "merge: dry run: 2 rows would stop a run: ") {
		t.Errorf("got %v, want 2 rows and a *ClashError", err)
	}
}

// The error has one line for each column with orphans, however many rows have them.
func TestOrphansByColumn(t *testing.T) {
	f := &Forecast{}
	for n := range 100 {
		for _, column := range []string{"owner", "maker"} {
			f.AddProblem(&OrphanError{Source: "old", Table: "items", Column: column, Row: fmt.Sprintf("[%d]", n), Value: "9"})
		}
		f.AddProblem(&OrphanError{Source: "old", Table: "items", Column: "owner", Row: fmt.Sprintf("[%d]", n), Value: "8", LeftOut: true})
	}
	const want = `merge: dry run: 300 rows would stop a run: column "items.owner" of row [0] of source "old" refers to "9", which does not exist; so it is in 100 rows in all
column "items.maker" of row [0] of source "old" refers to "9", which does not exist; so it is in 100 rows in all
column "items.owner" of row [0] of source "old" refers to "8", which is left out: gone of the column says what becomes of the reference; so it is in 100 rows in all`
	if got := f.Err().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if one := (&OrphanError{Source: "s", Table: "t", Column: "c", Row: "[1]", Value: "2"}).Error(); strings.Contains(one, "in all") {
		t.Errorf("of a run: %s", one)
	}
}

// A long key is cut short, and what stops a run has a remedy beside it.
func TestForecastRemedies(t *testing.T) {
	f := &Forecast{
		Clashes: []ClashForecast{{Table: "t", Unique: []string{"a", "b", "c", "d", "e"}, Source: "old", Rule: plan.RuleKeep, Rows: 1}},
		Orphans: []ValueForecast{{Table: "items", Column: "maker", Source: "old", Rule: plan.OrphansDrop, Rows: 1}, {Table: "items", Column: "owner", Source: "old", Rows: 1}},
	}
	var b strings.Builder
	if err := f.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"t (a, b, c and 2 more)", "give the entry of such a column under references, such as items.owner, orphans: 'null' or orphans: drop"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "What fails") {
		t.Errorf("nothing fails: %s", b.String())
	}
}
