package plan_test

import (
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// A file says the kinds of a column in as many words as they need, and a plan's column has one reference for each place.
func TestKinds(t *testing.T) {
	const schema = `version: 1
dialect: MySQL
sources: [a]
tables:
- name: posts
  primary_key: [id]
  columns: [{name: id, type: int, role: key}]
- name: meta
  primary_key: [id]
  columns: [{name: id, type: int, role: key}, {name: k, type: varchar(20), role: plain}, {name: v, type: text, role: plain}]
`
	complete := func(kinds string) (*plan.Plan, *plan.Plan, error) {
		before, err := plan.Read(strings.NewReader(schema))
		if err != nil {
			t.Fatal(err)
		}
		empty, err := plan.Shorten(before, before)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := empty.WriteYAML(&text); err != nil {
			t.Fatal(err)
		}
		d, err := plan.ReadDecisions(strings.NewReader(text.String() + "references: [{by: k, kinds: {" + kinds + "}, columns: [meta.v]}]\n"))
		if err != nil {
			return nil, nil, err
		}
		p, err := d.Complete(before)
		if err == nil {
			err = p.Check()
		}
		return p, before, err
	}
	const all = "a: posts, b: plain, c: {list: posts}, d: {list: posts, separator: '|'}, e: {json: {$.x: posts, $.y: posts}}, f: {format: php, ids: {'$[*]': posts}}, " +
		"g: {separator: ' ', format: fields, ids: {1: posts, 3: posts}}, '*': {format: 'regexp id=(?P<x>[0-9]+)', ids: {x: posts}}"
	p, before, err := complete(all)
	if err != nil {
		t.Fatal(err)
	}
	short, err := plan.Shorten(p, before)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := short.WriteYAML(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range strings.Split(all, ", ") {
		if got := strings.NewReplacer(`"`, "'", "\n", " ", "  ", " ").Replace(text.String()); !strings.Contains(got, strings.Trim(want, "}")) {
			t.Errorf("the file lacks %q:\n%s", want, text.String())
		}
	}
	c := p.Table("meta").Column("v")
	for value, want := range map[string]plan.Column{
		"a": {Role: plan.RoleReference}, "b": {Role: plan.RoleReference}, "c": {Role: plan.RoleList}, "d": {Role: plan.RoleList, Separator: "|"}, "e": {Role: plan.RoleJSON},
		"f": {Role: plan.RolePacked, Format: "php"}, "g": {Role: plan.RolePacked, Format: "fields", Separator: " "}, "": {Role: plan.RolePacked, Format: "regexp id=(?P<x>[0-9]+)"},
	} {
		if kind, _ := c.Kind(value); kind == nil || kind.Role != want.Role || kind.Separator != want.Separator || kind.Format != want.Format {
			t.Errorf("kind %q is %v, want %v", value, kind, want)
		}
	}
	if kind, numbers := c.Kind("e"); len(kind.Refers) != 2 || numbers[0] != 4 || numbers[1] != 5 {
		t.Errorf("kind e has the references %v", numbers)
	}
	for kinds, want := range map[string]string{
		"a: {to: posts}":                       "all else is said of the column",
		"a: {list: posts, none: [0]}":          "all else is said of the column",
		"a: {format: php}":                     "format and ids need each other",
		"a: {format: bits 8, ids: {0: posts}}": "is of integers",
		"a: {format: php, ids: {'$[': posts}}": `kind "a"`,
		"a: {json: {'$[': posts}}":             `kind "a"`,
		"a: {list: nobody}":                    "nobody",
		"a: {format: fields, ids: {x: posts}}": `kind "a"`,
	} {
		if _, _, err := complete(kinds); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", kinds, err, want)
		}
	}
}
