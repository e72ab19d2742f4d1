package mysql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/convert/internal/job"
)

// mirror makes the wider tables equal to the tables, and keeps them so.
func (g *group) mirror(ctx context.Context, run *job.Run) error {
	return g.work(ctx, run, func(s *session, w world) error {
		if swapped, err := g.isSwapped(ctx, s); err != nil || swapped {
			return err
		}
		if err := untouched(ctx, s, w); err != nil {
			return err
		}
		if err := dropTriggers(ctx, s, w, backward().mirror); err != nil {
			return err
		}
		if err := waitForSnapshots(ctx, s, run); err != nil {
			return err
		}
		c := &carrier{direction: forward(), world: w, s: s}
		if live, err := c.isLive(ctx); err != nil || live {
			return err
		}
		// The copies of the tables are of different times. A row that was deleted before its copy leads nowhere, and
		// rows that were copied before may have lost it. So rows that differ are listed themselves.
		if err := c.noteScan(ctx); err != nil {
			return err
		}
		return c.equalise(ctx, run)
	})
}

// unmirror ends that. The lists go on, so mirror can begin anew.
func (g *group) unmirror(ctx context.Context, run *job.Run) error {
	return g.work(ctx, run, func(s *session, w world) error {
		if swapped, err := g.isSwapped(ctx, s); err != nil || swapped {
			return err
		}
		return dropTriggers(ctx, s, w, forward().mirror)
	})
}

// swap gives the names to the wider tables, and keeps the tables of old equal from then on.
func (g *group) swap(ctx context.Context, run *job.Run) error {
	return g.work(ctx, run, func(s *session, w world) error {
		swapped, err := g.isSwapped(ctx, s)
		if err != nil {
			return err
		}
		if !swapped {
			if err := g.rename(ctx, run, s, w); err != nil {
				return err
			}
		}
		return g.afterSwap(ctx, run, s)
	})
}

func (g *group) rename(ctx context.Context, run *job.Run, s *session, w world) error {
	if err := untouched(ctx, s, w); err != nil {
		return err
	}
	if err := dropTriggers(ctx, s, w, backward().mirror); err != nil {
		return err
	}
	c := &carrier{direction: forward(), world: w, s: s}
	if err := c.equalise(ctx, run); err != nil { // does something only after a step back
		return err
	}
	// What programs do between the new names and the triggers of the other direction is listed.
	if err := backward().makeListing(ctx, s, w, shadowOf); err != nil {
		return err
	}
	if err := waitForSnapshots(ctx, s, run); err != nil {
		return err
	}
	if err := untouched(ctx, s, w); err != nil {
		return err
	}
	if err := run.Check(ctx); err != nil {
		return err
	}
	tables := slices.Concat(w.names(itself), w.names(shadowOf), w.names(c.log))
	err := s.locked(ctx, tables, func() error { // no transaction is left whose changes may have failed in the target
		live, err := c.isLive(ctx)
		if err == nil && !live {
			err = fmt.Errorf("mysql: changes of the group of %q could not be repeated: run the step again", g.name)
		}
		if err != nil || s.mariaDB {
			return err
		}
		return changeNames(ctx, s, w, shadowOf, oldOf)
	})
	if err != nil || !s.mariaDB {
		return err
	}
	return changeNames(ctx, s, w, shadowOf, oldOf) // MariaDB can't while it has locks
}

// changeNames renames the tables, and others to their names, in one statement. Foreign keys follow because the session
// checks them.
func changeNames(ctx context.Context, s *session, w world, come, leave func(string) string) error {
	var renames []string
	for _, r := range w {
		renames = append(renames, quote(r.name)+" TO "+quote(leave(r.name)), quote(come(r.name))+" TO "+quote(r.name))
	}
	if err := s.exec(ctx, "SET foreign_key_checks = 1"); err != nil {
		return err
	}
	err := patiently(ctx, func() error { return s.lock(ctx, "RENAME TABLE "+strings.Join(renames, ", ")) })
	return errors.Join(err, s.exec(ctx, "SET foreign_key_checks = 0"))
}

