package mysql

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/internal/mysql/restate"
)

// work is what the steps of a group have in common: a session, and the tables.
func (g *group) work(ctx context.Context, run *job.Run, do func(*session, world) error) error {
	s, err := open(ctx, run.DB)
	if err != nil {
		return err
	}
	defer s.close()
	// Triggers were being made when the program was killed.
	pending, err := texts(ctx, s, restate.Pending)
	if err != nil {
		return err
	}
	for _, table := range pending {
		if err := s.locked(ctx, table, func() error { return restate.Table(ctx, s, table[0]) }); err != nil {
			return err
		}
	}
	w, err := g.look(ctx, s)
	if err != nil {
		return err
	}
	return do(s, w)
}

// copyTable copies the rows of a table in parts, without any lock. Rows that change meanwhile are listed.
func (g *group) copyTable(ctx context.Context, run *job.Run, table string) error {
	return g.work(ctx, run, func(s *session, w world) error {
		swapped, err := g.isSwapped(ctx, s)
		if err != nil || swapped {
			return err
		}
		r := w.relation(table)
		rows, err := newScan(r, run.Position)
		if err != nil {
			return err
		}
		ids, err := idsOf(ctx, s, shadowOf(table))
		if err != nil {
			return err
		}
		if rows.Of != ids {
			rows.place = place{Of: ids}
		}
		c := &carrier{direction: forward(), world: w, s: s}
		stored := r.stored()
		return rows.run(ctx, s, run, true, func(q querier, k *chunk) error {
			where := k.where(r.alias("s"))
			if err := exec(ctx, q, fmt.Sprintf("INSERT IGNORE INTO %s (%s) SELECT %s FROM %s WHERE %s ORDER BY %s", quote(c.to(r.name)), quoteAll(stored),
				columns(r.alias("s"), stored), c.source(r), where, columns(r.alias("s"), r.key))); err != nil {
				return err
			}
			return c.relistClashes(ctx, r, c.source(r), where)
		})
	})
}

// compareTable compares a table and its wider one in parts. Each part is one statement, which sees both tables as they
// are at one moment. Triggers keep them equal, so any difference is a fault.
func (g *group) compareTable(ctx context.Context, run *job.Run, table string) error {
	return g.work(ctx, run, func(s *session, w world) error {
		swapped, err := g.isSwapped(ctx, s)
		if err != nil || swapped {
			return err
		}
		r := w.relation(table)
		rows, err := newScan(r, run.Position)
		if err != nil {
			return err
		}
		c := &carrier{direction: forward(), world: w, s: s}
		for tries := 0; ; tries++ {
			if live, err := c.isLive(ctx); err != nil || !live {
				if err == nil && tries < 3 {
					err = c.equalise(ctx, run) // changes have failed in the target
				} else if err == nil {
					err = fmt.Errorf("mysql: the triggers can't repeat all changes of the group of %q (MySQL 9.7 can't if foreign keys make circles): "+
						"go back, and set the method to alter", g.name)
				}
				if err != nil {
					return err
				}
				rows.place = place{}
			}
			compared := rows.run(ctx, s, run, true, func(q querier, k *chunk) error { return c.compare(ctx, q, r, k) })
			if live, err := c.isLive(ctx); err != nil || live {
				return errors.Join(compared, err)
			}
		}
	})
}

// compare returns an error if rows of a chunk are not the same.
func (c *carrier) compare(ctx context.Context, q querier, r *relation, k *chunk) error {
	found, err := texts(ctx, q, fmt.Sprintf("SELECT (SELECT COUNT(*) FROM %s WHERE %s), (SELECT COUNT(*) FROM %s WHERE %s), (SELECT COUNT(*) FROM %s LEFT JOIN %s ON %s WHERE %s AND (%s))",
		c.source(r), k.where(r.alias("s")), c.target(r), k.where(r.alias("d")),
		c.source(r), c.target(r), r.joined(), k.where(r.alias("s")), differs(r)))
	if err != nil {
		return err
	}
	if f := found[0]; f[0] != f[1] || f[2] != "0" {
		return fmt.Errorf("mysql: after key %q, %q has %s rows and %q has %s, and %s rows differ: go back, and begin again",
			strings.Join(k.scan.After, ", "), r.name, f[0], c.to(r.name), f[1], f[2])
	}
	return nil
}

// nextNumber returns the number that AUTO_INCREMENT gives next, or 0 if there is none.
func nextNumber(ctx context.Context, q querier, table string) (uint64, error) {
	text, err := definition(ctx, q, table)
	if err != nil {
		return 0, err
	}
	m := regexp.MustCompile(`\n\) .* AUTO_INCREMENT=(\d+)`).FindStringSubmatch(text)
	if m == nil {
		return 0, nil
	}
	n, err := strconv.ParseUint(m[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("mysql: counter of %q: %w", table, err)
	}
	return n, nil
}
