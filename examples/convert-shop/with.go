package main

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"time"

	"github.com/shardsnow/snow/convert"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// with converts the shop while its programs work.
func (s *shop) with(ctx context.Context, db *sql.DB) error {
	s.say("2. With package convert, or snow convert, which does the same. The shop has %d orders, and is open.", s.rows)
	if err := s.fill(ctx, db); err != nil {
		return err
	}
	p, err := s.inspect(ctx, db)
	if err != nil {
		return err
	}
	old := start(ctx, "the old program", db, nil)
	defer old.stop()

	s.say("\n   snow convert run -until widen: the columns become BIGINT.")
	c := &conversion{shop: s, db: db, plan: p}
	if err := c.run(ctx, "widen"); err != nil {
		return err
	}
	if err := s.look(ctx, db, old); err != nil {
		return err
	}
	s.say("\n   snow convert back: all is as it was, with the orders of now.")
	if err := c.back(ctx); err != nil {
		return err
	}
	if err := s.look(ctx, db, old); err != nil {
		return err
	}
	s.say("\n   snow convert run: the columns become BIGINT again, and old programs get small numbers whatever others insert.")
	if err := c.run(ctx, "count"); err != nil {
		return err
	}
	source, err := newSource()
	if err != nil {
		return err
	}
	fresh := start(ctx, "the new program", db, source)
	defer fresh.stop()
	if err := s.look(ctx, db, old, fresh); err != nil {
		return err
	}
	s.say("\n   The new program has a fault, and stops. The old one goes on: nothing is lost, and its numbers stay small.")
	if err := fresh.end(); err != nil {
		return err
	}
	if err := s.look(ctx, db, old); err != nil {
		return err
	}
	s.say("\n   The fault is gone. The new program comes back, the old one stops for good, and counters and triggers go.")
	fresh = start(ctx, "the new program", db, source)
	defer fresh.stop()
	if err := old.end(); err != nil {
		return err
	}
	if err := c.run(ctx, "finish"); err != nil {
		return err
	}
	if err := s.look(ctx, db, fresh); err != nil {
		return err
	}
	if err := fresh.end(); err != nil {
		return err
	}
	return s.count(ctx, db)
}

// fill stores the orders that the shop has.
func (s *shop) fill(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, "INSERT INTO orders (customer_id, note) VALUES (1, 'of last year')"); err != nil {
		return err
	}
	for n := 1; n < s.rows; n *= 2 {
		if _, err := db.ExecContext(ctx, "INSERT INTO orders (customer_id, note) SELECT customer_id, note FROM orders LIMIT ?", min(n, s.rows-n)); err != nil {
			return err
		}
	}
	_, err := db.ExecContext(ctx, "INSERT INTO order_lines (order_id, line, item) SELECT id, 0, 'tea' FROM orders")
	return err
}

// inspect proposes a plan, and shows it.
func (s *shop) inspect(ctx context.Context, db *sql.DB) (*plan.Plan, error) {
	p, err := convert.Inspect(ctx, sqlsnow.MySQL, db, convert.InspectConfig{})
	if err != nil {
		return nil, err
	}
	s.say("   snow convert plan: it is for people to read and to change.")
	for _, t := range p.Tables {
		s.say("     %-12s about %7d rows, %d columns become BIGINT, method %s", t.Name, t.Rows, len(t.Columns), t.Method)
	}
	if s.planFile == "" {
		return p, nil
	}
	file, err := os.Create(s.planFile)
	if err != nil {
		return nil, err
	}
	return p, errors.Join(p.WriteYAML(file), file.Close())
}

// look lets the programs work for a while, and says what they have done.
func (s *shop) look(ctx context.Context, db *sql.DB, programs ...*program) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.pause):
	}
	for _, p := range programs {
		s.say("     %s", p.report())
	}
	var kind string
	err := db.QueryRowContext(ctx, "SELECT column_type FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'orders' AND column_name = 'id'").Scan(&kind)
	s.say("     orders.id is %s", kind)
	return err
}

// count compares the rows with one another.
func (s *shop) count(ctx context.Context, db *sql.DB) error {
	var orders, small, lines, astray int
	err := db.QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM orders), (SELECT COUNT(*) FROM orders WHERE id < 1 << 31),
		(SELECT COUNT(*) FROM order_lines), (SELECT COUNT(*) FROM order_lines l LEFT JOIN orders o ON o.id = l.order_id WHERE o.id IS NULL)`).
		Scan(&orders, &small, &lines, &astray)
	s.say("\n   %d orders: %d with old numbers, %d with snow ids. %d lines, %d of them without an order.", orders, small, orders-small, lines, astray)
	return err
}

// A conversion runs, and tells of its steps.
type conversion struct {
	*shop
	db    *sql.DB
	plan  *plan.Plan
	gates []string
}

// run goes on to the end of a phase. The gates before it are open: this program knows what the others do.
func (c *conversion) run(ctx context.Context, phase string) error {
	for {
		made, err := c.make(phase)
		if err != nil {
			return err
		}
		var gate *report.GateError
		if err := made.Run(ctx); !errors.As(err, &gate) {
			return err
		}
		c.say("     gate %s: %s", gate.Gate, gate.What)
		c.gates = append(c.gates, gate.Gate)
	}
}

func (c *conversion) back(ctx context.Context) error {
	made, err := c.make("")
	if err != nil {
		return err
	}
	c.gates = nil
	return made.Back(ctx)
}

func (c *conversion) make(until string) (*convert.Conversion, error) {
	return convert.New(sqlsnow.MySQL, c.db, c.plan, convert.Config{
		Until: until, Gates: c.gates,
		Confirm: func(_ context.Context, q convert.Question) error {
			if !q.Undo {
				c.say("     %s, which blocks %s", q.Step, q.Blocks)
			}
			return nil
		},
		Events: func(e report.Event) {
			if e.Kind == report.StepUndone {
				c.say("     taken back: %s", e.Step)
			}
		},
	})
}
