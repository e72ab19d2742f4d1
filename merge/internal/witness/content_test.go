package witness

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// players is a table as databases have it. Types are written as "id int not null".
func players(columns string, primary []string, unique ...*plan.Unique) *plan.Table {
	t := &plan.Table{Name: "players", PrimaryKey: primary, Unique: unique}
	for column := range strings.SplitSeq(columns, ", ") {
		name, typ, _ := strings.Cut(column, " ")
		typ, required := strings.CutSuffix(typ, " not null")
		t.Columns = append(t.Columns, &plan.Column{Name: name, Type: typ, Nullable: !required, Role: plan.RolePlain})
	}
	return t
}

// witnessOf returns the witness of a target and of sources that have a table each.
func witnessOf(d sqlsnow.Dialect, p *plan.Table, target *plan.Table, sources ...*plan.Table) *Witness {
	database := func(name string, t *plan.Table) *Database {
		return &Database{Name: name, Catalog: &catalog.Catalog{Tables: []*catalog.Table{{Table: t}}}, SQL: d.Quote}
	}
	w := &Witness{Dialect: d, Plan: &plan.Plan{Tables: []*plan.Table{p}}, Target: database("", target)}
	for i, t := range sources {
		name := string(rune('a' + i))
		w.Plan.Sources, w.Sources = append(w.Plan.Sources, name), append(w.Sources, database(name, t))
	}
	return w
}

func names(columns []*plan.Column) string {
	var all []string
	for _, c := range columns {
		all = append(all, c.Name)
	}
	return strings.Join(all, " ")
}

// A row is known by the plain values that all databases write alike, and that no rule of the plan changes.
func TestContent(t *testing.T) {
	const columns = "id int not null, name varchar(20) not null, slot int not null, guild int, born date, hp double"
	key := func(rule plan.Rule, columns ...string) *plan.Unique {
		return &plan.Unique{Columns: columns, Rule: rule}
	}
	for _, test := range []struct {
		name   string
		change func(p, source *plan.Table)
		want   string
	}{
		{"all plain columns, but numbers with a point", func(_, _ *plan.Table) {}, "name slot born"},
		{"no keys and no references", func(p, _ *plan.Table) { p.Column("slot").Role = plan.RoleReference }, "name born"},
		{"nothing that a database computes", func(p, _ *plan.Table) { p.Column("name").Generated = "x" }, "slot born"},
		{"nothing that only some sources have", func(p, _ *plan.Table) { p.Column("born").Sources = []string{"a"} }, "name slot"},
		{"nothing that a source lacks", func(_, s *plan.Table) { s.Columns = s.Columns[:4] }, "name slot"},
		{"integers and texts of another width are alike", func(_, s *plan.Table) { s.Column("slot").Type, s.Column("name").Type = "bigint", "text" }, "name slot born"},
		{"dates and integers are not", func(_, s *plan.Table) { s.Column("born").Type = "int" }, "name slot"},
		{"no names that may be changed", func(p, _ *plan.Table) { p.Unique = append(p.Unique, key(plan.RuleSuffix, "name")) }, "slot born"},
		{"no numbers that may be changed", func(p, _ *plan.Table) { p.Unique = append(p.Unique, key(plan.RuleRenumber, "slot")) }, "name born"},
		{"keys whose rows may not clash stay", func(p, _ *plan.Table) { p.Unique = append(p.Unique, key(plan.RuleFail, "name")) }, "name slot born"},
		{"of rows that are merged only the key by which they are", func(p, _ *plan.Table) { p.Unique = append(p.Unique, key(plan.RuleKeep, "name", "slot")) }, "name slot"},
		{"nothing of rows that are merged by either of two keys", func(p, _ *plan.Table) {
			p.Unique = append(p.Unique, key(plan.RuleKeep, "name"), key(plan.RuleKeep, "slot"))
		}, ""},
	} {
		p, source := players(columns, []string{"id"}), players(columns, []string{"id"})
		p.Column("id").Role, p.Column("guild").Role = plan.RoleKey, plan.RoleReference
		test.change(p, source)
		w := witnessOf(sqlsnow.MySQL, p, players(columns, []string{"id"}), players(columns, []string{"id"}), source)
		if got := names(w.content(p)); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// The target itself keeps contents apart by a key without NULL, all of whose columns are content.
func TestIdentifies(t *testing.T) {
	const columns = "id int not null, name varchar(20) not null, realm int not null, code int, born date"
	unique := func(columns ...string) *plan.Unique { return &plan.Unique{Columns: columns} }
	for _, test := range []struct {
		name    string
		target  *plan.Table
		content []string
		want    bool
	}{
		{"a unique key", players(columns, []string{"id"}, unique("name")), []string{"name", "born"}, true},
		{"the primary key", players(columns, []string{"realm", "name"}), []string{"name", "realm"}, true},
		{"one of two unique keys", players(columns, []string{"id"}, unique("realm"), unique("name")), []string{"name"}, true},
		{"a key with a column that is no content", players(columns, []string{"id"}, unique("name", "realm")), []string{"name"}, false},
		{"a key with NULL: rows may have it several times", players(columns, []string{"id"}, unique("code")), []string{"code", "name"}, false},
		{"no key but the id", players(columns, []string{"id"}), []string{"name", "realm"}, false},
		{"no key at all", players(columns, nil), []string{"name", "realm"}, false},
	} {
		p := players(columns, []string{"id"})
		w := witnessOf(sqlsnow.MySQL, p, test.target)
		content := slices.DeleteFunc(slices.Clone(p.Columns), func(c *plan.Column) bool { return !slices.Contains(test.content, c.Name) })
		if got := w.identifies(p, content); got != test.want {
			t.Errorf("%s: got %t", test.name, got)
		}
	}
}
