package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge"
)

// decide is what people do with a plan: it answers each question that inspect
// asks. It returns the answers as lines.
func decide(plan *merge.Plan, counts []string) []string {
	var answers []string
	for _, t := range plan.Tables {
		// Rows of servers that counted them get new ids, dated by when they were made.
		if t.Mint = nil; t.Name != "friendships" && t.Name != "ranks" {
			t.Mint = counts
		}
		for _, c := range t.Columns {
			name := t.Name + "." + c.Name
			if answer, ok := references[name]; ok {
				c.Role, c.Refers, c.By = answer.Role, answer.Refers, answer.By
				if strings.HasPrefix(strings.ToLower(c.Type), "int") {
					c.Type = "bigint"
				}
				answers = append(answers, name+": "+string(answer.Role)+" to "+targets(c.Refers))
			} else if c.Role == merge.RoleUndecided || len(c.Suspects) > 0 {
				if c.Role == merge.RoleUndecided {
					c.Role = merge.RolePlain
				}
				answers = append(answers, name+": "+string(c.Role))
			}
			c.Decided = true
		}
		for _, u := range t.Unique {
			if rule, ok := rules[t.Name]; ok && u.Columns[0] != "id" { // ids that servers have kept can't clash
				u.Rule = rule
				answers = append(answers, t.Name+" with equal "+u.Columns[len(u.Columns)-1]+": "+string(rule))
			}
			u.Decided = true
		}
	}
	return answers
}

// references are those that the schema does not tell of.
var references = map[string]merge.Column{
	"mails.recipient_id": {Role: merge.RoleReference, Refers: []*merge.Reference{{Table: "players"}}},
	"mails.body": {Role: merge.RoleJSON, Refers: []*merge.Reference{
		{Table: "players", Path: "$.from"}, {Table: "items", Path: "$.items[*].id"},
	}},
	"parties.members": {Role: merge.RoleList, Refers: []*merge.Reference{{Table: "players"}}},
	"journal.subject_id": {Role: merge.RolePolymorphic, By: "subject_type", Refers: []*merge.Reference{
		{Table: "players", Value: "player"}, {Table: "guilds", Value: "guild"}, {Table: "items", Value: "item"},
	}},
}

// rules are those of the unique keys, by table.
var rules = map[string]merge.Rule{
	"players":    merge.RuleSuffix, // the later one is renamed
	"guilds":     merge.RuleSuffix,
	"item_kinds": merge.RuleMatch, // the same word is the same thing
	"ranks":      merge.RuleKeep,  // a slot belongs to the first one who has it
}

func targets(refers []*merge.Reference) string {
	names := make(map[string]bool)
	for _, r := range refers {
		names[r.Table] = true
	}
	text := ""
	for _, name := range slices.Sorted(maps.Keys(names)) {
		text += ", " + name
	}
	return text[2:]
}
