package plan_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
)

// What becomes of the columns of a plan without open questions.
func Example() {
	p, err := plan.Read(strings.NewReader(`
version: 1
dialect: MySQL
sources: [eu, us]
tables:
- name: players
  primary_key: [id]
  new_ids: [eu, us]
  columns:
  - {name: id, type: bigint, role: key}
  - {name: invited_by, type: bigint, nullable: true, role: reference, refers: [{table: players}]}
  - {name: level, type: int, role: plain}
`))
	if err != nil {
		log.Fatal(err)
	}
	if err := p.Check(); err != nil {
		log.Fatal(err) // what is wrong with it, or not decided
	}
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			fmt.Printf("%s.%s: %s\n", t.Name, c.Name, c.Role)
		}
	}
	// Output:
	// players.id: key
	// players.invited_by: reference
	// players.level: plain
}
