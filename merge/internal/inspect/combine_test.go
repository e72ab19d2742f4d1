package inspect

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/plan"
)

// TestCombine merges the catalogs of two sources that differ in about everything.
func TestCombine(t *testing.T) {
	value := "0"
	a := &catalog.Catalog{
		Types: []string{"CREATE TYPE mood AS ENUM ('glad')"}, Notes: []string{"view v"},
		Tables: []*catalog.Table{
			{Table: &plan.Table{
				Name: "players", PrimaryKey: []string{"id"}, Options: "COLLATE=x",
				Columns: []*plan.Column{
					{Name: "id", Type: "int"},
					{Name: "name", Type: "varchar(20)"},
					{Name: "same", Type: "varchar(20)", Collation: "y"},
					{Name: "level", Type: "int"},
					{Name: "mood", Type: "mood"},
					{Name: "only_a", Type: "int", Default: &value},
				},
				Unique:  []*plan.Unique{{Name: "u", Columns: []string{"name"}, Rule: plan.RuleFail}},
				Indexes: []*plan.Index{{Name: "i", Columns: []string{"level"}}},
				Notes:   []string{"trigger t"},
			}},
			{Table: &plan.Table{Name: "extra", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "int"}}}},
		},
	}
	b := &catalog.Catalog{
		Types: []string{"CREATE TYPE mood AS ENUM ('glad', 'sad')"}, Notes: []string{"view v"},
		Tables: []*catalog.Table{{Table: &plan.Table{
			Name: "players", PrimaryKey: []string{"id", "name"}, Options: "COLLATE=y",
			Columns: []*plan.Column{
				{Name: "name", Type: "varchar(30)", Nullable: true},
				{Name: "id", Type: "bigint"},
				{Name: "same", Type: "varchar(20)"},
				{Name: "level", Type: "varchar(3)"},
				{Name: "mood", Type: "mood"},
				{Name: "only_b", Type: "int"},
			},
			Unique:      []*plan.Unique{{Name: "w", Columns: []string{"level", "name"}, Rule: plan.RuleFail}},
			ForeignKeys: []*plan.ForeignKey{{Name: "f", Columns: []string{"id"}, Table: "players", Refers: []string{"id"}}},
			Indexes:     []*plan.Index{{Name: "i", Columns: []string{"id"}}},
		}}},
	}
	p := combine(sqldialect.MySQL, []string{"a", "b"}, []*catalog.Catalog{a, b})
	if want := []string{"a: view v", "b: view v"}; !slices.Equal(p.Notes, want) {
		t.Errorf("got notes %q, want %q", p.Notes, want)
	}
	if extra := p.Table("extra"); !slices.Equal(extra.Sources, []string{"a"}) {
		t.Errorf("extra is in %q", extra.Sources)
	}
	players := p.Table("players")
	tests := []struct {
		column, typ, suspect string
		nullable             bool
		sources              []string
	}{
		{"id", "bigint", "primary key", false, nil},
		{"name", "varchar(30)", "collation differs", true, nil},
		{"same", "varchar(20)", "", false, nil}, // the table's collation there is the column's here
		{"level", "int", "type differs", false, nil},
		{"mood", "mood", "other values", false, nil},
		{"only_a", "int", "", false, []string{"a"}},
		{"only_b", "int", "give it a default", false, []string{"b"}},
	}
	for _, test := range tests {
		c := players.Column(test.column)
		found := strings.Join(c.Suspects, "; ")
		if c.Type != test.typ || c.Nullable != test.nullable || !slices.Equal(c.Sources, test.sources) ||
			(test.suspect == "") != (found == "") || !strings.Contains(found, test.suspect) {
			t.Errorf("%s: got %+v, want %+v", test.column, c, test)
		}
	}
	if len(players.Unique) != 2 || len(players.Unique[0].Suspects) != 1 || len(players.Unique[1].Suspects) != 1 {
		t.Errorf("got unique keys %+v %+v, want suspects in both", players.Unique[0], players.Unique[1])
	}
	for _, want := range []string{"trigger t", "index i differs", "foreign key", "options differ", "only in a; rows"} {
		if !slices.ContainsFunc(players.Notes, func(note string) bool { return strings.Contains(note, want) }) {
			t.Errorf("got notes %q, want one with %q", players.Notes, want)
		}
	}
}

// TestSubstitute finds something to tell rows apart by.
func TestSubstitute(t *testing.T) {
	table := &plan.Table{
		Name: "t", Columns: []*plan.Column{{Name: "a", Nullable: true}, {Name: "b"}},
		Unique: []*plan.Unique{{Columns: []string{"a"}}, {Columns: []string{"b"}}},
	}
	p := combine(sqldialect.MySQL, []string{"s"}, []*catalog.Catalog{{Tables: []*catalog.Table{{Table: table}}}})
	if got := p.Tables[0]; !slices.Equal(got.PrimaryKey, []string{"b"}) || len(got.Unique) != 1 {
		t.Errorf("got %q with %d unique keys, want b and one", got.PrimaryKey, len(got.Unique))
	}
}
