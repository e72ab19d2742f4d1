package rekey

import (
	"fmt"
	"testing"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
)

// Old id 3 has the new id 103, 4 is kept, 5 is left out, and 9 does not exist. In a dry run, 7 stands for what is kept.
func TestReplaceRows(t *testing.T) {
	const null, drop, fail = plan.OrphansNull, plan.OrphansDrop, plan.OrphansFail
	parent := &ledger.SourceTable{Table: &plan.Table{Name: "players"}, Mapped: true}
	for _, test := range []struct {
		orphans, gone plan.Orphans
		list          string
		id            int64
		want          string // of the list and of the id
		refused       bool
	}{
		{fail, fail, "3,4", 3, "103,4 103", false},
		{null, "", "3,9,5", 4, "103 4", false},
		{fail, null, "3,5", 4, "103 4", false},
		{fail, null, "9,5", 4, "9,5 4", true},
		{drop, null, "4,5", 9, "gone", false},
		{null, drop, "4,9,5", 4, "gone", false},
		{null, drop, "4,9", 4, "4 4", false},
		{fail, drop, "9", 5, "gone", false},
		{fail, drop, "9", 4, "9 4", true},
		{null, "", "x", 4, "x 4", true},
		{drop, "", "x", 9, "gone", false},
	} {
		s := &ledger.SourceTable{Table: &plan.Table{Name: "t"}, Primary: []int{1}}
		for _, c := range []plan.Column{{Name: "list", Role: plan.RoleList, Type: "text"}, {Name: "id", Role: plan.RoleReference, Type: "bigint"}} {
			c.Orphans, c.Gone, c.Refers = test.orphans, test.gone, []*plan.Reference{{Table: "players"}}
			s.Columns = append(s.Columns, &c)
		}
		w := &Rewriter{Tables: map[string]*ledger.SourceTable{"players": parent}}
		columns, err := w.Columns(s, (*plan.Column).HoldsReferences)
		if err != nil {
			t.Fatal(err)
		}
		found := Successors{{parent, test.orphans != fail}: {known: map[int64]ledger.Successor{3: {ID: 103, Fate: ledger.Rekeyed}, 4: {ID: 4, Fate: ledger.Kept}, 5: {Fate: ledger.Dropped}}}}
		rows := []Row{NewRow(s, []any{test.list, test.id})}
		Replace(columns, rows, found, nil)
		got := "gone"
		if rows[0].New != nil {
			got = fmt.Sprint(rows[0].New[0], " ", rows[0].New[1])
		}
		if refused := rows[0].Refused(s) != nil; got != test.want || refused != test.refused {
			t.Errorf("%+v: got %q, refused %t", test, got, refused)
		}
	}
	s := &ledger.SourceTable{Table: &plan.Table{Name: "t"}, Columns: []*plan.Column{{Role: plan.RoleReference, Refers: []*plan.Reference{{Table: "players"}}}}}
	c, err := NewIDColumn(Codecs{}, map[string]*ledger.SourceTable{"players": parent}, s, 0)
	if err != nil {
		t.Fatal(err)
	}
	rows := []Row{NewRow(s, []any{int64(4)})}
	Replace([]*IDColumn{c}, rows, Successors{{parent, false}: {keeps: true}}, func() StandIn {
		return func(*ledger.SourceTable, int64) int64 { return 7 }
	})
	if rows[0].New[0] != int64(7) {
		t.Errorf("got %v, want the stand-in", rows[0].New[0])
	}
}
