package witness

import (
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// Ids may be taken out of a value where their rows are left out. Nothing may come in their place, and the rest stays in
// its order.
func TestMayClear(t *testing.T) {
	was := []string{"a", "b", "a", "c"}
	may := map[string]bool{} // by the oracle: was without any of its contents
	for kept := range 1 << len(was) {
		var rest []string
		for i, one := range was {
			if kept&(1<<i) != 0 {
				rest = append(rest, one)
			}
		}
		may[strings.Join(rest, between)] = true
	}
	var is []string // all values of up to four contents
	for n := range 5 {
		values := []string{""}
		for range n {
			var longer []string
			for _, v := range values {
				for _, one := range []string{"a", "b", "c", "d"} {
					longer = append(longer, strings.TrimPrefix(v+between+one, between))
				}
			}
			values = longer
		}
		is = append(is, values...)
	}
	for _, v := range is {
		l := link{clears: true}
		if got, want := l.mayClear(strings.Join(was, between), v), may[v]; got != want {
			t.Errorf("from %q to %q: got %t, want %t", was, strings.Split(v, between), got, want)
		}
		if l := (link{}); l.mayClear(strings.Join(was, between), v) {
			t.Errorf("to %q, in a column that nothing is taken out of: got true", v)
		}
	}
}

// Of the rows that one may have become, the nearest is the one whose references differ least; a reference that the plan
// lets become NULL differs less than any other.
func TestNearest(t *testing.T) {
	c := &comparison{links: []link{{clears: true}, {}}}
	row := func(left int64, parents ...string) *group {
		return &group{tuple: tuple{parents: parents}, more: -1, left: left}
	}
	g := &group{tuple: tuple{parents: []string{"a", "b"}}, more: 1, left: 1}
	cleared, other, both, same, taken := row(1, "", "b"), row(1, "x", "b"), row(1, "x", "y"), row(1, "a", "b"), row(0, "", "b")
	for _, test := range []struct {
		name  string
		among []*group
		want  *group
	}{
		{"none", nil, nil},
		{"a row that differs in nothing is no candidate", []*group{same}, nil},
		{"one reference rather than both", []*group{both, other}, other},
		{"one that became NULL rather than one that leads elsewhere", []*group{other, cleared, both}, cleared},
		{"not one that stands for another row already", []*group{taken, other}, other},
	} {
		if got := c.nearest(g, test.among); got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}

// A content tells which row a reference leads to if one row of the target has it.
func TestIsUnique(t *testing.T) {
	players, guilds := &plan.Table{Name: "players"}, &plan.Table{Name: "guilds"}
	w := &Witness{Known: &Contents{of: map[*plan.Table]*contents{players: {shared: map[string]bool{"twin": true}, told: true}, guilds: {}}}}
	for _, test := range []struct {
		name    string
		table   *plan.Table
		content string
		want    bool
	}{
		{"of one row", players, "ann", true},
		{"of several rows", players, "twin", false},
		{"a list of single rows", players, "ann" + between + "bob", true},
		{"a list with one of several rows", players, "ann" + between + "twin", false},
		{"a value without readable ids", players, unreadable, false},
		{"of a table with too many to remember", guilds, "red", false},
	} {
		if got := w.isUnique(test.table, test.content); got != test.want {
			t.Errorf("%s: got %t", test.name, got)
		}
	}
}
