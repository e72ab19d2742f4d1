package work

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
	total := NewSeen()
	for source, reads := range map[string][][]bool{
		"eu":   {nil, {false, false}, {true, false}, {false, false}, nil},
		"us":   {{false, true}, {false, true}},
		"asia": {nil}, // has no values
	} {
		for _, reached := range reads {
			found := NewSeen()
			found.Reach(source, &rekey.IDColumn{Column: doc, Reached: reached})
			found.Reach(source, &rekey.IDColumn{Column: doc})
			total.Add(found)
			total.Reach(source, &rekey.IDColumn{Column: doc, Reached: reached})
		}
	}
	var got []string
	for _, o := range j.EmptyPaths(total) {
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

func TestSampleOf(t *testing.T) {
	for _, test := range []struct {
		v    any
		id   int64
		none bool // it has no ids
	}{
		{v: nil, none: true},
		{v: int64(7), id: 7},
		{v: int64(-1)},
		{v: "0"},
		{v: "7", id: 7},
		{v: "3 5 9", id: 3},
		{v: []byte("[3, 5]"), id: 3},
		{v: "{3,5}", id: 3},
		{v: `["3"]`, id: 3},
		{v: `{"hp": 1.5, "owner_id": 5}`, id: 5},
		{v: `{"hp": 1.5, "by": {"owner": "5"}}`, id: 5},
		{v: "{}", none: true},
		{v: "player:7"},
		{v: "007;8"},
		{v: "", none: true},
		{v: "Bob", none: true},
		{v: "7f3c2a10-9d1e-4b6f-8a55-0c1d2e3f4a5b", none: true},
		{v: "12345678901234567890123"},
		{v: []byte{0xff, 0, 0, 0, 0, 0, 0, 7}},
		{v: []byte("\xff123456789abcdef"), none: true},
	} {
		if id, may := sampleOf(test.v); id != test.id || may == test.none {
			t.Errorf("%v: got %d, %v; want %d, %v", test.v, id, may, test.id, !test.none)
		}
	}
}
