package plan_test

import (
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// A role suffices: types follow from it.
func TestTargetType(t *testing.T) {
	nobody := "-1"
	players := &plan.Reference{Table: "players"}
	p := &plan.Plan{Version: 1, Dialect: "MySQL", Sources: []string{"a"}, Tables: []*plan.Table{
		{Name: "players", PrimaryKey: []string{"id"}, NewIDs: []string{"a"}, Columns: []*plan.Column{{Name: "id", Type: "int(10) unsigned", Role: plan.RoleKey}}},
		{Name: "kinds", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "smallint", Role: plan.RoleKey}}},
		{Name: "t", Indexes: []*plan.Index{{Name: "i", Columns: []string{"indexed"}}}, ForeignKeys: []*plan.ForeignKey{{Columns: []string{"tied"}, Table: "players", Refers: []string{"id"}}}},
		{Name: "accounts", PrimaryKey: []string{"id"}, NewIDs: []string{"a"}, Columns: []*plan.Column{{Name: "id", Type: "decimal(10,0)", Role: plan.RoleKey}}},
	}}
	of := p.Tables[2]
	tests := []struct {
		column plan.Column
		want   string
	}{
		{plan.Column{Name: "plain", Type: "int(11)", Role: plan.RolePlain}, "int(11)"},
		{plan.Column{Name: "small", Type: "smallint(6)", Role: plan.RoleReference, Refers: []*plan.Reference{players}}, "bigint unsigned"},
		{plan.Column{Name: "signed", Type: "int", Default: &nobody, Role: plan.RoleReference, Refers: []*plan.Reference{players}}, "bigint"},
		{plan.Column{Name: "none", Type: "int", None: []string{"-1"}, Role: plan.RoleReference, Refers: []*plan.Reference{players}}, "bigint"},
		{plan.Column{Name: "wide", Type: "bigint", Role: plan.RoleReference, Refers: []*plan.Reference{players}}, "bigint"},
		{plan.Column{Name: "tied", Type: "bigint", Role: plan.RoleReference, Refers: []*plan.Reference{players}}, "bigint unsigned"},
		{plan.Column{Name: "decimal", Type: "decimal(10,0)", Role: plan.RoleReference, Refers: []*plan.Reference{players}}, "bigint unsigned"},
		{plan.Column{Name: "account", Type: "int", Role: plan.RoleReference, Refers: []*plan.Reference{{Table: "accounts"}}}, "decimal(19,0)"},
		{plan.Column{Name: "unsigned", Type: "int(10) unsigned", Role: plan.RoleReference, Refers: []*plan.Reference{{Table: "kinds"}}}, "bigint"},
		{plan.Column{Name: "text", Type: "varchar(10)", Role: plan.RoleReference, Refers: []*plan.Reference{players}}, "varchar(19)"},
		{plan.Column{Name: "long", Type: "varchar(30)", Role: plan.RoleReference, Refers: []*plan.Reference{players}}, "varchar(30)"},
		{plan.Column{Name: "kind", Type: "mediumint", Role: plan.RolePolymorphic, By: "by", Refers: []*plan.Reference{players}}, "bigint"},
		{plan.Column{Name: "list", Type: "varchar(21)", Role: plan.RoleList, Refers: []*plan.Reference{players}}, "varchar(219)"},
		{plan.Column{Name: "ids", Type: "varchar(21)", Role: plan.RoleList, Refers: []*plan.Reference{{Table: "kinds"}}}, "varchar(21)"},
		{plan.Column{Name: "indexed", Type: "varchar(21)", Role: plan.RoleList, Refers: []*plan.Reference{players}}, "varchar(21)"},
		{plan.Column{Name: "json", Type: "varchar(20)", Role: plan.RoleJSON, Refers: []*plan.Reference{{Table: "players", Path: "$[*]"}}}, "varchar(199)"},
		{plan.Column{Name: "nothing", Type: "int", Role: plan.RoleReference}, "bigint"},
	}
	for _, test := range tests {
		if got := p.TargetType(of, &test.column); got != test.want {
			t.Errorf("%s: got %q, want %q", test.column.Name, got, test.want)
		}
	}
	p.Dialect = "PostgreSQL"
	array := &plan.Column{Name: "array", Type: "integer[]", Role: plan.RoleList, Refers: []*plan.Reference{players}}
	if got := p.TargetType(of, array); got != "bigint[]" {
		t.Errorf("an array: got %q, want bigint[]", got)
	}
}
