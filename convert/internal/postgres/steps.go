package postgres

import (
	"fmt"
	"strings"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
)

// Steps returns the steps of a plan, which are always the same for a plan. It asks no database: that a table cannot
// change as planned is what the first step finds.
func Steps(p *plan.Plan) ([]job.Step, error) {
	for _, t := range p.Tables {
		switch t.Method {
		case plan.None, plan.Online, plan.Alter:
		default:
			return nil, fmt.Errorf("convert: table %q: unknown method %q: want none, online or alter", t.Name, t.Method)
		}
		for _, c := range t.Columns {
			if c.To != wideType {
				return nil, fmt.Errorf("convert: table %q: column %q: type %q: PostgreSQL has only %s", t.Name, c.Name, c.To, wideType)
			}
		}
	}
	steps := []job.Step{{
		Name: "check", Title: "See whether each table can change as planned.", Phase: job.Widen, Back: anyTime, Do: check(p), Verify: check(p),
	}}
	var online []*plan.Table
	for _, t := range p.Tables {
		switch {
		case len(t.Columns) == 0:
		case t.Method == plan.Alter:
			steps = append(steps, alterStep(t))
		case t.Method == plan.Online:
			online = append(online, t)
			steps = append(steps, tableSteps(t)...)
		}
	}
	for _, g := range groups(online) {
		steps = append(steps, groupSteps(g)...)
	}
	return append(steps, countSteps(p)...), nil
}

// The ends of the ways back.
const (
	anyTime  = "at any time"
	whileFit = "until the first row with a snow id is written"
)

// groups are the tables that change names together. A table without a group is one of its own.
func groups(tables []*plan.Table) [][]*plan.Table {
	var all [][]*plan.Table
	at := map[int]int{}
	for _, t := range tables {
		i, known := at[t.Group]
		if t.Group == 0 || !known {
			at[t.Group] = len(all)
			all = append(all, []*plan.Table{t})
			continue
		}
		all[i] = append(all[i], t)
	}
	return all
}

func alterStep(t *plan.Table) job.Step {
	var clauses []string
	for _, c := range t.Columns {
		clauses = append(clauses, fmt.Sprintf("ALTER COLUMN %s TYPE %s", quote(c.Name), c.To))
	}
	return job.Step{
		Name: "widen " + t.Name + ": alter", Title: fmt.Sprintf("Change the columns of %s with ALTER TABLE.", t.Name), Phase: job.Widen, Table: t.Name,
		Statements: []string{"ALTER TABLE " + quote(t.Name) + " " + strings.Join(clauses, ", ")},
		Blocks:     fmt.Sprintf("readers and writers of %s, while PostgreSQL writes all its rows and indexes anew%s", t.Name, about(t)),
		Back:       whileFit + "; it blocks as long again",
		Do:         alter(t, func(c *plan.Column) string { return c.To }),
		Verify:     verifyAlter(t),
		CanUndo:    canNarrow(t),
		Undo:       alter(t, func(c *plan.Column) string { return c.Type }),
	}
}

// about is how long the plan thinks that a table takes.
func about(t *plan.Table) string {
	if t.Seconds == 0 {
		return ""
	}
	return fmt.Sprintf(": about %.0f s", t.Seconds)
}

const blink = "for some milliseconds; it waits for a lock at most " + wait + ", and tries again"

func tableSteps(t *plan.Table) []job.Step {
	var adds, fills []string
	for _, c := range t.Columns {
		adds = append(adds, fmt.Sprintf("ADD COLUMN %s bigint", quote(spareName(c.Name))))
		fills = append(fills, fmt.Sprintf("%s = %s", quote(spareName(c.Name)), quote(c.Name)))
	}
	name := "widen " + t.Name + ": "
	return []job.Step{
		{
			Name: name + "columns", Title: fmt.Sprintf("Add the columns %s to %s, and a trigger that fills them for new and changed rows.", spares(t), t.Name),
			Phase: job.Widen, Table: t.Name,
			Statements: []string{"ALTER TABLE " + quote(t.Name) + " " + strings.Join(adds, ", "), "CREATE TRIGGER " + quote(triggerName) + " BEFORE INSERT OR UPDATE ON " + quote(t.Name) + " ..."},
			Blocks:     "readers and writers of " + t.Name + ", " + blink,
			Back:       anyTime,
			Do:         addColumns(t), Verify: verifyColumns(t), Undo: dropColumns(t),
		},
		{
			Name: name + "copy", Title: fmt.Sprintf("Fill the columns of old rows of %s. The table grows to about twice its size, until vacuum has been there.", t.Name),
			Phase: job.Widen, Table: t.Name,
			Statements: []string{"UPDATE " + quote(t.Name) + " SET " + strings.Join(fills, ", ") + " WHERE ctid >= '(?,0)' AND ctid < '(?,0)'"},
			Back:       anyTime,
			Do:         copyRows(t), Verify: verifyColumns(t),
		},
		{
			Name: name + "compare", Title: fmt.Sprintf("Prove that the columns are equal in all rows of %s, by a check.", t.Name),
			Phase: job.Widen, Table: t.Name,
			Statements: []string{
				"ALTER TABLE " + quote(t.Name) + " ADD CONSTRAINT " + quote(equalName(t.Name)) + " CHECK (...) NOT VALID",
				"ALTER TABLE " + quote(t.Name) + " VALIDATE CONSTRAINT " + quote(equalName(t.Name)),
			},
			Blocks: "readers and writers of " + t.Name + ", " + blink,
			Back:   anyTime,
			Do:     compare(t), Verify: verifyEqual(t), Undo: dropEqual(t),
		},
		{
			Name: name + "indexes", Title: fmt.Sprintf("Build indexes and checks on the columns of %s. It waits for the end of transactions that are open.", t.Name),
			Phase: job.Widen, Table: t.Name,
			Statements: []string{"CREATE INDEX CONCURRENTLY ... (for each index with one of the columns)"},
			Back:       anyTime,
			Do:         buildIndexes(t), Verify: verifyIndexes(t), Undo: dropIndexes(t),
		},
	}
}

