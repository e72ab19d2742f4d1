package plan_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
)

// Without the schemas of the sources nothing but the file itself can be checked.
func ExampleReadDecisions() {
	_, err := plan.ReadDecisions(strings.NewReader(`
version: 2
dialect: MySQL
sources: [eu, us]
references:
- {to: players, list: players, columns: [guilds.members]}
`))
	fmt.Println(err)
	// Output: plan: line 6: want one of to, list, json, by, format and name
}

func ExampleVersionOf() {
	fmt.Println(plan.VersionOf([]byte("version: 2\ndialect: MySQL\n")) == plan.DecisionsVersion)
	// Output: true
}

// What follows from the schema is not written.
func ExampleShorten() {
	tables := func() []*plan.Table {
		return []*plan.Table{
			{Name: "mails", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "INTEGER", Role: plan.RoleKey}, {Name: "receiver", Type: "INTEGER", Role: plan.RolePlain}}},
			{Name: "players", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "INTEGER", Role: plan.RoleKey}}},
		}
	}
	schema := &plan.Plan{Version: 1, Dialect: "SQLite", Sources: []string{"eu", "us"}, Tables: tables()}
	p := &plan.Plan{Version: 1, Dialect: "SQLite", Sources: []string{"eu", "us"}, Tables: tables()}
	for _, t := range p.Tables {
		t.NewIDs = p.Sources
	}
	receiver := p.Table("mails").Column("receiver")
	receiver.Role, receiver.Refers, receiver.Decided = plan.RoleReference, []*plan.Reference{{Table: "players"}}, true

	decisions, err := plan.Shorten(p, schema)
	if err != nil {
		log.Fatal(err)
	}
	var b strings.Builder
	if err := decisions.WriteYAML(&b); err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if !strings.HasPrefix(line, "#") {
			_, _ = os.Stdout.WriteString(line)
		}
	}
	// Output:
	// version: 2
	// dialect: SQLite
	// sources: [eu, us]
	// new_ids: [eu, us]
	// references:
	// - {to: players, columns: [mails.receiver]}
	// schema: [mails=dcff8bd8, players=2c5b7788]
}
