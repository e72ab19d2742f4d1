package plan_test

import (
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// monthly is the schema of some sources. The second one alone has a column and a table.
func monthly(sources ...string) *plan.Plan {
	integer := func(name string) *plan.Column { return &plan.Column{Name: name, Type: "int", Role: plan.RolePlain} }
	key := func() *plan.Column { return &plan.Column{Name: "id", Type: "int", Role: plan.RoleKey} }
	players := &plan.Table{
		Name: "players", PrimaryKey: []string{"id"}, Columns: []*plan.Column{key(), {Name: "name", Type: "varchar(20)", Role: plan.RolePlain}, integer("level")},
		Unique: []*plan.Unique{{Columns: []string{"name"}, Decided: true}},
	}
	return &plan.Plan{Version: 1, Dialect: "MySQL", Sources: sources, Tables: []*plan.Table{players}}
}

// withPets adds what only one of the sources has.
func withPets(p *plan.Plan, source string) *plan.Plan {
	p.Tables[0].Columns = append(p.Tables[0].Columns, &plan.Column{Name: "pet", Type: "int", Nullable: true, Role: plan.RolePlain, Sources: []string{source}})
	p.Tables = append(p.Tables, &plan.Table{Name: "pets", PrimaryKey: []string{"id"}, Sources: []string{source}, Columns: []*plan.Column{{Name: "id", Type: "int", Role: plan.RoleKey}}})
	return p
}

func decisionsOf(t *testing.T, p, schema *plan.Plan) *plan.Decisions {
	t.Helper()
	d, err := plan.Shorten(p, schema)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func yamlOf(t *testing.T, p *plan.Plan) string {
	t.Helper()
	var b strings.Builder
	if err := p.WriteYAML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A plan is good for other sources in the places of its own: it is then the plan that those would have had.
func TestRebind(t *testing.T) {
	decided := func(sources ...string) *plan.Plan {
		p := withPets(monthly(sources...), sources[1])
		for _, table := range p.Tables {
			table.IDs = plan.IDsOffset
			table.NewIDs = sources[:2]
		}
		p.Tables[0].Offsets = map[string]int64{sources[0]: 0, sources[1]: 1000}
		p.Tables[0].WithoutRows = []*plan.Condition{{Where: "level < 5", Sources: []string{sources[1]}}}
		p.Tables[0].Unique[0].Rule, p.Tables[0].Unique[0].Prefer = plan.RuleSuffix, []string{sources[1], sources[0]}
		p.Tables[1].NewIDs = sources[1:2]
		return p
	}
	d := decisionsOf(t, decided("eu", "us"), withPets(monthly("eu", "us"), "us"))
	for _, names := range [][]string{{"eu", "us"}, {"s7", "s8"}, {"eu", "s8"}} {
		schema := withPets(monthly(names...), names[1])
		before := yamlOf(t, schema)
		got, err := d.Rebind(schema)
		if err != nil {
			t.Errorf("%q: %v", names, err)
			continue
		}
		want, err := decisionsOf(t, decided(names...), withPets(monthly(names...), names[1])).Complete(withPets(monthly(names...), names[1]))
		if err != nil {
			t.Fatal(err)
		}
		if yamlOf(t, got) != yamlOf(t, want) {
			t.Errorf("%q: got\n%s\nwant\n%s", names, yamlOf(t, got), yamlOf(t, want))
		}
		if yamlOf(t, schema) != before {
			t.Errorf("%q: the schema was changed", names)
		}
	}
	for _, tt := range []struct {
		schema *plan.Plan
		want   string
	}{
		{withPets(monthly("us", "eu"), "eu"), `source "us" is number 2 of the plan, and is given as number 1`},
		{withPets(monthly("s7", "eu"), "eu"), `source "eu" is number 1 of the plan, and is given as number 2`},
		{withPets(monthly("s7", "s8"), "s7"), "has changed since the plan was made"}, // the other one has the pets
		{withPets(monthly("s7", "s8", "s9"), "s8"), "it is for 2 sources, not 3, and offsets names some of them"},
	} {
		if _, err := d.Rebind(tt.schema); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want %s", tt.schema.Sources, err, tt.want)
		}
	}
}

// A plan that says the same of all sources is good for any number of them.
func TestRebindToMore(t *testing.T) {
	decided := func(change func(*plan.Table), sources ...string) *plan.Plan {
		p := monthly(sources...)
		p.Tables[0].NewIDs, p.Tables[0].IDs, p.Tables[0].Unique[0].Rule = sources, plan.IDsDense, plan.RuleSuffix
		if change != nil {
			change(p.Tables[0])
		}
		return p
	}
	d := decisionsOf(t, decided(nil, "eu", "us"), monthly("eu", "us"))
	for _, names := range [][]string{{"s1"}, {"s1", "s2", "s3"}} {
		got, err := d.Rebind(monthly(names...))
		if err != nil {
			t.Errorf("%q: %v", names, err)
			continue
		}
		want, err := decisionsOf(t, decided(nil, names...), monthly(names...)).Complete(monthly(names...))
		if err != nil {
			t.Fatal(err)
		}
		if yamlOf(t, got) != yamlOf(t, want) {
			t.Errorf("%q: got\n%s\nwant\n%s", names, yamlOf(t, got), yamlOf(t, want))
		}
	}
	for want, change := range map[string]func(*plan.Table){
		"new_ids names only some": func(table *plan.Table) { table.NewIDs = []string{"us"} },
		`in table "players"`: func(table *plan.Table) {
			table.WithoutRows = []*plan.Condition{{Where: "level < 5", Sources: []string{"us"}}}
		},
		`table "players"`: func(table *plan.Table) { table.Unique[0].Prefer = []string{"us", "eu"} },
	} {
		d := decisionsOf(t, decided(change, "eu", "us"), monthly("eu", "us"))
		if _, err := d.Rebind(monthly("s1", "s2", "s3")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
