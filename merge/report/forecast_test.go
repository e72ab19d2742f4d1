package report

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/merge/plan"
)

func TestForecastAsText(t *testing.T) {
	f := &Forecast{Sources: []string{"new", "old"}, Took: 1500 * time.Millisecond, Estimate: 7500 * time.Millisecond}
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
	const want = `Dry run of the merge of new, old

Table  Source  Rows  Re-keyed  Merged  Dropped  Renamed  In the target
items  old     3     2         1       0        0        0

Clash         Source  With      Rule  Rows  Failing  Such as
items (name)  old     (target)  fail  2     2        row [1]: "Bob"; row [2]: "Bob"

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
If none of the undecided columns has ids, add this to the plan: plain: [items.kind, auth.users.level]
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
