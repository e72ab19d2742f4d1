package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/bench/inspect"
)

// inspectReport returns the part of RESULTS.md about the proposals of merge.Inspect.
func inspectReport(s *section[[]inspect.Score]) string {
	var b strings.Builder
	b.WriteString("## Proposals of merge.Inspect\n\n" + s.about([]string{"github.com/go-sql-driver/mysql"}))
	b.WriteString("Two sources of each schema, on MariaDB, filled with rows whose ids all begin at 1. No schema declares a foreign key. A reference is\n" +
		"proposed right if the plan has it as the best answer. Silent is what would be wrong without a question: a reference that is plain or a\n" +
		"key, or a column that is taken for a reference. Targets: nothing silent, ≥ 95 % right (a shop: ≥ 90 %), at most 25 questions for 98\n" +
		"tables, and ten for a small schema.\n\n")
	t := newTable(1, "schema", "tables", "references", "right", "asked without it", "silently plain", "silently a key", "silently false", "asked for nothing", "questions")
	for _, r := range s.Result {
		t.add(r.Schema, strconv.Itoa(r.Tables), strconv.Itoa(r.True), fmt.Sprintf("%d (%.1f %%)", r.Right, 100*float64(r.Right)/float64(r.True)), strconv.Itoa(r.Asked),
			strconv.Itoa(r.Plain), strconv.Itoa(r.Key), strconv.Itoa(r.False), strconv.Itoa(r.Extra), strconv.Itoa(r.Questions))
	}
	return b.String() + t.String() + "\n"
}
