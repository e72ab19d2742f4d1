package phases

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/plan"
)

// A path leads to something in a source if it does so in any of the values that are read one after the other.
func TestEmptyPaths(t *testing.T) {
	doc := &plan.Column{Name: "doc", Role: plan.RoleJSON, Refers: []*plan.Reference{{Table: "players", Path: "$.a"}, {Table: "players", Path: "$.b"}}}
	j := &Job{Plan: &plan.Plan{Sources: []string{"eu", "us", "asia"}, Tables: []*plan.Table{{Name: "docs", Columns: []*plan.Column{doc}}}}}
	total := NewFindings()
	for source, reads := range map[string][][]bool{
		"eu":   {nil, {false, false}, {true, false}, {false, false}, nil},
		"us":   {{false, true}, {false, true}},
		"asia": {nil}, // has no values
	} {
		for _, reached := range reads {
			found := NewFindings()
			found.Reach(source, &rekey.IDColumn{Column: doc, Reached: reached})
			found.Reach(source, &rekey.IDColumn{Column: doc})
			total.Add(found)
			total.Reach(source, &rekey.IDColumn{Column: doc, Reached: reached})
		}
	}
	var got []string
	for _, o := range j.emptyPaths(total) {
		got = append(got, o.Source+" "+o.Table+"."+o.Column+" "+o.Reason[:strings.Index(o.Reason, ":")])
	}
	want := []string{
		`us docs.doc no value of the source has anything at path "$.a"`,
		`eu docs.doc no value of the source has anything at path "$.b"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
