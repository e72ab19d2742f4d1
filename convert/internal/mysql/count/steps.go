package count

import (
	"context"
	"fmt"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
)

const autoIncrement = "auto_increment"

// counted returns the tables whose new rows get snow ids, and which the server counts so far.
func counted(p *plan.Plan) (tables []*plan.Table) {
	for _, t := range p.Tables {
		if t.Counter == autoIncrement && t.Key != "" {
			tables = append(tables, t)
		}
	}
	return tables
}

// guarded returns the names of all other tables that the server counts.
func guarded(p *plan.Plan) []string {
	names := append([]string(nil), p.Guards...)
	for _, t := range p.Tables {
		if t.Counter == autoIncrement && t.Key == "" {
			names = append(names, t.Name)
		}
	}
	return names
}

// Prepare returns the steps of phase Count that come before any table is counted.
func Prepare(p *plan.Plan) []job.Step {
	if len(counted(p)) == 0 {
		return nil
	}
	return []job.Step{
		{
			Name: "count: probe", Title: "Try on a table of its own whether this server lets triggers count", Phase: job.Count,
			Back:       "always",
			Statements: []string{createProbe, "… the triggers below, and 14 inserts", "DROP TABLE " + probeTable},
			Do:         func(ctx context.Context, r *job.Run) error { return probe(ctx, r.DB) },
			Verify:     func(context.Context, *job.Run) error { return nil },
		},
		guardStep(p),
	}
}

// Steps returns the steps of phase Count that count the rows of tables.
func Steps(p *plan.Plan) (steps []job.Step) {
	for _, t := range counted(p) {
		steps = append(steps, countStep(t))
	}
	return steps
}

func countStep(t *plan.Table) job.Step {
	c := newCounter(t)
	return job.Step{
		Name:  "count " + t.Name,
		Title: fmt.Sprintf("Count rows of %s that come without ids by triggers, in blocks of %d numbers", t.Name, c.size),
		Phase: job.Count, Table: t.Name,
		Statements: []string{
			c.createBlocks(), c.createTaken(), c.lock(), "INSERT INTO " + quote(c.blockTable()) + " … -- the block of the highest id and of the counter",
			c.createAfter(""), c.createBefore(""), "UNLOCK TABLES",
		},
		Blocks: "writers of " + t.Name + ", for milliseconds; it waits for running transactions of the table, up to 2 s at a time, and writers wait behind it",
		Back:   "until the first snow id is in " + t.Name,
		Do: func(ctx context.Context, r *job.Run) error {
			return withCounter(ctx, r, t, func(w *counting) error { return w.create(ctx, false) })
		},
		Verify: func(ctx context.Context, r *job.Run) error {
			return withCounter(ctx, r, t, func(w *counting) error { return w.verify(ctx) })
		},
		CanUndo: func(ctx context.Context, r *job.Run) error {
			return withCounter(ctx, r, t, func(w *counting) error { return w.canUndo(ctx) })
		},
		Undo: func(ctx context.Context, r *job.Run) error {
			return withCounter(ctx, r, t, func(w *counting) error { return w.undo(ctx) })
		},
	}
}

func guardStep(p *plan.Plan) job.Step {
	g := &guards{others: guarded(p)}
	for _, t := range counted(p) {
		g.counted = append(g.counted, t.Name)
	}
	statements := []string{createLeft}
	for _, name := range g.others {
		statements = append(statements, createGuard("", name))
	}
	return job.Step{
		Name: "count: guards", Title: "Keep numbers that failed statements leave away from all other tables that the server counts", Phase: job.Count,
		Statements: statements, Back: "as the steps of the tables",
		Blocks: "writers of these tables, one after another, for milliseconds; it waits for running transactions of the table, up to 2 s at a time, and writers wait behind it",
		Do:     g.create, Verify: g.verify, Undo: g.drop,
	}
}