func groupSteps(group []*plan.Table) []job.Step {
	var names []string
	for _, t := range group {
		names = append(names, t.Name)
	}
	list, name := strings.Join(names, ", "), "widen "+group[0].Name
	if len(group) > 1 {
		name = fmt.Sprintf("widen group %d", group[0].Group)
	}
	var keys, renames []string
	for _, t := range group {
		for _, f := range t.ForeignKeys {
			keys = append(keys, fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s FOREIGN KEY ... NOT VALID", quote(t.Name), quote(copyName(f.Name))),
				fmt.Sprintf("ALTER TABLE %s VALIDATE CONSTRAINT %s", quote(t.Name), quote(copyName(f.Name))))
		}
		for _, c := range t.Columns {
			renames = append(renames, fmt.Sprintf("ALTER TABLE %s RENAME COLUMN %s TO %s", quote(t.Name), quote(c.Name), quote(oldName(c.Name))),
				fmt.Sprintf("ALTER TABLE %s RENAME COLUMN %s TO %s", quote(t.Name), quote(spareName(c.Name)), quote(c.Name)))
		}
	}
	return []job.Step{
		{
			Name: name + ": foreign keys", Title: "Make foreign keys on the columns, and prove them: " + list + ".", Phase: job.Widen, Table: group[0].Name,
			Statements: keys, Blocks: "writers of " + list + ", " + blink, Back: anyTime,
			Do: addForeignKeys(group), Verify: verifyForeignKeys(group), Undo: dropForeignKeys(group),
		},
		{
			Name: name + ": swap", Title: "Exchange the names of the columns, in one transaction: " + list + ".", Phase: job.Widen, Table: group[0].Name,
			Statements: renames, Blocks: "readers and writers of " + list + ", " + blink,
			Back: whileFit,
			Do:   swapForth(group), Verify: verifySwap(group), CanUndo: canSwapBack(group), Undo: swapBack(group),
		},
	}
}

func countSteps(p *plan.Plan) []job.Step {
	counting := "Change all programs so that they read and write ids of 64 bits, name the columns in INSERT, COPY and SELECT, and never call setval(max(id)). They still insert rows without an id."
	finish := "Start the programs that give ids, and stop all that insert rows without one. From here on these fail, and there is no way back to narrow columns."
	var counted, finished []job.Step
	for _, t := range p.Tables {
		name := quote(t.Name)
		if t.Key != "" && t.Counter != "" {
			counted = append(counted, job.Step{
				Name: "count " + t.Name, Title: fmt.Sprintf("Let programs give ids of %s, and keep its sequence below snow ids.", t.Name), Phase: job.Count, Table: t.Name,
				Statements: []string{
					"ALTER TABLE " + name + " ALTER COLUMN " + quote(t.Key) + " SET GENERATED BY DEFAULT (if it is GENERATED ALWAYS)",
					fmt.Sprintf("ALTER SEQUENCE %s MAXVALUE %d", quote(t.Sequence), bound(t)),
				},
				Blocks: "readers and writers of " + t.Name + ", " + blink, Back: anyTime + "; rows with snow ids stay",
				Do: count(t), Verify: verifyCount(t), Undo: uncount(t),
			})
			finished = append(finished, job.Step{
				Name: "finish " + t.Name + ": counter", Title: fmt.Sprintf("Take the default and the sequence from the key of %s.", t.Name), Phase: job.Finish, Table: t.Name,
				Statements: []string{"ALTER TABLE " + name + " ALTER COLUMN " + quote(t.Key) + " DROP DEFAULT (or IDENTITY)", "DROP SEQUENCE " + quote(t.Sequence)},
				Blocks:     "readers and writers of " + t.Name + ", " + blink, Back: anyTime + ": the sequence goes on above the highest number",
				Do: stopCounting(t), Verify: verifyStopped(t), Undo: countAgain(t),
			})
		}
	}
	for _, t := range p.Tables {
		if t.Method != plan.Online || len(t.Columns) == 0 {
			continue
		}
		var drops []string
		for _, c := range t.Columns {
			drops = append(drops, "ALTER TABLE "+quote(t.Name)+" DROP COLUMN "+quote(oldName(c.Name)))
		}
		finished = append(finished, job.Step{
			Name: "finish " + t.Name + ": columns", Title: fmt.Sprintf("Drop the old columns of %s, and their trigger.", t.Name), Phase: job.Finish, Table: t.Name,
			Statements: drops, Blocks: "readers and writers of " + t.Name + ", " + blink, Back: "never",
			Do: dropOld(t), Verify: verifyDropped(t),
		})
	}
	if len(counted) > 0 {
		counted[0].Gate = counting
	}
	if len(finished) > 0 {
		finished[0].Gate = finish
	}
	return append(counted, finished...)
}
