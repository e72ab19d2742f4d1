package mysql

import (
	"context"
	"fmt"
	"strings"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/internal/mysql/restate"
)

// roundRows is how many entries of each list a round takes. Writers are held when windowRows are left, or after
// mostRounds with what one more round can take.
const (
	roundRows  = 20_000
	windowRows = 200
	mostRounds = 10
)

// equalise makes sources and targets equal, and makes triggers that keep them equal from then on. It does nothing if
// that is so already.
//
// The triggers begin while the tables are locked and the lists empty. So a program never meets a target that differs
// from its source: a change of a row that is missing there would lock a gap, and others would wait for no reason.
func (c *carrier) equalise(ctx context.Context, run *job.Run) error {
	live, err := c.isLive(ctx)
	if err != nil {
		return err
	}
	if live {
		return c.stopListing(ctx)
	}
	if err := run.Check(ctx); err != nil {
		return err
	}
	if err := c.beginListing(ctx); err != nil {
		return err
	}
	if err := dropTriggers(ctx, c.s, c.world, c.mirror); err != nil {
		return err
	}
	if failed, err := c.isListed(ctx, depthFailed); err != nil || failed {
		if err == nil {
			err = c.noteScan(ctx)
		}
		if err != nil {
			return err
		}
	}
	if err := c.scanIfNeeded(ctx, run); err != nil {
		return err
	}
	if err := c.prepare(ctx); err != nil {
		return err
	}
	if err := c.s.exec(ctx, "SET autocommit = 0"); err != nil {
		return err
	}
	defer c.s.exec(context.WithoutCancel(ctx), "SET autocommit = 1") //nolint:errcheck // the next statement would fail as well
	return patiently(ctx, func() error {
		if err := c.catchUp(ctx, run); err != nil {
			return err
		}
		return c.window(ctx)
	})
}

// isLive reports whether triggers keep the targets equal, and no change has failed there.
func (c *carrier) isLive(ctx context.Context) (bool, error) {
	live, err := complete(ctx, c.s, c.world, c.mirror)
	if err != nil || !live {
		return false, err
	}
	failed, err := c.isListed(ctx, depthFailed, depthScan)
	return !failed, err
}

// isListed reports whether a list has an entry of one of the depths.
func (c *carrier) isListed(ctx context.Context, depths ...int) (bool, error) {
	wanted := strings.Trim(strings.ReplaceAll(fmt.Sprint(depths), " ", ", "), "[]")
	for _, r := range c.world {
		found, err := texts(ctx, c.s, fmt.Sprintf("SELECT 1 FROM %s WHERE depth IN (%s) LIMIT 1", quote(c.log(r.name)), wanted))
		if err != nil || len(found) > 0 {
			return true, err
		}
	}
	return false, nil
}

// beginListing makes the triggers that list changes. If they have not been there all the time, changes may be missing
// in the lists, and an entry says that the tables must be compared.
func (c *carrier) beginListing(ctx context.Context) error {
	listed, err := complete(ctx, c.s, c.world, c.listed)
	if err != nil || listed {
		return err
	}
	if err := c.noteScan(ctx); err != nil {
		return err
	}
	return c.makeListing(ctx, c.s, c.world, itself)
}

// noteScan adds the entries that say so.
func (c *carrier) noteScan(ctx context.Context) error {
	for _, r := range c.world {
		if err := c.s.exec(ctx, fmt.Sprintf("INSERT INTO %s VALUES (UUID_SHORT(), %d, %s)", quote(c.log(r.name)), depthScan, nulls(2*len(r.tracked)))); err != nil {
			return err
		}
	}
	return nil
}

// stopListing drops the triggers of the lists, once those exist that make them unnecessary. Forward they stay: a step
// back needs the lists.
func (c *carrier) stopListing(ctx context.Context) error {
	if c.name != backward().name {
		return nil
	}
	return dropTriggers(ctx, c.s, c.world, c.listed)
}

// catchUp does rounds until few entries are left.
func (c *carrier) catchUp(ctx context.Context, run *job.Run) error {
	var done int64
	for rounds := 1; ; rounds++ {
		n, err := c.round(ctx, roundRows)
		if err != nil {
			return c.rollback(ctx, err)
		}
		if done += n; n <= windowRows || rounds > mostRounds && n < roundRows {
			return nil
		}
		if err := run.Check(ctx); err != nil {
			return err
		}
		if err := run.Wait(ctx, done, done); err != nil {
			return err
		}
	}
}

func (c *carrier) rollback(ctx context.Context, err error) error {
	_ = c.s.exec(context.WithoutCancel(ctx), "ROLLBACK")
	return err
}

// window locks the tables, carries what is left, and makes the triggers.
func (c *carrier) window(ctx context.Context) error {
	var locks []string
	for _, r := range c.world {
		locks = append(locks, quote(r.name)+" WRITE", quote(c.to(r.name))+" WRITE", quote(c.log(r.name))+" WRITE",
			c.source(r)+" WRITE", c.target(r)+" WRITE", c.entries(r)+" WRITE")
	}
	if err := c.s.lock(ctx, "LOCK TABLES "+strings.Join(locks, ", ")); err != nil {
		return err
	}
	err := c.inWindow(ctx)
	if err != nil {
		err = c.rollback(ctx, err)
	}
	if unlocked := c.s.exec(context.WithoutCancel(ctx), "UNLOCK TABLES"); err == nil {
		err = unlocked
	}
	return err
}

func (c *carrier) inWindow(ctx context.Context) error {
	for {
		n, err := c.round(ctx, 1<<30)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	for _, r := range c.world {
		if err := c.carryCounter(ctx, r); err != nil {
			return err
		}
	}
	for _, r := range c.world {
		if err := restate.Begin(ctx, c.s, r.name); err != nil {
			return err
		}
		for _, event := range events() {
			if err := c.s.exec(ctx, trigger(c.mirror, event, r.name, r.name, c.repeating(r, event, c.s.keysInSQL))); err != nil {
				return err
			}
		}
	}
	for _, r := range c.world {
		for _, event := range events() {
			if c.name != backward().name {
				continue
			}
			if err := c.s.exec(ctx, "DROP TRIGGER IF EXISTS "+quote(triggerName(c.listed, event, r.name))); err != nil {
				return err
			}
		}
		if err := restate.Table(ctx, c.s, r.name); err != nil {
			return err
		}
	}
	return nil
}

// carryCounter lifts the target's AUTO_INCREMENT counter to the source's. After that, repeated inserts lift it.
func (c *carrier) carryCounter(ctx context.Context, r *relation) error {
	from, err := nextNumber(ctx, c.s, r.name)
	if err != nil {
		return err
	}
	to, err := nextNumber(ctx, c.s, c.to(r.name))
	if err != nil || from <= to {
		return err
	}
	return c.s.exec(ctx, fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", quote(c.to(r.name)), from))
}
