package convertcommand

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/convert"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// run carries out the plan.
func (c *Command) run(ctx context.Context) error {
	return c.work(ctx, (*convert.Conversion).Run)
}

// back takes it back.
func (c *Command) back(ctx context.Context) error {
	return c.work(ctx, (*convert.Conversion).Back)
}

func (c *Command) work(ctx context.Context, do func(*convert.Conversion, context.Context) error) error {
	cfg := convert.Config{
		Gates: c.ready, Until: c.until, LagQuery: c.lagQuery, MaxLag: c.maxLag, MaxBusy: c.maxBusy, PauseFile: c.pause, Lease: c.lease,
	}
	for _, replica := range c.replicas {
		db, dialect, err := c.openOne(ctx, "--replica", replica, database.ReadOnly)
		if err != nil {
			return err
		}
		if dialect == sqlsnow.SQLite {
			return usage("--replica: want the DSN of a server")
		}
		cfg.Replicas = append(cfg.Replicas, db)
	}
	shown := newProgress(c.with.Err, c.quiet)
	defer shown.end()
	cfg.Events = shown.event
	cfg.Confirm = func(_ context.Context, q convert.Question) error {
		shown.clear()
		return c.with.Confirm(question(q))
	}
	conversion, err := c.conversion(ctx, cfg, database.Existing)
	if err != nil {
		return err
	}
	err = do(conversion, ctx)
	shown.end()
	if err != nil {
		return c.explain(err)
	}
	s, err := conversion.Status(ctx)
	if err != nil {
		return err
	}
	if c.with.JSON {
		return c.print(statusOf(s))
	}
	return c.print(endOf(s))
}

// conversion opens the database and the plan.
func (c *Command) conversion(ctx context.Context, cfg convert.Config, access database.Access) (*convert.Conversion, error) {
	p, err := c.readPlan()
	if err != nil {
		return nil, err
	}
	if err := c.connect(ctx, access); err != nil {
		return nil, err
	}
	conversion, err := convert.New(c.dialect, c.db, p, cfg)
	var wrong *plan.Error
	if errors.As(err, &wrong) && wrong.Undecided {
		return nil, &NoError{err, "Decide it in " + c.plan + "."}
	}
	return conversion, err
}

// question says what is about to happen, and what that means for others.
func question(q convert.Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", q.Step, q.Title)
	if q.Undo {
		fmt.Fprintf(&b, "It can be taken back %s.\n", q.Back)
	}
	if q.Blocks != "" {
		fmt.Fprintf(&b, "It blocks %s.\n", q.Blocks)
	}
	if q.Undo {
		b.WriteString("Take it back now?")
		return b.String()
	}
	if q.Back != "" {
		fmt.Fprintf(&b, "It can be taken back %s.\n", q.Back)
	}
	b.WriteString("Do it now?")
	return b.String()
}

// explain says what can be done about an error.
func (c *Command) explain(err error) error {
	var gate *report.GateError
	var refused *report.RefusedError
	var running *report.RunningError
	var other *report.PlanError
	switch {
	case errors.As(err, &gate):
		return &NoError{err, "When they do, go on with: " + c.runAgain() + " --ready " + gate.Gate}
	case errors.As(err, &refused):
		return fmt.Errorf("step %q: %w", refused.Step, refused.Err)
	case errors.As(err, &running):
		return &NoError{err, `"snow convert status" shows how far it is.`}
	case errors.As(err, &other):
		return &NoError{err, "Use the plan that the run began with, or take that one back."}
	}
	return err
}
