package clash

import (
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestNamesAreShortened(t *testing.T) {
	for _, tt := range []struct {
		d                       sqlsnow.Dialect
		typ, name, suffix, want string
	}{
		{sqlsnow.MySQL, "varchar(9)", "Robin", "_a", "Robin_a"},
		{sqlsnow.MySQL, "varchar(6)", "Robin", "_a", "Robi_a"},
		{sqlsnow.MySQL, "varchar(3)", "雪だるま", "_a", "雪_a"},
		{sqlsnow.MySQL, "varchar(1)", "Robin", "_a", "_a"}, // the database will refuse it
		{sqlsnow.MySQL, "tinytext", strings.Repeat("雪", 85), "_a", strings.Repeat("雪", 84) + "_a"},
		{sqlsnow.Postgres, "text", strings.Repeat("a", 300), "_a", strings.Repeat("a", 300) + "_a"},
		{sqlsnow.SQLite, "VARCHAR(3)", "Robin", "_a", "Robin_a"},
	} {
		if got := shorten(tt.name, "", tt.suffix, &plan.Column{Type: tt.typ}, tt.d); got != tt.want {
			t.Errorf("%v %s: got %q, want %q", tt.d, tt.typ, got, tt.want)
		}
	}
}

func TestContestsOfASource(t *testing.T) {
	table := &plan.Table{
		Name: "players", PrimaryKey: []string{"id"}, NewIDs: []string{"b"},
		Columns: []*plan.Column{
			{Name: "id", Role: plan.RoleKey},
			{Name: "name", Role: plan.RolePlain},
			{Name: "lower", Role: plan.RolePlain, Generated: "lower(name)"},
			{Name: "tag", Role: plan.RolePlain, Sources: []string{"a", "c"}},
		},
		Unique: []*plan.Unique{
			{Columns: []string{"name"}, Rule: plan.RuleSuffix, Prefer: []string{"c"}},
			{Columns: []string{"lower"}, Rule: plan.RuleFail},
			{Columns: []string{"tag"}, Rule: plan.RuleFail},
		},
	}
	c := &Finder{plan: &plan.Plan{Sources: []string{"a", "b", "c"}, Tables: []*plan.Table{table}}}
	for source, want := range map[string]string{
		"a": "id: target; name: target c; tag: target",
		"b": "name: target c a", // its ids are new, and it has no tags
		"c": "id: target a; name: target; tag: target a",
	} {
		var got []string
		for _, k := range c.contests(table, source) {
			got = append(got, k.unique.Columns[0]+": "+strings.TrimSpace("target "+strings.TrimSpace(strings.Join(k.ahead, " "))))
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("source %s: got %s, want %s", source, text, want)
		}
		for _, column := range c.Needs(table, source) {
			if column.Generated != "" || !column.In(source) {
				t.Errorf("source %s needs column %s, which it does not have", source, column.Name)
			}
		}
	}
}
