package preflight

import (
	"errors"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// check returns the Check of guilds, and of players who refer to them by guild and to each other by boss.
func check(t *testing.T) (p *Check, guilds, players *plan.Table) {
	t.Helper()
	key := func() *plan.Column { return &plan.Column{Name: "id", Type: "int", Role: plan.RoleKey} }
	refers := func(name, table string) *plan.Column {
		return &plan.Column{Name: name, Type: "int", Nullable: true, Role: plan.RoleReference, Refers: []*plan.Reference{{Table: table}}}
	}
	plain := func(name, typ string) *plan.Column { return &plan.Column{Name: name, Type: typ, Role: plan.RolePlain} }
	guilds = &plan.Table{Name: "guilds", PrimaryKey: []string{"id"}, Columns: []*plan.Column{key(), plain("name", "varchar(20)")}}
	players = &plan.Table{Name: "players", PrimaryKey: []string{"id"}, Columns: []*plan.Column{
		key(), plain("name", "varchar(20)"), refers("guild", "guilds"), refers("boss", "players"),
	}}
	e, err := dialect.Of(sqlsnow.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	j := &work.Job{Engine: e, Plan: &plan.Plan{Sources: []string{"a", "b"}, Tables: []*plan.Table{guilds, players}}}
	if j.Stages, err = j.Plan.Stages(false); err != nil {
		t.Fatal(err)
	}
	return New(j, nil), guilds, players
}

// What the target's tables want for the rows of the plan is known before any row is written.
func TestStructure(t *testing.T) {
	key := func(column, table string) *plan.ForeignKey {
		return &plan.ForeignKey{Columns: []string{column}, Table: table, Refers: []string{"id"}}
	}
	one := "1"
	for _, test := range []struct {
		name   string
		change func(p *Check, players *plan.Table, is *catalog.Table)
		want   string // column: part of the reason; empty if nothing is wrong
	}{
		{"as the plan says", func(*Check, *plan.Table, *catalog.Table) {}, ""},
		{"it computes what is copied", func(_ *Check, _ *plan.Table, is *catalog.Table) { is.Columns[1].Generated = "x" }, "name: computes it"},
		{"it does not compute what sources compute", func(_ *Check, t *plan.Table, _ *catalog.Table) { t.Columns[1].Generated = "x" }, "name: does not compute it"},
		{"it wants a column that no source has", func(_ *Check, _ *plan.Table, is *catalog.Table) {
			is.Columns = append(is.Columns, &plan.Column{Name: "level", Type: "int"})
		}, "level: wants a value for it, and the plan has none"},
		{"it numbers the column that no source has", func(_ *Check, _ *plan.Table, is *catalog.Table) {
			is.Columns, is.Numbered = append(is.Columns, &plan.Column{Name: "level", Type: "int"}), []string{"level"}
		}, ""},
		{"the column that no source has may be NULL", func(_ *Check, _ *plan.Table, is *catalog.Table) {
			is.Columns = append(is.Columns, &plan.Column{Name: "level", Type: "int", Nullable: true})
		}, ""},
		{"the column that no source has is computed", func(_ *Check, _ *plan.Table, is *catalog.Table) {
			is.Columns = append(is.Columns, &plan.Column{Name: "level", Type: "int", Generated: "1"})
		}, ""},
		{"it wants what one source lacks", func(_ *Check, t *plan.Table, _ *catalog.Table) { t.Columns[1].Sources = []string{"a"} }, `name: wants a value for it, and source "b" has none`},
		{"it has a default for what one source lacks", func(_ *Check, t *plan.Table, is *catalog.Table) {
			t.Columns[1].Sources, is.Columns[1].Default = []string{"a"}, &one
		}, ""},
		{"a foreign key to rows that are copied before", func(_ *Check, _ *plan.Table, is *catalog.Table) {
			is.ForeignKeys = append(is.ForeignKeys, key("guild", "guilds"))
		}, ""},
		{"a foreign key to rows of the table itself", func(_ *Check, _ *plan.Table, is *catalog.Table) {
			is.ForeignKeys = append(is.ForeignKeys, key("boss", "players"))
		}, `boss: has a foreign key to "players"`},
		{"the plan has that foreign key", func(_ *Check, t *plan.Table, is *catalog.Table) {
			is.ForeignKeys, t.ForeignKeys = append(is.ForeignKeys, key("boss", "players")), append(t.ForeignKeys, key("boss", "players"))
		}, ""},
		{"a foreign key to rows that are not merged", func(p *Check, _ *plan.Table, is *catalog.Table) {
			p.Plan.Table("guilds").Skip = true
			is.ForeignKeys = append(is.ForeignKeys, key("guild", "guilds"))
		}, `guild: has a foreign key to "guilds"`},
		{"foreign keys are not checked", func(p *Check, _ *plan.Table, is *catalog.Table) {
			p.Unchecked = true
			is.ForeignKeys = append(is.ForeignKeys, key("boss", "players"))
		}, ""},
		{"a foreign key of a column that no row fills", func(_ *Check, _ *plan.Table, is *catalog.Table) {
			is.Columns = append(is.Columns, &plan.Column{Name: "pet", Type: "int", Nullable: true})
			is.ForeignKeys = append(is.ForeignKeys, key("pet", "pets"))
		}, ""},
		{"a foreign key of a column that its default fills", func(_ *Check, _ *plan.Table, is *catalog.Table) {
			is.Columns = append(is.Columns, &plan.Column{Name: "pet", Type: "int", Default: &one})
			is.ForeignKeys = append(is.ForeignKeys, key("pet", "pets"))
		}, `pet: has a foreign key to "pets"`},
	} {
		p, _, players := check(t)
		is := &catalog.Table{Table: &plan.Table{Name: "players", PrimaryKey: []string{"id"}}}
		for _, c := range players.Columns {
			copied := *c
			is.Columns = append(is.Columns, &copied)
		}
		test.change(p, players, is)
		got := ""
		for _, err := range p.structure(players, is) {
			var fault *plan.Error
			if !errors.As(err, &fault) {
				t.Fatalf("%s: got %v, want a plan.Error", test.name, err)
			}
			got += fault.Column + ": " + strings.TrimPrefix(fault.Reason, "the target ")
		}
		if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
