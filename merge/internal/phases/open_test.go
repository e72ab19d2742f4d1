package phases

import (
	"fmt"
	"slices"
	"testing"

	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/plan"
)

// A path leads to something if it does so in any of the values that are read one after the other.
func TestEmptyPaths(t *testing.T) {
	doc := &plan.Column{Name: "doc", Role: plan.RoleJSON, Refers: []*plan.Reference{{Table: "players", Path: "$.a"}, {Table: "players", Path: "$.b"}}}
	j := &Job{Plan: &plan.Plan{Sources: []string{"eu"}, Tables: []*plan.Table{{Name: "docs", Columns: []*plan.Column{doc}}}}}
	total := NewFindings()
	for _, reached := range [][]bool{nil, {false, false}, {true, false}, {false, false}, nil} {
		found := NewFindings()
		found.Reach(&rekey.IDColumn{Column: doc, Reached: reached})
		found.Reach(&rekey.IDColumn{Column: doc})
		total.Add(found)
		total.Reach(&rekey.IDColumn{Column: doc, Reached: reached})
	}
	var got []string
	for _, o := range j.emptyPaths(total) {
		got = append(got, o.String())
	}
	want := []string{fmt.Sprintf("unchecked, docs.doc: no value has anything at path %q: if it is misspelt, old ids are copied as they are", "$.b")}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
