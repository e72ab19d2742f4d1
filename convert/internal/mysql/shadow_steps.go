package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
)

const (
	blocksDefinition = "writers wait while a trigger is made: milliseconds, or up to a second at a time if a transaction holds the table"
	blocksWindow     = "writers wait while the last changes are carried and triggers are made: well under a second for a group of ten tables. " +
		"If a transaction holds a table, each try ends after a second"
)

// widenSteps returns the steps of phase Widen.
func widenSteps(p *plan.Plan) ([]job.Step, error) {
	var steps []job.Step
	for _, g := range groups(p) {
		for _, t := range g.tables {
			for _, c := range t.Columns {
				if _, _, err := bounds(c.Type); err != nil {
					return nil, fmt.Errorf("mysql: column %q of %q: %w", c.Name, t.Name, err)
				}
			}
		}
		if g.altered {
			steps = append(steps, g.alterStep())
			continue
		}
		steps = append(steps, g.prepareStep())
		for _, t := range g.tables {
			steps = append(steps, g.copyStep(t))
		}
		steps = append(steps, g.mirrorStep())
		for _, t := range g.tables {
			steps = append(steps, g.compareStep(t))
		}
		steps = append(steps, g.swapStep())
	}
	return steps, nil
}

// letGoSteps returns the steps that end the way back to the narrow columns, at the end of phase Count.
func letGoSteps(p *plan.Plan) []job.Step {
	var steps []job.Step
	for _, g := range groups(p) {
		if g.altered {
			continue
		}
		steps = append(steps, job.Step{
			Name: "widen " + g.name + ": let go", Phase: job.Count, Table: g.name,
			Title:      "The tables of old are no longer kept equal: " + strings.Join(g.names(), ", ") + ".",
			Statements: statements(g, "DROP TRIGGER %s", func(t string) string { return triggerName(backward().mirror, "insert", t) }),
			Blocks:     blocksDefinition,
			Back:       "while no value in a widened column exceeds its old type; going back compares all rows",
			Do:         g.letGo,
			Verify:     g.verify(func(context.Context, *session, world) error { return nil }),
			Undo:       g.keep,
		})
	}
	return steps
}

// dropOld returns the steps that drop what phase Widen has left, for phase Finish.
func dropOld(p *plan.Plan) []job.Step {
	var steps []job.Step
	for _, g := range groups(p) {
		if g.altered {
			continue
		}
		steps = append(steps, job.Step{
			Name: "widen " + g.name + ": drop", Phase: job.Finish, Table: g.name,
			Title:      "Drop the tables of old, and give the foreign keys their names back: " + strings.Join(g.names(), ", ") + ".",
			Statements: statements(g, "DROP TABLE %s", oldOf),
			Blocks:     blocksDefinition,
			Back:       "never",
			Do:         g.drop,
			Verify: g.verify(func(ctx context.Context, s *session, w world) error {
				var names []string
				for _, r := range w {
					names = append(names, oldOf(r.name))
				}
				left, err := exists(ctx, s, names...)
				if err == nil && len(left) > 0 {
					err = fmt.Errorf("mysql: tables of old are left: %v", left)
				}
				return err
			}),
		})
	}
	return steps
}

func statements(g *group, form string, name func(string) string) []string {
	var all []string
	for _, t := range g.names() {
		all = append(all, fmt.Sprintf(form, quote(name(t))))
	}
	return all
}

func (g *group) verify(look func(context.Context, *session, world) error) func(context.Context, *job.Run) error {
	return func(ctx context.Context, run *job.Run) error {
		return g.work(ctx, run, func(s *session, w world) error { return look(ctx, s, w) })
	}
}

func (g *group) alterStep() job.Step {
	var texts []string
	for _, t := range g.tables {
		for _, k := range t.ForeignKeys {
			texts = append(texts, "ALTER TABLE "+quote(t.Name)+" DROP FOREIGN KEY "+quote(k.Name))
		}
	}
	for _, t := range g.tables {
		for _, c := range t.Columns {
			texts = append(texts, fmt.Sprintf("ALTER TABLE %s MODIFY %s %s", quote(t.Name), quote(c.Name), c.To))
		}
	}
	var seconds float64
	for _, t := range g.tables {
		seconds += t.Seconds
		for _, k := range t.ForeignKeys {
			texts = append(texts, "ALTER TABLE "+quote(t.Name)+" ADD "+foreignKey(k))
		}
	}
	return job.Step{
		Name: "widen " + g.name + ": alter", Phase: job.Widen, Table: g.name,
		Title:      "Widen the columns with ALTER TABLE: " + strings.Join(g.names(), ", ") + ".",
		Statements: texts,
		Blocks:     fmt.Sprintf("all who read or write %s, until it is done: about %.0f s", strings.Join(g.names(), ", "), seconds+1),
		Back:       "while no value in a widened column exceeds its old type; going back blocks as long",
		Do:         func(ctx context.Context, run *job.Run) error { return g.alter(ctx, run, false) },
		CanUndo:    g.canNarrow,
		Undo:       func(ctx context.Context, run *job.Run) error { return g.alter(ctx, run, true) },
		Verify: g.verify(func(ctx context.Context, s *session, w world) error {
			done, err := g.isAltered(ctx, s, w, false)
			if err == nil && !done {
				err = fmt.Errorf("mysql: columns or foreign keys of the group of %q are not as they should be", g.name)
			}
			return err
		}),
	}
}

