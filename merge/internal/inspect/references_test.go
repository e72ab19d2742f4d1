package inspect

import (
	"reflect"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// evidenceFrom returns what samples show of one table of source a.
func evidenceFrom(columns []*plan.Column, rows ...[]any) (*evidence, *plan.Table) {
	t := &plan.Table{Name: "things", Columns: columns}
	e := &evidence{names: []string{"a"}, plan: &plan.Plan{Sources: []string{"a"}, Tables: []*plan.Table{t}}}
	e.samples = map[tableOf]*sample{{"a", t.Name}: {columns: columns, rows: rows, whole: true}}
	return e, t
}

// Texts are lists of ids if all of what is between the separators are numbers, and some text has several.
func TestSplit(t *testing.T) {
	for _, test := range []struct {
		name      string
		separator string
		array     bool
		values    []any
		ids       []int64
		several   bool
		positive  bool
	}{
		{"several numbers", ",", false, []any{"3,17", "9"}, []int64{3, 17, 9}, true, true},
		{"space around them, and nothing between some", ",", false, []any{" 3, 17,,3", nil}, []int64{3, 17}, true, true},
		{"one number each: these are no lists", ",", false, []any{"3", "17", "3"}, []int64{3, 17}, false, true},
		{"one number and a separator", ",", false, []any{"3,"}, []int64{3}, false, true},
		{"another separator", ";", false, []any{"3;17"}, []int64{3, 17}, true, true},
		{"not this separator", ",", false, []any{"3;17"}, nil, false, false},
		{"a word in between", ",", false, []any{"3,17", "3,x"}, nil, false, false},
		{"a number below 1", ",", false, []any{"3,-1"}, []int64{3}, true, false},
		{"an array, which is a list with one element, too", ",", true, []any{"{3}", "{NULL}", "{}"}, []int64{3}, true, true},
		{"no values", ",", false, nil, nil, false, true},
	} {
		column := &plan.Column{Name: "owners", Type: "text", Role: plan.RolePlain}
		var rows [][]any
		for _, v := range test.values {
			rows = append(rows, []any{v})
		}
		e, table := evidenceFrom([]*plan.Column{column}, rows...)
		found, several, positive := (&referenceFinder{evidence: e}).split(table, "owners", test.separator, test.array)
		if !reflect.DeepEqual(found["a"], test.ids) || several != test.several || positive != test.positive {
			t.Errorf("%s: got %v, several %t, positive %t; want %v, %t, %t", test.name, found, several, positive, test.ids, test.several, test.positive)
		}
	}
}

// Values that stand for no row are integers below 1, and the empty text.
func TestNone(t *testing.T) {
	column := &plan.Column{Name: "owner", Type: "text", Role: plan.RolePlain}
	e, table := evidenceFrom([]*plan.Column{column}, []any{"0"}, []any{"7"}, []any{""}, []any{"-1"}, []any{nil}, []any{"0"}, []any{"x"})
	(&referenceFinder{evidence: e}).none(table, column)
	if want := []string{"", "-1", "0"}; !reflect.DeepEqual(column.None, want) {
		t.Errorf("got %q, want %q", column.None, want)
	}
}
