package witness

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/internal/jsonpath"
	"github.com/shardsnow/snow/merge/plan"
)

// The ids inside of a value are found as the plan says where they are, and the contents of their rows stand for them.
func TestUnpacked(t *testing.T) {
	steps, err := jsonpath.Parse("$.by[*]")
	if err != nil {
		t.Fatal(err)
	}
	text, array := list{",", false}, list{",", true}
	json := document{"$.by[*]", steps}
	contents := map[int64]string{3: "ann", 17: "bob", 9: ""} // 9 is of no row
	for _, test := range []struct {
		name     string
		u        unpacked
		value    string
		ids      string
		contents string
	}{
		{"a list", unpacked{codec: text}, "3, 17,3", "[3 17 3]", "ann bob ann"},
		{"a list with what stands for no row", unpacked{codec: text, column: &plan.Column{None: []string{"0"}}}, "0,3", "[3]", "ann"},
		{"a value that stands for no row", unpacked{codec: text, column: &plan.Column{None: []string{"-"}}}, "-", "[]", ""},
		{"an empty list", unpacked{codec: text}, " ", "[]", ""},
		{"an array", unpacked{codec: array}, "{17,3}", "[17 3]", "bob ann"},
		{"an array with bounds", unpacked{codec: array}, "[0:1]={17,3}", "[17 3]", "bob ann"},
		{"JSON, whose members a database may write in another order", unpacked{codec: json, place: "$.by[*]", column: &plan.Column{Role: plan.RoleJSON}}, `{"n": 9, "by": [17, "3"]}`, "[17 3]", "ann bob"},
		{"an id of no row", unpacked{codec: text}, "9,3", "[9 3]", " ann"},
		{"an id of no row, which is taken out of the target's", unpacked{codec: text, column: &plan.Column{Role: plan.RoleList, Orphans: plan.OrphansNull}}, "9,3", "[9 3]", "ann"},
	} {
		u := test.u
		u.values, u.ids = []int{0}, contents
		if u.column == nil {
			u.column = &plan.Column{Role: plan.RoleList}
		}
		values := []sql.NullString{{String: test.value, Valid: true}}
		ids, err := u.find(values)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if got := fmt.Sprint(ids); got != test.ids {
			t.Errorf("%s: got ids %s, want %s", test.name, got, test.ids)
		}
		if got := strings.ReplaceAll(u.contents(values), between, " "); got != test.contents {
			t.Errorf("%s: got contents %q, want %q", test.name, got, test.contents)
		}
		if got := u.contents([]sql.NullString{{}}); got != "" {
			t.Errorf("%s, NULL: got contents %q", test.name, got)
		}
	}
	broken := unpacked{codec: json, place: "$.by[*]", column: &plan.Column{Role: plan.RoleJSON}, values: []int{0}}
	if got := broken.contents([]sql.NullString{{String: `{"by": [3`, Valid: true}}); got != unreadable {
		t.Errorf("broken JSON: got contents %q", got)
	}
}