func (g *group) prepareStep() job.Step {
	var texts []string
	for _, t := range g.tables {
		texts = append(texts, fmt.Sprintf("CREATE TABLE %s: as %s, with %s", quote(shadowOf(t.Name)), quote(t.Name), widths(t)))
	}
	for _, t := range g.tables {
		texts = append(texts, fmt.Sprintf("CREATE TRIGGER %s AFTER INSERT ON %s: lists the key in %s; and for UPDATE and DELETE",
			quote(triggerName(forward().listed, "insert", t.Name)), quote(t.Name), quote(forward().log(t.Name))))
	}
	return job.Step{
		Name: "widen " + g.name + ": prepare", Phase: job.Widen, Table: g.name,
		Title:      "Make empty tables with wider columns, and triggers that list changed rows: " + strings.Join(g.names(), ", ") + ".",
		Statements: texts,
		Blocks:     blocksDefinition,
		Back:       "until the tables of old are dropped, while no value in a widened column exceeds its old type",
		Do:         g.prepare,
		Undo:       g.discard,
		Verify: g.verify(func(ctx context.Context, s *session, w world) error {
			if swapped, err := g.isSwapped(ctx, s); err != nil || swapped {
				return err
			}
			listed, err := complete(ctx, s, w, forward().listed)
			if err == nil && !listed {
				err = fmt.Errorf("mysql: triggers of the group of %q are missing", g.name)
			}
			return err
		}),
	}
}

func widths(t *plan.Table) string {
	all := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		all[i] = quote(c.Name) + " " + c.To
	}
	return strings.Join(all, ", ")
}

func (g *group) copyStep(t *plan.Table) job.Step {
	return job.Step{
		Name: "widen " + t.Name + ": copy", Phase: job.Widen, Table: t.Name,
		Title:      "Copy the rows of " + t.Name + " in parts, without locks.",
		Statements: []string{fmt.Sprintf("INSERT IGNORE INTO %s SELECT * FROM %s WHERE (%s) > (?) AND (%s) <= (?)", quote(shadowOf(t.Name)), quote(t.Name), quoteAll(t.PrimaryKey), quoteAll(t.PrimaryKey))},
		Back:       "as the step before",
		Do:         func(ctx context.Context, run *job.Run) error { return g.copyTable(ctx, run, t.Name) },
		Verify:     g.verify(func(context.Context, *session, world) error { return nil }), // the comparison comes later
	}
}

func (g *group) mirrorStep() job.Step {
	var texts []string
	for _, t := range g.tables {
		texts = append(texts, fmt.Sprintf("LOCK TABLES %s WRITE, ...: carry the last listed rows, then CREATE TRIGGER %s and so on", quote(t.Name), quote(triggerName(forward().mirror, "insert", t.Name))))
	}
	return job.Step{
		Name: "widen " + g.name + ": mirror", Phase: job.Widen, Table: g.name,
		Title:      "Carry the changes that were listed, and repeat each further change in the wider tables by triggers.",
		Statements: texts,
		Blocks:     blocksWindow,
		Back:       "as the step before",
		Do:         g.mirror,
		Undo:       g.unmirror,
		Verify: g.verify(func(ctx context.Context, s *session, w world) error {
			if swapped, err := g.isSwapped(ctx, s); err != nil || swapped {
				return err
			}
			live, err := complete(ctx, s, w, forward().mirror)
			if err == nil && !live {
				err = fmt.Errorf("mysql: triggers of the group of %q are missing", g.name)
			}
			return err
		}),
	}
}

func (g *group) compareStep(t *plan.Table) job.Step {
	return job.Step{
		Name: "widen " + t.Name + ": compare", Phase: job.Widen, Table: t.Name,
		Title:      "Compare all rows of " + t.Name + " with the copy, in parts.",
		Statements: []string{fmt.Sprintf("SELECT COUNT(*) FROM %s LEFT JOIN %s USING (%s) WHERE NOT (all columns are equal)", quote(t.Name), quote(shadowOf(t.Name)), quoteAll(t.PrimaryKey))},
		Back:       "as the step before",
		Do:         func(ctx context.Context, run *job.Run) error { return g.compareTable(ctx, run, t.Name) },
		Verify:     g.verify(func(context.Context, *session, world) error { return nil }),
	}
}

func (g *group) swapStep() job.Step {
	var renames []string
	for _, t := range g.names() {
		renames = append(renames, fmt.Sprintf("%s TO %s, %s TO %s", quote(t), quote(oldOf(t)), quote(shadowOf(t)), quote(t)))
	}
	return job.Step{
		Name: "widen " + g.name + ": swap", Phase: job.Widen, Table: g.name,
		Title:      "Give the names to the wider tables, and repeat each change in the tables of old.",
		Statements: []string{"RENAME TABLE " + strings.Join(renames, ", ")},
		Blocks:     "all who use the tables wait for milliseconds, or up to a second at a time if a transaction holds one; then " + blocksWindow,
		Back:       "until the tables of old are dropped, while no value in a widened column exceeds its old type",
		Do:         g.swap,
		CanUndo:    g.canSwapBack,
		Undo:       g.swapBack,
		Verify: g.verify(func(ctx context.Context, s *session, w world) error {
			swapped, err := g.isSwapped(ctx, s)
			if err == nil && !swapped {
				err = errors.New("mysql: the wider tables have not the names")
			}
			for _, r := range w {
				if left := typesToChange(r, false); err == nil && len(left) > 0 {
					err = fmt.Errorf("mysql: column %q of %q is not wide", left[0].Name, r.name)
				}
			}
			return err
		}),
	}
}
