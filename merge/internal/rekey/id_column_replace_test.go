package rekey

import (
	"errors"
	"testing"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// What becomes of a reference depends on what became of its row: a row has a new id, keeps its own, was merged into
// another one, was left out, or never was. Rows that are left out count as orphans count, unless the column says
// otherwise.
func TestReplace(t *testing.T) {
	after := map[int64]ledger.Successor{
		1: {ID: 1, Fate: ledger.Kept}, 2: {ID: 102, Fate: ledger.Rekeyed}, 3: {ID: 102, Fate: ledger.Merged}, 4: {Fate: ledger.Dropped}, // 5 never was
	}
	reference := func(change func(c *plan.Column)) *plan.Column {
		c := &plan.Column{Name: "owner", Type: "int", Role: plan.RoleReference, Nullable: true, Refers: []*plan.Reference{{Table: "players"}}}
		change(c)
		return c
	}
	list := func(orphans plan.Orphans) *plan.Column {
		return &plan.Column{Name: "owners", Type: "text", Role: plan.RoleList, Orphans: orphans, Refers: []*plan.Reference{{Table: "players"}}}
	}
	fail := reference(func(*plan.Column) {})
	null := reference(func(c *plan.Column) { c.Orphans = plan.OrphansNull })
	drop := reference(func(c *plan.Column) { c.Orphans = plan.OrphansDrop })
	none := reference(func(c *plan.Column) { c.Orphans, c.Nullable, c.None = plan.OrphansNull, false, []string{"0", "-1"} })
	both := reference(func(c *plan.Column) { c.Orphans, c.None = plan.OrphansNull, []string{"0"} })
	for _, test := range []struct {
		name   string
		column *plan.Column
		in     any
		want   any    // in the target
		why    string // of a row that goes
		orphan string // of a row that is refused
	}{
		{"a row that keeps its id", fail, int64(1), int64(1), "", ""},
		{"a row with a new id", fail, int64(2), int64(102), "", ""},
		{"a row that was merged", fail, int64(3), int64(102), "", ""},
		{"no row", fail, nil, nil, "", ""},
		{"a row that never was", fail, int64(5), nil, "", "5"},
		{"a row that never was becomes NULL", null, int64(5), nil, "", ""},
		{"a row that is left out becomes NULL", null, int64(4), nil, "", ""},
		{"a row that never was takes this one with it", drop, int64(5), nil, "owner = 5", ""},
		{"a row that is left out takes this one with it", drop, int64(4), nil, "owner = 4", ""},
		{"without NULL, the first value that stands for no row", none, int64(5), int64(0), "", ""},
		{"NULL, though other values stand for no row", both, int64(5), nil, "", ""},
		{"a value that stands for no row", none, int64(-1), int64(-1), "", ""},
		{"a list of rows of all kinds", list(plan.OrphansNull), "1,2,3,4,5", "1,102,102", "", ""},
		{"a list of rows that all are there", list(plan.OrphansDrop), "1,2", "1,102", "", ""},
		{"a list with one that is left out takes this one with it", list(plan.OrphansDrop), "1,4,2", nil, "owners = 4", ""},
		{"a list with one that never was", list(plan.OrphansFail), "1,5,2", nil, "", "5"},
	} {
		table := &plan.Table{Name: "items", Columns: []*plan.Column{test.column}}
		s := &ledger.SourceTable{Source: "eu", Table: table, Columns: table.Columns}
		players := &ledger.SourceTable{Mapped: true, Table: &plan.Table{Name: "players"}}
		f, err := NewIDColumn(Codecs{}, map[string]*ledger.SourceTable{"players": players}, s, 0)
		if err != nil {
			t.Fatal(err)
		}
		rows := []Row{{Key: []any{int64(9)}, Old: []any{test.in}, New: []any{test.in}, Fate: ledger.Kept}}
		Replace([]*IDColumn{f}, rows, Successors{{players, f.Exact}: {known: after}}, nil)
		r := &rows[0]
		err = r.Refused(s)
		var orphan *report.OrphanError
		switch {
		case test.orphan != "":
			if !errors.As(err, &orphan) || orphan.Value != test.orphan || orphan.Source != "eu" || orphan.Column != test.column.Name {
				t.Errorf("%s: got %v, want an OrphanError of %s", test.name, err, test.orphan)
			}
		case err != nil:
			t.Errorf("%s: got %v", test.name, err)
		case test.why != "":
			if r.New != nil || r.Fate != ledger.Dropped || r.Why != test.why {
				t.Errorf("%s: got %+v, want that it goes for %s", test.name, r, test.why)
			}
		case r.New == nil || r.New[0] != test.want || r.Why != "":
			t.Errorf("%s: got %+v, want %v", test.name, r, test.want)
		}
	}
}
