package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// editPlan does what people do with a file of a plan in an editor.
func editPlan(ctx context.Context, dialect sqlsnow.Dialect, file string, dsns []namedDSN, edit func(*plan.Plan)) (err error) {
	c := &command{dialect: dialect, plan: file, sources: dsns}
	defer func() {
		for _, db := range c.open {
			err = errors.Join(err, db.Close())
		}
	}()
	sources, err := c.openSources(ctx)
	if err != nil {
		return err
	}
	p, err := c.readPlan(ctx, sources)
	if err != nil {
		return err
	}
	edit(p)
	return c.writePlan(ctx, p, sources, os.O_TRUNC)
}

// decide does what people do with a plan: it answers each question that inspect
// asks. It returns the answers as lines.
func decide(p *plan.Plan, counts []string) []string {
	var answers []string
	for _, t := range p.Tables {
		// Rows of servers that counted them get new ids, dated by when they were made.
		if t.NewIDs = nil; t.Name != "friendships" && t.Name != "ranks" {
			t.NewIDs = counts
		}
		for _, c := range t.Columns {
			name := t.Name + "." + c.Name
			if answer, ok := references[name]; ok {
				c.Role, c.Refers, c.By = answer.Role, answer.Refers, answer.By
				answers = append(answers, name+": "+string(answer.Role)+" to "+targets(c.Refers))
			} else if c.Role == plan.RoleUndecided || len(c.Suspects) > 0 {
				if c.Role == plan.RoleUndecided {
					c.Role = plan.RolePlain
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
	for _, q := range p.Questions {
		q.Answer = plan.AnswerEach
	}
	p.Settle()
	return answers
}

// references are the references that the schema does not declare.
var references = map[string]plan.Column{
	"mails.recipient_id": {Role: plan.RoleReference, Refers: []*plan.Reference{{Table: "players"}}},
	"mails.body": {Role: plan.RoleJSON, Refers: []*plan.Reference{
		{Table: "players", Path: "$.from"}, {Table: "items", Path: "$.items[*].id"},
	}},
	"parties.members": {Role: plan.RoleList, Refers: []*plan.Reference{{Table: "players"}}},
	"journal.subject_id": {Role: plan.RolePolymorphic, By: "subject_type", Refers: []*plan.Reference{
		{Table: "players", Value: "player"}, {Table: "guilds", Value: "guild"}, {Table: "items", Value: "item"},
	}},
}

// rules are the rules for clashes of unique keys, by table.
var rules = map[string]plan.Rule{
	"players":    plan.RuleSuffix, // the later one is renamed
	"guilds":     plan.RuleSuffix,
	"item_kinds": plan.RuleMatch, // the same word is the same thing
	"ranks":      plan.RuleKeep,  // a slot belongs to the first one who has it
}

func targets(refers []*plan.Reference) string {
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
