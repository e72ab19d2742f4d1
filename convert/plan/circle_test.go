package plan_test

import (
	"fmt"
	"testing"

	"github.com/shardsnow/snow/convert/plan"
)

func TestCircles(t *testing.T) {
	for _, test := range []struct {
		name string
		refs string // of tables a, b and so on, each as child, parent
		want string
	}{
		{"none", "ba cb", "[]"},
		{"itself", "aa", "[]"},
		{"two", "ab ba ca", "[ab]"},
		{"two circles", "ab ba ca cd dc", "[ab cd]"},
		{"one of two that share a table", "ab ba bc cb", "[abc]"},
		{"of four, with one that hangs on", "ab bc cd da ea", "[abcd]"},
		{"a table that is not in the plan", "az za", "[]"},
	} {
		p := &plan.Plan{}
		for _, name := range "abcde" {
			p.Tables = append(p.Tables, &plan.Table{Name: string(name)})
		}
		for i := 0; i+1 < len(test.refs); i += 3 {
			if child := p.Table(test.refs[i : i+1]); child != nil {
				child.ForeignKeys = append(child.ForeignKeys, &plan.ForeignKey{Refers: test.refs[i+1 : i+2]})
			}
		}
		var got []string
		for _, circle := range p.Circles() {
			text := ""
			for _, table := range circle {
				text += table.Name
			}
			got = append(got, text)
		}
		if fmt.Sprint(got) != test.want {
			t.Errorf("%s: got %v, want %s", test.name, got, test.want)
		}
	}
}
