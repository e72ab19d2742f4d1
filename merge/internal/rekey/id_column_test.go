package rekey

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestIDColumn(t *testing.T) {
	const owner = "$.owner"
	for _, test := range []struct {
		column   plan.Column
		in, want string
		lost     bool
	}{
		{plan.Column{Role: plan.RoleList, Type: "text"}, "3, 17,,3", "103, 117,,103", false},
		{plan.Column{Role: plan.RoleList, Type: "text"}, "3,99", "103", true},
		{plan.Column{Role: plan.RoleList, Type: "bigint[]"}, "{3,NULL,17}", "{103,NULL,117}", false},
		{plan.Column{Role: plan.RoleList, Type: "bigint[]"}, "{}", "{}", false},
		{plan.Column{Role: plan.RoleList, Type: "bigint[]"}, "[0:1][1:1]={{3},{99}}", "[0:1][1:1]={{103},{NULL}}", true},
		{plan.Column{Role: plan.RoleList, Type: "bigint[]", None: []string{"0"}}, "{0,3}", "{0,103}", false},
		{plan.Column{Role: plan.RoleJSON, Type: "json"}, `{"owner":3}`, `{"owner":103}`, false},
		{plan.Column{Role: plan.RoleJSON, Type: "json"}, `{"owner":"3"}`, `{"owner":"103"}`, false},
		{plan.Column{Role: plan.RoleJSON, Type: "json"}, `{"owner":"\u0033"}`, `{"owner":"103"}`, false},
		{plan.Column{Role: plan.RoleJSON, Type: "json"}, `{"owner":3.0}`, `{"owner":null}`, true},
		{plan.Column{Role: plan.RoleJSON, Type: "json"}, `{"owner":null}`, `{"owner":null}`, false},
	} {
		c := test.column
		c.Refers = []*plan.Reference{{Table: "players"}}
		if c.Role == plan.RoleJSON {
			c.Refers[0].Path = owner
		}
		f, err := NewIDColumn(Codecs{}, nil, &ledger.SourceTable{Table: &plan.Table{Name: "t"}, Columns: []*plan.Column{&c}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, lost, err := f.Edit(&Row{Old: []any{test.in}}, func(_ int, text string) (string, bool) {
			return map[string]string{"3": "103", "17": "117"}[text], text == "3" || text == "17"
		})
		if err != nil || got != test.want || lost != test.lost {
			t.Errorf("%s of %s: got %v, %v, %v; want %s, %v", test.in, c.Type, got, lost, err, test.want, test.lost)
		}
	}
}

// What is no id is never an orphan: it is an error where those are not.
func TestIDColumnNoID(t *testing.T) {
	json := func(paths ...string) plan.Column {
		c := plan.Column{Role: plan.RoleJSON, Type: "json"}
		for _, p := range paths {
			c.Refers = append(c.Refers, &plan.Reference{Table: "players", Path: p})
		}
		return c
	}
	list := func(typ string) plan.Column {
		return plan.Column{Role: plan.RoleList, Type: typ, Refers: []*plan.Reference{{Table: "players"}}}
	}
	text := plan.Column{Role: plan.RoleReference, Type: "text", Refers: []*plan.Reference{{Table: "players"}}}
	deep := json("$.p", "$.p[*]", "$.p.p")
	for _, test := range []struct {
		column   plan.Column
		none, in string
		want     string // or, where it begins so, what an error must have
		lost     bool
	}{
		{deep, "", `{"p":[3,"4",null]}`, `{"p":[103,null]}`, true},
		{deep, "", `{"p":{"p":3}}`, `{"p":{"p":103}}`, false},
		{deep, "", `{"p":{"p":7}}`, `{"p":{"p":null}}`, true},
		{deep, "", `{"p":[3,[3]]}`, `error: path "$.p[*]" it is "[3]"`, false},
		{deep, "", `{"p":[3,5.5]}`, `error: "5.5" is no id`, false},
		{deep, "", `{"p":[3,true]}`, `error: "true" is no id`, false},
		{deep, "", `{"p":1e1}`, `error: "1e1" is no id`, false},
		{deep, "", `{"p":"007"}`, `error: "007" is no id`, false},
		{deep, "", `{"p":""}`, `error: "" is no id`, false},
		{deep, "", `{"p":99999999999999999999}`, `error: "99999999999999999999" is no id`, false},
		{deep, "007", `{"p":"007"}`, `{"p":"007"}`, false},
		{deep, "true", `{"p":true}`, `{"p":true}`, false},
		{deep, "", `{"p":-7}`, `{"p":null}`, true},
		{json("$.p"), "", `{"p":{"p":3}}`, `error: path "$.p" it is "{\"p\":3}"`, false},
		{json("$.p"), "", `{"p":[]}`, `error: path "$.p" it is "[]"`, false},
		{json("$.p"), "[]", `{"p":[]}`, `{"p":[]}`, false},
		{json("$.p", "$.p.p"), "", `{"p":[3]}`, `error: path "$.p" it is "[3]"`, false},
		{json("$.p", "$.p[*]"), "", `{"p":{"a":3}}`, `{"p":{"a":103}}`, false},
		{list("text"), "", "3,4", "103", true},
		{list("text"), "", "3,x", `error: "x" is no id`, false},
		{list("text[]"), "", "{3,x}", `error: "x" is no id`, false},
		{text, "", "3", "103", false},
		{text, "", "03", `error: "03" is no id`, false},
		{text, "", "", `error: "" is no id`, false},
	} {
		for _, orphans := range []plan.Orphans{plan.OrphansNull, plan.OrphansDrop, plan.OrphansFail} {
			if orphans == plan.OrphansFail && strings.HasSuffix(test.want, "is no id") {
				continue // an OrphanError, as any that is lost
			}
			c := test.column
			c.Orphans = orphans
			if test.none != "" {
				c.None = []string{test.none}
			}
			f, err := NewIDColumn(Codecs{}, nil, &ledger.SourceTable{Table: &plan.Table{Name: "t"}, Columns: []*plan.Column{&c}}, 0)
			if err != nil {
				t.Fatal(err)
			}
			got, lost, err := f.Edit(&Row{Old: []any{test.in}}, func(_ int, text string) (string, bool) { return "103", text == "3" })
			want, fails := strings.CutPrefix(test.want, "error: ")
			var bad *report.RowError
			switch {
			case fails && (!errors.As(err, &bad) || !strings.Contains(err.Error(), want)):
				t.Errorf("%s of %s %v, orphans %q: got %v, want an error with %s", test.in, c.Role, c.None, orphans, err, want)
			case !fails && (err != nil || got != test.want || lost != test.lost):
				t.Errorf("%s of %s %v, orphans %q: got %v, %v, %v; want %s, %v", test.in, c.Role, c.None, orphans, got, lost, err, test.want, test.lost)
			}
		}
	}
}

// What is packed in values, and in two columns.
func TestIDColumnPacked(t *testing.T) {
	const longest = "9223372036854775807"
	of := func(format string, places ...string) plan.Column {
		c := plan.Column{Name: "c", Type: "bigint", Role: plan.RolePacked, Format: format, None: []string{"0", "-"}}
		for _, place := range places {
			c.Refers = append(c.Refers, &plan.Reference{Table: "players", Path: place})
		}
		return c
	}
	high, low, small := of("high 32", "id"), of("low 32", "id"), of("low 32", "id")
	high.By, low.By, small.By, small.Type = "other", "other", "other", "int"
	kinds := of("bits 32", "0", "1")
	kinds.Refers[1].Table = ""
	fields := of("fields", "2")
	for _, test := range []struct {
		column    plan.Column
		in, other any
		want      any    // with 3 as the longest id
		reason    string // instead
		lost      bool
	}{
		{high, int64(0), int64(3), int64(1<<31 - 1), "", false},
		{low, int64(3), int64(0), int64(1<<32 - 1), "", false},
		{small, int64(3), int64(0), int64(-1), "", false},
		{low, "3", "0", "4294967295", "", false},
		{low, int64(0), int64(0), int64(0), "", false},
		{low, int64(4), int64(0), int64(4), "", true},
		{low, nil, nil, nil, "", false},
		{low, nil, int64(0), nil, "one half of the id is NULL", false},
		{low, int64(3), nil, nil, "one half of the id is NULL", false},
		{kinds, int64(3), nil, nil, "the id " + longest + ` does not fit at place "0", which takes ids up to 4294967295`, false},
		{kinds, int64(1<<32 | 3), nil, int64(1<<32 | 3), "", false},
		{kinds, int64(1<<33 | 3), nil, nil, "upper bits 2", false},
		{kinds, nil, nil, nil, "", false},
		{fields, "3,3", nil, "3," + longest, "", false},
		{fields, []byte("3,3"), nil, []byte("3," + longest), "", false},
		{fields, "x,-", nil, "x,-", "", false},
		{fields, "-", nil, "-", "", false},
		{fields, "3", nil, nil, "no field 2", false},
		{fields, "3,x", nil, nil, `at place "2", "x" is no id`, false},
		{fields, "3,03", nil, nil, "is no id", false},
		{fields, "", nil, nil, "no field 2", false},
	} {
		other := plan.Column{Name: "other", Type: "bigint"}
		s := &ledger.SourceTable{Table: &plan.Table{Name: "t", Columns: []*plan.Column{&test.column, &other}}, Columns: []*plan.Column{&test.column, &other}}
		f, err := NewIDColumn(Codecs{Dialect: sqlsnow.MySQL}, nil, s, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, lost, err := f.Edit(&Row{Old: []any{test.in, test.other}}, func(_ int, text string) (string, bool) { return longest, text == "3" })
		var bad *report.RowError
		if test.reason != "" && (!errors.As(err, &bad) || !strings.Contains(err.Error(), test.reason)) || test.reason == "" && (err != nil || !reflect.DeepEqual(got, test.want) || lost != test.lost) {
			t.Errorf("%s of %v and %v: got %v, %v, %v; want %v, %v and %q", test.column.Format, test.in, test.other, got, lost, err, test.want, test.lost, test.reason)
		}
		if wide := strings.Contains(test.reason, "does not fit"); wide != errors.As(err, new(*report.FitError)) {
			t.Errorf("%s of %v: got %v, a FitError %t", test.column.Format, test.in, err, !wide)
		}
	}
	mail := of("codec mail", "to")
	var p *plan.Error
	if _, err := NewIDColumn(Codecs{}, nil, &ledger.SourceTable{Table: &plan.Table{Name: "t"}, Columns: []*plan.Column{&mail}}, 0); !errors.As(err, &p) || !strings.Contains(p.Reason, `no codec "mail"`) {
		t.Errorf("got %v, want that there is no codec", err)
	}
}

func TestIDColumnPolymorphic(t *testing.T) {
	c := plan.Column{Name: "thing", Role: plan.RolePolymorphic, By: "kind", None: []string{"0"}, Refers: []*plan.Reference{{Table: "players", Value: "player"}, {Value: "none"}}}
	empty := c
	empty.Refers = []*plan.Reference{{Table: "players", Value: ""}}
	for _, test := range []struct {
		column   plan.Column
		kind, in any
		want     any
		reason   string
	}{
		{c, "player", int64(3), int64(103), ""},
		{c, "none", int64(3), int64(3), ""},
		{c, "guild", int64(3), nil, `no reference has the value "guild"`},
		{c, "", int64(3), nil, `no reference has the value ""`},
		{c, nil, int64(3), nil, `no reference has the value "", which NULL counts as`},
		{c, nil, int64(0), int64(0), ""},
		{c, nil, nil, nil, ""},
		{empty, nil, int64(3), int64(103), ""},
		{empty, "", int64(3), int64(103), ""},
	} {
		s := &ledger.SourceTable{Table: &plan.Table{Name: "t"}, Columns: []*plan.Column{&test.column, {Name: "kind"}}}
		f, err := NewIDColumn(Codecs{}, nil, s, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := f.Edit(&Row{Old: []any{test.in, test.kind}}, func(_ int, text string) (string, bool) { return "103", text == "3" })
		var bad *report.RowError
		if test.reason != "" && (!errors.As(err, &bad) || !strings.Contains(err.Error(), test.reason)) || test.reason == "" && (err != nil || got != test.want) {
			t.Errorf("%v of %v: got %v, %v; want %v and %q", test.in, test.kind, got, err, test.want, test.reason)
		}
	}
	var p *plan.Error
	if _, err := NewIDColumn(Codecs{}, nil, &ledger.SourceTable{Table: &plan.Table{Name: "t"}, Columns: []*plan.Column{&c}}, 0); !errors.As(err, &p) {
		t.Errorf("without the column of kinds: got %v, want a PlanError", err)
	}
}