// afterSwap drops the triggers of the tables of old, and keeps those equal.
func (g *group) afterSwap(ctx context.Context, run *job.Run, s *session) error {
	w, err := g.look(ctx, s)
	if err != nil {
		return err
	}
	if err := dropTriggers(ctx, s, w, forward().mirror, forward().listed); err != nil {
		return err
	}
	for _, r := range w {
		if err := s.exec(ctx, "TRUNCATE TABLE "+quote(forward().log(r.name))); err != nil {
			return err
		}
	}
	err = (&carrier{direction: backward(), world: w, s: s}).equalise(ctx, run)
	if errors.Is(err, errTooWide) { // then there is no way back, and nothing to keep
		return g.stopKeeping(ctx, s, w)
	}
	return err
}

func (g *group) stopKeeping(ctx context.Context, s *session, w world) error {
	return dropTriggers(ctx, s, w, backward().mirror, backward().listed)
}

// letGo ends the time in which the tables of old are kept equal.
func (g *group) letGo(ctx context.Context, run *job.Run) error {
	return g.work(ctx, run, func(s *session, w world) error { return g.stopKeeping(ctx, s, w) })
}

// keep makes the tables of old equal again. It fails if a value does not fit into them.
func (g *group) keep(ctx context.Context, run *job.Run) error {
	return g.work(ctx, run, func(s *session, w world) error {
		if swapped, err := g.isSwapped(ctx, s); err != nil || !swapped {
			return err
		}
		// They are left on the tables of old if the program was killed after these had got their names.
		if err := dropTriggers(ctx, s, w, forward().mirror, forward().listed); err != nil {
			return err
		}
		c := &carrier{direction: backward(), world: w, s: s}
		if err := c.noteTruncated(ctx); err != nil {
			return err
		}
		return c.equalise(ctx, run)
	})
}

// noteTruncated notes that the tables must be compared if somebody has truncated one: no trigger fires on that.
func (c *carrier) noteTruncated(ctx context.Context) error {
	for _, r := range c.world {
		now, err := idsOf(ctx, c.s, r.name)
		if err != nil {
			return err
		}
		then, err := comment(ctx, c.s, c.log(r.name))
		if err != nil {
			return err
		}
		if then != now {
			return c.noteScan(ctx)
		}
	}
	return nil
}

// canSwapBack returns an error if the tables of old are gone, or if a value does not fit into them.
func (g *group) canSwapBack(ctx context.Context, run *job.Run) error {
	return g.work(ctx, run, func(s *session, w world) error {
		swapped, err := g.isSwapped(ctx, s)
		if err != nil {
			return err
		}
		if !swapped && len(typesToChange(w[0], false)) == 0 {
			return fmt.Errorf("mysql: the tables of old of the group of %q are dropped: there is no way back", g.name)
		}
		return g.fitsBack(ctx, s, w)
	})
}

// canNarrow returns an error if a value does not fit into the old type of its column.
func (g *group) canNarrow(ctx context.Context, run *job.Run) error {
	return g.work(ctx, run, func(s *session, w world) error { return g.fitsBack(ctx, s, w) })
}

// swapBack gives the names back to the tables of old.
func (g *group) swapBack(ctx context.Context, run *job.Run) error {
	if err := g.canSwapBack(ctx, run); err != nil {
		return err
	}
	return g.work(ctx, run, func(s *session, w world) error {
		swapped, err := g.isSwapped(ctx, s)
		if err != nil {
			return err
		}
		if swapped {
			if err := g.keep(ctx, run); err != nil {
				return err
			}
			if err := waitForSnapshots(ctx, s, run); err != nil {
				return err
			}
			if err := changeNames(ctx, s, w, oldOf, shadowOf); err != nil {
				return err
			}
		}
		if err := dropTriggers(ctx, s, w, backward().mirror, backward().listed); err != nil {
			return err
		}
		for _, r := range w {
			if err := s.exec(ctx, "TRUNCATE TABLE "+quote(backward().log(r.name))); err != nil {
				return err
			}
		}
		return nil
	})
}
