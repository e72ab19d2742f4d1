package merge

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A chains finds rows of sources, and of the sources of merges that made those, by what the ledger says of each of
// the merges.
type chains struct {
	l       ledger.Ledger
	earlier []*ledger.Earlier
	merged  []*ledger.SourceTable // of runs into the target, without what only their plans know
	last    map[int64]*lastTable
}

// A lastTable is a source table of a run into the target.
type lastTable struct {
	*ledger.SourceTable
	checker *rekey.Checker
}

// An outcome is what became of a row in the end.
type outcome struct {
	ledger.Successor
	at  *ledger.SourceTable // of the merge that left it out
	old int64               // its id there
}

func newChains(ctx context.Context, l ledger.Ledger) (c *chains, err error) {
	c = &chains{l: l, last: map[int64]*lastTable{}}
	if c.merged, err = l.SourceTables(ctx); err != nil {
		return nil, err
	}
	c.earlier, err = ledger.ReadEarlier(ctx, l, "")
	return c, err
}

// number returns the number of a table of a source, whose name may be any end of a path, or a whole path after a slash.
func (c *chains) number(source, table string) (int64, error) {
	whole, isWhole := strings.CutPrefix(source, "/")
	var paths []string
	numbers := map[string]int64{} // by path
	add := func(path, of string, number int64) {
		if path != whole && (isWhole || !strings.HasSuffix(path, "/"+source)) {
			return
		}
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
		if of == table {
			numbers[path] = number
		}
	}
	for _, t := range c.merged {
		add(t.Source, t.Table.Name, t.ID)
	}
	for _, e := range c.earlier {
		add(e.Path, e.Table, e.ID)
	}
	switch {
	case len(paths) > 1:
		slices.Sort(paths)
		for i, path := range paths {
			paths[i] = "/" + path
		}
		return 0, &report.AmbiguousSourceError{Source: source, Ways: paths}
	case len(numbers) == 0:
		return 0, fmt.Errorf("%w: the table was not merged", report.ErrNotFound)
	}
	return numbers[paths[0]], nil
}

// resolve returns what became of rows with some old ids. Rows that are missing are absent.
func (c *chains) resolve(ctx context.Context, number int64, olds []int64) (map[int64]outcome, error) {
	found := map[int64]outcome{}
	at := slices.IndexFunc(c.earlier, func(e *ledger.Earlier) bool { return e.ID == number })
	if at < 0 {
		last, err := c.lastTable(ctx, number)
		if err != nil || last == nil {
			return found, err
		}
		now, err := rekey.Resolve(ctx, ledger.IDMap{Ledger: c.l}, last.checker, last.SourceTable, olds)
		for old, after := range now {
			found[old] = outcome{after, last.SourceTable, old}
		}
		return found, err
	}
	e := c.earlier[at]
	t := e.SourceTable(c.l.Engine.Kind)
	entries, err := rekey.Resolve(ctx, ledger.IDMap{Ledger: c.l}, nil, t, olds)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for old, after := range entries {
		if after.Fate == ledger.Dropped {
			found[old] = outcome{after, t, old}
		} else {
			ids = append(ids, after.ID)
		}
	}
	if len(ids) == 0 {
		return found, nil
	}
	later, err := c.resolve(ctx, e.Next, ids)
	for old, after := range entries {
		if now, ok := later[after.ID]; ok && after.Fate != ledger.Dropped {
			found[old] = now
		}
	}
	return found, err
}

// lastTable returns a source table of a run into the target, or nil if it has no column of ids.
func (c *chains) lastTable(ctx context.Context, number int64) (*lastTable, error) {
	if found, ok := c.last[number]; ok {
		return found, nil
	}
	at := slices.IndexFunc(c.merged, func(t *ledger.SourceTable) bool { return t.ID == number })
	if at < 0 {
		return nil, fmt.Errorf("the ledger in the target is damaged: it has no source table %d", number)
	}
	merged := c.merged[at]
	_, text, facts, err := c.l.Merged(ctx, merged.Source, merged.Table.Name)
	if err != nil {
		return nil, err
	}
	p, err := plan.Read(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the run's plan: %w", err)
	}
	t := p.Table(merged.Table.Name)
	if t == nil || t.Key() == nil {
		c.last[number] = nil
		return nil, nil
	}
	of := ledger.NewSourceTable(number, merged.Source, t)
	of.Packable = ledger.IsPackable(c.l.Engine.Kind, p, of)
	c.last[number] = &lastTable{of, &rekey.Checker{Engine: c.l.Engine.In(facts.Databases), Q: c.l.Q}}
	return c.last[number], nil
}

// each visits the ids of the map of an earlier merge in their order, with what became of their rows in the end.
func (c *chains) each(ctx context.Context, e *ledger.Earlier, visit func(old int64, after ledger.Successor) error) error {
	const page = chunk.MaxIDs
	t := e.SourceTable(c.l.Engine.Kind)
	for from := int64(math.MinInt64); ; {
		olds, _, err := ledger.IDMap{Ledger: c.l}.Page(ctx, t, from, page)
		if err != nil || len(olds) == 0 {
			return err
		}
		now, err := c.resolve(ctx, e.ID, olds)
		if err != nil {
			return err
		}
		for _, old := range olds {
			after, ok := now[old]
			if !ok {
				after.Fate = ledger.Dropped // it was deleted between two merges
			}
			if err := visit(old, after.Successor); err != nil {
				return err
			}
		}
		last := olds[len(olds)-1]
		if last == math.MaxInt64 {
			return nil
		}
		from = last + 1
	}
}

// sourceTables returns the source tables of all runs, followed by the tables of earlier merges.
func (c *chains) sourceTables() []*ledger.SourceTable {
	all := slices.Clone(c.merged)
	for _, e := range c.earlier {
		all = append(all, e.SourceTable(c.l.Engine.Kind))
	}
	return all
}
