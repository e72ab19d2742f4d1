package preflight

import (
	"testing"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/plan"
)

// A source keeps rows apart by its keys, if all of their columns are among the ones that the plan goes by. NULL is equal
// to nothing, so a key with NULL tells only the other rows apart.
func TestGuards(t *testing.T) {
	unique := func(columns ...string) *plan.Unique { return &plan.Unique{Columns: columns} }
	columns := []*plan.Column{{Name: "realm"}, {Name: "id"}, {Name: "name"}, {Name: "code", Nullable: true}}
	for _, test := range []struct {
		name             string
		primary          []string
		unique           []*plan.Unique
		by               []string
		guards, separate bool
	}{
		{"the primary key", []string{"id"}, nil, []string{"id"}, true, true},
		{"the primary key and more", []string{"id"}, nil, []string{"name", "id"}, true, true},
		{"a part of the primary key", []string{"realm", "id"}, nil, []string{"id"}, false, false},
		{"a unique key", []string{"id"}, []*plan.Unique{unique("name")}, []string{"name"}, true, true},
		{"the second of two unique keys", []string{"id"}, []*plan.Unique{unique("code"), unique("name")}, []string{"name"}, true, true},
		{"a unique key with NULL", []string{"id"}, []*plan.Unique{unique("code")}, []string{"code"}, true, false},
		{"a unique key, and a column with NULL beside it", nil, []*plan.Unique{unique("name")}, []string{"name", "code"}, true, false},
		{"a column that the source does not have", []string{"id"}, nil, []string{"id", "guild"}, true, false},
		{"a plain column", []string{"id"}, nil, []string{"name"}, false, false},
		{"a table without keys", nil, nil, []string{"id"}, false, false},
	} {
		table := &catalog.Table{Table: &plan.Table{Columns: columns, PrimaryKey: test.primary, Unique: test.unique}}
		if got := Guards(table, test.by); got != test.guards {
			t.Errorf("%s: guards: got %t", test.name, got)
		}
		if got := tellsApart(table, test.by); got != test.separate {
			t.Errorf("%s: tells rows apart: got %t", test.name, got)
		}
	}
}
