package merge

import "testing"

func TestFinder(t *testing.T) {
	const owner = "$.owner"
	for _, test := range []struct {
		column   Column
		in, want string
		lost     bool
	}{
		{Column{Role: RoleList, Type: "text"}, "3, 17,,3", "103, 117,,103", false},
		{Column{Role: RoleList, Type: "text"}, "3,99", "103", true},
		{Column{Role: RoleList, Type: "bigint[]"}, "{3,NULL,17}", "{103,NULL,117}", false},
		{Column{Role: RoleList, Type: "bigint[]"}, "{}", "{}", false},
		{Column{Role: RoleList, Type: "bigint[]"}, "[0:1][1:1]={{3},{99}}", "[0:1][1:1]={{103},{NULL}}", true},
		{Column{Role: RoleList, Type: "bigint[]", None: []string{"0"}}, "{0,3}", "{0,103}", false},
		{Column{Role: RoleJSON, Type: "json"}, `{"owner":3}`, `{"owner":103}`, false},
		{Column{Role: RoleJSON, Type: "json"}, `{"owner":"3"}`, `{"owner":"103"}`, false},
		{Column{Role: RoleJSON, Type: "json"}, `{"owner":"\u0033"}`, `{"owner":"103"}`, false},
		{Column{Role: RoleJSON, Type: "json"}, `{"owner":3.0}`, `{"owner":null}`, true},
		{Column{Role: RoleJSON, Type: "json"}, `{"owner":null}`, `{"owner":null}`, false},
	} {
		c := test.column
		c.Refers = []*Reference{{Table: "players"}}
		if c.Role == RoleJSON {
			c.Refers[0].Path = owner
		}
		f, err := newFinder(&rewriter{}, &scope{table: &Table{Name: "t"}, columns: []*Column{&c}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, lost, err := f.edit(&row{old: []any{test.in}}, func(_ int, text string) (string, bool) {
			return map[string]string{"3": "103", "17": "117"}[text], text == "3" || text == "17"
		})
		if err != nil || got != test.want || lost != test.lost {
			t.Errorf("%s of %s: got %v, %v, %v; want %s, %v", test.in, c.Type, got, lost, err, test.want, test.lost)
		}
	}
}
