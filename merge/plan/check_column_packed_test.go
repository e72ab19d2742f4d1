package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

func TestCheckPacked(t *testing.T) {
	column := func(typ, format string, places ...string) plan.Column {
		c := plan.Column{Name: "c", Type: typ, Role: plan.RolePacked, Format: format}
		for _, place := range places {
			c.Refers = append(c.Refers, &plan.Reference{Table: "players", Path: place})
		}
		return c
	}
	with := func(c plan.Column, change func(c *plan.Column)) plan.Column {
		change(&c)
		return c
	}
	half := func(c plan.Column, by string) plan.Column { return with(c, func(c *plan.Column) { c.By = by }) }
	low := with(half(column("int", "low 32", "id"), "c"), func(c *plan.Column) { c.Name = "d" })
	for _, test := range []struct {
		column plan.Column
		other  plan.Column
		want   string // no fault, if it is empty
	}{
		{column("bigint", "bits 32", "0"), plan.Column{}, ""},
		{with(column("bigint", "bits 32", "0"), func(c *plan.Column) { c.Refers[0].Table = "" }), plan.Column{}, ""},
		{column("text", "php", "$.a"), plan.Column{}, ""},
		{column("blob", "php", "$.a"), plan.Column{}, ""},
		{column("bigint", "codec mail", "anything"), plan.Column{}, ""},
		{half(column("int", "high 32", "id"), "d"), low, ""},
		{column("bigint", "", "0"), plan.Column{}, "want bits, high"},
		{column("text", "bits 32", "0"), plan.Column{}, `its format is of integers, but type "text" is none`},
		{column("bigint", "fields", "1"), plan.Column{}, `its format is of texts, but type "bigint" is none`},
		{column("text", "fields", "x"), plan.Column{}, "want a field"},
		{column("text", "fields"), plan.Column{}, "refers to nothing"},
		{column("text", "fields", "1", "1"), plan.Column{}, `two references have the place "1"`},
		{with(column("text", "fields", "1"), func(c *plan.Column) { c.Refers[0].Value = "x" }), plan.Column{}, "a place has no value"},
		{with(column("text", "fields", "1"), func(c *plan.Column) { c.Refers[0].Table = "" }), plan.Column{}, `refers to table ""`},
		{with(column("text", "fields", "1"), func(c *plan.Column) { c.Orphans, c.Nullable = plan.OrphansNull, true }), plan.Column{}, "none has no id for no row"},
		{with(column("text", "fields", "1"), func(c *plan.Column) { c.Gone, c.None = plan.OrphansNull, []string{"", "0x"} }), plan.Column{}, "none has no id for no row"},
		{with(column("text", "fields", "1"), func(c *plan.Column) { c.Gone, c.None = plan.OrphansNull, []string{"", "0"} }), plan.Column{}, ""},
		{with(column("text", "codec x", "1"), func(c *plan.Column) { c.Separator = ";" }), plan.Column{}, "separator is for fields"},
		{half(column("text", "fields", "1"), "d"), low, "other formats nothing"},
		{column("int", "high 32", "id"), low, "halves have the column of the other half"},
		{half(column("int", "high 32", "id"), "c"), low, "want the column with the other half"},
		{half(column("int", "high 32", "id"), "id"), low, "want the column with the other half"},
		{half(column("int", "low 32", "id"), "d"), low, "want high and low"},
		{half(column("int", "high 31", "id"), "d"), low, "want high and low"},
		{with(half(column("int", "high 32", "id"), "d"), func(c *plan.Column) { c.None = []string{"0"} }), low, "differ from those of the other half"},
	} {
		p := &plan.Plan{Version: 1, Dialect: "MySQL", Sources: []string{"a"}, Tables: []*plan.Table{
			{Name: "players", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "bigint", Role: plan.RoleKey}}},
			{Name: "t", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "bigint", Role: plan.RoleKey}, &test.column}},
		}}
		if test.other.Name != "" {
			p.Tables[1].Columns = append(p.Tables[1].Columns, &test.other)
		}
		err := p.Check()
		var fault *plan.Error
		if test.want == "" && err != nil || test.want != "" && (!errors.As(err, &fault) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s %q of %s: got %v, want %q", test.column.Format, test.column.By, test.column.Type, err, test.want)
		}
	}
}

// Packed columns in a file of decisions.
func TestDecisionsPacked(t *testing.T) {
	p, err := complete(t, `references:
- {format: bits 32, ids: {0: characters, 1: plain}, columns: [mail.sender]}
- {format: high 32, by: receiver, ids: {id: characters}, none: [0], columns: [mail.item1]}
`)
	if err != nil {
		t.Fatal(err)
	}
	sender := p.Table("mail").Column("sender")
	if sender.Role != plan.RolePacked || sender.Format != "bits 32" || len(sender.Refers) != 2 || *sender.Refers[0] != (plan.Reference{Path: "0", Table: "characters"}) || *sender.Refers[1] != (plan.Reference{Path: "1"}) {
		t.Errorf("got %+v", sender)
	}
	if half := p.Table("mail").Column("item1"); half.By != "receiver" || half.Refers[0].Path != "id" {
		t.Errorf("got %+v", half)
	}
	for text, want := range map[string]string{
		"references:\n- {format: php, columns: [mail.sender]}\n":                                        "format and ids need each other",
		"references:\n- {to: guild, ids: {a: guild}, columns: [mail.sender]}\n":                         "format and ids need each other",
		"references:\n- {format: php, json: {$.a: guild}, ids: {$.a: guild}, columns: [mail.sender]}\n": "want one of",
		"references:\n- {format: php, ids: {$.a: nobody}, columns: [mail.sender]}\n":                    `"nobody" names no table`,
	} {
		if _, err := complete(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
