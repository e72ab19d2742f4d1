package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// goodPlan returns a plan with a column of every role.
func goodPlan() *plan.Plan {
	return &plan.Plan{
		Version: 1, Dialect: "MySQL", Sources: []string{"a", "b"},
		Tables: []*plan.Table{
			{
				Name: "players", PrimaryKey: []string{"id"}, NewIDs: []string{"a"}, Created: "born", Zone: "Asia/Shanghai",
				Columns: []*plan.Column{
					{Name: "id", Type: "bigint unsigned", Role: plan.RoleKey},
					{Name: "name", Type: "varchar(20)", Role: plan.RolePlain},
					{Name: "born", Type: "datetime", Role: plan.RolePlain},
					{Name: "boss", Type: "bigint unsigned", Nullable: true, Role: plan.RoleReference, Refers: []*plan.Reference{{Table: "players"}}, Orphans: plan.OrphansNull},
					{Name: "friends", Type: "text", Role: plan.RoleList, Refers: []*plan.Reference{{Table: "players"}}},
					{Name: "bag", Type: "json", Role: plan.RoleJSON, Refers: []*plan.Reference{{Table: "players", Path: "$[*].from"}}},
					{Name: "kind", Type: "varchar(20)", Role: plan.RolePlain},
					{Name: "of", Type: "varchar(20)", Role: plan.RolePolymorphic, By: "kind", Refers: []*plan.Reference{{Table: "players", Value: "p"}, {Value: "none"}}},
				},
				Unique: []*plan.Unique{{Columns: []string{"id"}, Rule: plan.RuleFail}, {Columns: []string{"name"}, Rule: plan.RuleSuffix, Suspects: []string{"3 clash"}, Decided: true}},
			},
			{
				Name: "scores", PrimaryKey: []string{"player"},
				Columns:     []*plan.Column{{Name: "player", Type: "bigint unsigned", Role: plan.RoleReference, Refers: []*plan.Reference{{Table: "players"}}}},
				ForeignKeys: []*plan.ForeignKey{{Columns: []string{"player"}, Table: "players", Refers: []string{"id"}}},
				Indexes:     []*plan.Index{{Name: "i", Columns: []string{"player"}}},
			},
			{Name: "trash", Skip: true},
		},
	}
}

func TestCheck(t *testing.T) {
	if err := goodPlan().Check(); err != nil {
		t.Fatalf("a good plan: %v", err)
	}
	member := goodPlan() // a key that is a member of the primary key, and a table without one
	member.Tables[0].PrimaryKey, member.Tables[1].PrimaryKey = []string{"id", "name"}, nil
	if err := member.Check(); err != nil {
		t.Errorf("a plan of other keys: %v", err)
	}
	type broken struct {
		name          string
		how           func(p *plan.Plan)
		table, column string
		want          string
	}
	table := func(p *plan.Plan) *plan.Table { return p.Tables[0] }
	column := func(p *plan.Plan, n int) *plan.Column { return p.Tables[0].Columns[n] }
	byName := func(p *plan.Plan, child, parent int) { // a foreign key by names
		p.Tables[1].Columns = append(p.Tables[1].Columns, &plan.Column{Name: "nick", Type: "varchar(20)", Role: plan.RolePlain})
		names := [2][]string{{"name"}, {"nick"}}
		p.Tables[child].ForeignKeys = append(p.Tables[child].ForeignKeys, &plan.ForeignKey{Columns: names[child], Table: p.Tables[parent].Name, Refers: names[parent]})
	}
	skipped := goodPlan()
	byName(skipped, 1, 0)
	skipped.Tables[1].Skip = true
	if err := skipped.Check(); err != nil {
		t.Errorf("a foreign key of a table that is skipped: %v", err)
	}
	for _, test := range []broken{
		{"version", func(p *plan.Plan) { p.Version = 2 }, "", "", "version 2"},
		{"dialect", func(p *plan.Plan) { p.Dialect = "Oracle" }, "", "", `dialect "Oracle"`},
		{"no source", func(p *plan.Plan) { p.Sources = nil }, "", "", "no sources"},
		{"source twice", func(p *plan.Plan) { p.Sources = []string{"a", "b", "a"} }, "", "", `"a" is there twice`},
		{"nil table", func(p *plan.Plan) { p.Tables[1] = nil }, "", "", "empty"},
		{"table without name", func(p *plan.Plan) { p.Tables[2].Name = "" }, "", "", "no name"},
		{"table twice", func(p *plan.Plan) { p.Tables[2].Name = "scores" }, "scores", "", "is there twice"},
		{"table of no source", func(p *plan.Plan) { table(p).Sources = []string{"c"} }, "players", "", `"c", which is no source`},
		{"new ids elsewhere", func(p *plan.Plan) { table(p).Sources = []string{"b"} }, "players", "", `new_ids names "a", which does not have the table`},
		{"new ids twice", func(p *plan.Plan) { table(p).NewIDs = []string{"a", "a"} }, "players", "", "twice"},
		{"new ids without a key", func(p *plan.Plan) { p.Tables[1].NewIDs = []string{"a"} }, "scores", "", "no column is a key"},
		{"primary key of nothing", func(p *plan.Plan) { p.Tables[1].PrimaryKey = []string{"x"} }, "scores", "", `"x", which is no column`},
		{"primary key of some", func(p *plan.Plan) { column(p, 0).Sources = []string{"a"} }, "players", "id", "all the sources"},
		{"column without name", func(p *plan.Plan) { column(p, 1).Name = "" }, "players", "", "no name"},
		{"column twice", func(p *plan.Plan) { column(p, 1).Name = "born" }, "players", "born", "is there twice"},
		{"column without type", func(p *plan.Plan) { column(p, 1).Type = "" }, "players", "name", "no type"},
		{"column without a value", func(p *plan.Plan) { column(p, 6).Sources = []string{"a"} }, "players", "kind", "nullable or have a default"},
		{"undecided", func(p *plan.Plan) { column(p, 1).Suspects = []string{"who?", "what?"} }, "players", "name", "not decided: who? (and 1 more)"},
		{"role undecided", func(p *plan.Plan) { column(p, 1).Role = plan.RoleUndecided }, "players", "name", "role is undecided"},
		{"decided, but not how", func(p *plan.Plan) {
			c := column(p, 1)
			c.Role, c.Suspects, c.Decided = plan.RoleUndecided, []string{"who?"}, true
		}, "players", "name", "role is undecided"},
		{"no role", func(p *plan.Plan) { column(p, 1).Role = "" }, "players", "name", `role ""`},
		{"key of a text", func(p *plan.Plan) { column(p, 0).Type = "varchar(20)" }, "players", "id", "no integer"},
		{"part of a key", func(p *plan.Plan) {
			table(p).PrimaryKey, table(p).Unique = []string{"id", "name"}, nil
		}, "players", "id", "neither the whole primary key nor a unique key"},
		{"key with NULL", func(p *plan.Plan) { table(p).PrimaryKey, column(p, 0).Nullable = []string{"name"}, true }, "players", "id", "can be NULL"},
		{"key of some", func(p *plan.Plan) {
			table(p).PrimaryKey, column(p, 0).Sources = []string{"name"}, []string{"a"}
		}, "players", "id", "all the sources of the table must have it"},
		{"no rowid", func(p *plan.Plan) {
			p.Dialect, p.Tables[1].PrimaryKey, p.Tables[1].Without = "SQLite", nil, []string{"rowid", "OID", "_rowid_"}
		}, "scores", "", "hide the rowid"},
		{"reference in a number of double precision", func(p *plan.Plan) { column(p, 3).Type = "double" }, "players", "boss", "give the column type: bigint in the plan"},
		{"reference in a number with a fraction", func(p *plan.Plan) { column(p, 3).Type = "decimal(12,2)" }, "players", "boss", "ALTER the column to bigint"},
		{"reference in a date", func(p *plan.Plan) { column(p, 3).Type = "date" }, "players", "boss", "neither an integer nor a text"},
		{"reference to nothing", func(p *plan.Plan) { column(p, 3).Refers = nil }, "players", "boss", "refers to one table"},
		{"reference to no table", func(p *plan.Plan) { column(p, 3).Refers[0].Table = "x" }, "players", "boss", `"x", which does not exist`},
		{"reference to a skipped table", func(p *plan.Plan) { column(p, 3).Refers[0].Table = "trash" }, "players", "boss", "which is skipped"},
		{"reference to no key", func(p *plan.Plan) { column(p, 3).Refers[0].Table = "scores" }, "players", "boss", "which has no key"},
		{"reference with a path", func(p *plan.Plan) { column(p, 3).Refers[0].Path = "$" }, "players", "boss", "without path"},
		{"orphans in what can't be null", func(p *plan.Plan) { column(p, 3).Nullable = false }, "players", "boss", "not nullable"},
		{"orphans", func(p *plan.Plan) { column(p, 3).Orphans = "keep" }, "players", "boss", `orphans "keep"`},
		{"list of no text", func(p *plan.Plan) { column(p, 4).Type = "bigint" }, "players", "friends", "no text"},
		{"JSON in a date", func(p *plan.Plan) { column(p, 5).Type = "date" }, "players", "bag", "neither that nor a text"},
		{"no path", func(p *plan.Plan) { column(p, 5).Refers[0].Path = "" }, "players", "bag", `path ""`},
		{"bad path", func(p *plan.Plan) { column(p, 5).Refers[0].Path = "$.a[x]" }, "players", "bag", "$.a[x]"},
		{"path twice", func(p *plan.Plan) { column(p, 5).Refers = append(column(p, 5).Refers, column(p, 5).Refers[0]) }, "players", "bag", "two references"},
		{"polymorphic by nothing", func(p *plan.Plan) { column(p, 7).By = "x" }, "players", "of", `by is "x"`},
		{"polymorphic by what is not everywhere", func(p *plan.Plan) {
			column(p, 6).Sources, column(p, 6).Nullable = []string{"a"}, true
		}, "players", "of", `which source "b" does not have`},
		{"polymorphic by itself", func(p *plan.Plan) { column(p, 7).By = "of" }, "players", "of", `by is "of"`},
		{"generated reference", func(p *plan.Plan) { column(p, 3).Generated = "(1) STORED" }, "players", "boss", "generated"},
		{"dated by nothing", func(p *plan.Plan) { table(p).Created = "x" }, "players", "", `created names "x"`},
		{"dated by a name", func(p *plan.Plan) { table(p).Created = "name" }, "players", "name", "neither a time nor an integer"},
		{"dated in some sources", func(p *plan.Plan) {
			c := column(p, 2)
			c.Nullable, c.Sources = true, []string{"b"}
		}, "players", "born", `source "a" does not have it`},
		{"zone", func(p *plan.Plan) { table(p).Zone = "Mars" }, "players", "", `zone "Mars"`},
		{"unique of nothing", func(p *plan.Plan) { table(p).Unique[0].Columns = nil }, "players", "", "no columns"},
		{"unique of no column", func(p *plan.Plan) { table(p).Unique[0].Columns = []string{"x"} }, "players", "", `"x", which is no column`},
		{"undecided clash", func(p *plan.Plan) { table(p).Unique[1].Decided = false }, "players", "name", "not decided: 3 clash"},
		{"rule", func(p *plan.Plan) { table(p).Unique[0].Rule = "maybe" }, "players", "", `rule "maybe"`},
		{"suffix of a number", func(p *plan.Plan) { table(p).Unique[0].Rule = plan.RuleSuffix }, "players", "", "that is a text"},
		{"suffix elsewhere", func(p *plan.Plan) { table(p).Unique[1].Rename = "kind" }, "players", "kind", "can't be renamed"},
		{"suffix of what a foreign key refers to", func(p *plan.Plan) { byName(p, 1, 0) }, "players", "name", "tie scores.nick to it"},
		{"suffix of what has a foreign key", func(p *plan.Plan) { byName(p, 0, 1) }, "players", "name", "tie scores.nick to it"},
		{"prefers nobody", func(p *plan.Plan) { table(p).Unique[0].Prefer = []string{"x"} }, "players", "", `"x", which is no source`},
		{"prefers two", func(p *plan.Plan) {
			table(p).Unique[0].Rule, table(p).Unique[1].Rule = plan.RuleKeep, plan.RuleKeep
			table(p).Unique[0].Prefer = []string{"b"}
		}, "players", "", "different orders"},
		{"rows left out that nothing names", func(p *plan.Plan) {
			player := p.Tables[1].Columns[0]
			player.Orphans, p.Tables[1].PrimaryKey = plan.OrphansDrop, nil
			p.Tables[1].Unique = []*plan.Unique{{Columns: []string{"player"}, Rule: plan.RuleKeep}}
		}, "scores", "player", "nothing tells which in a table without a primary key"},
		{"foreign key of nothing", func(p *plan.Plan) { p.Tables[1].ForeignKeys[0].Columns = nil }, "scores", "", "0 columns"},
		{"foreign key to no table", func(p *plan.Plan) { p.Tables[1].ForeignKeys[0].Table = "x" }, "scores", "", `"x", which does not exist`},
		{"foreign key of a plain column", func(p *plan.Plan) { p.Tables[1].Columns[0].Role = plan.RolePlain }, "scores", "player", `must be a reference to table "players"`},
		{"foreign key to a plain column", func(p *plan.Plan) { p.Tables[1].ForeignKeys[0].Refers[0] = "name" }, "scores", "player", "which holds no ids"},
		{"index of nothing", func(p *plan.Plan) { p.Tables[1].Indexes[0].Columns = nil }, "scores", "", `index "i"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := goodPlan()
			test.how(p)
			err := p.Check()
			for _, fault := range faults(err) {
				if fault.Table == test.table && fault.Column == test.column && strings.Contains(fault.Reason, test.want) {
					return
				}
			}
			t.Errorf("got %v, want a fault of %q.%q with %q", err, test.table, test.column, test.want)
		})
	}
}

// faults returns the errors that are joined in err.
func faults(err error) (found []*plan.Error) {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, err := range joined.Unwrap() {
			var fault *plan.Error
			if errors.As(err, &fault) {
				found = append(found, fault)
			}
		}
	}
	return found
}

func TestCheckAllowsWhatIsDecided(t *testing.T) {
	p := goodPlan()
	c := p.Tables[0].Columns[1]
	c.Suspects, c.Decided = []string{"ids?"}, true
	c.Refers = []*plan.Reference{{Table: "gone"}} // of a proposal that was turned down
	p.Tables[2].Columns = []*plan.Column{{Name: "x", Suspects: []string{"ids?"}}}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
}
