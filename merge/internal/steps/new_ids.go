package steps

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/clash"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// mint is phase mint: it decides, for each row of each source, what id it has
// in the target, what it is called there, and whether it is copied at all. It cuts
// tables into the chunks that the later phases go by.
func mint(ctx context.Context, w *work.Writer) (err error) {
	target := w.Conns.Target
	if looksBack(w.Plan) || slices.ContainsFunc(w.Order, func(t *plan.Table) bool { return len(clash.CombinedColumns(t)) > 0 }) {
		if err := ledger.Of(target).IndexMap(ctx); err != nil {
			return err
		}
	}
	totals, err := beginMint(ctx, w)
	if err != nil {
		return err
	}
	all, closeAll, err := writers(ctx, w)
	defer func() { err = errors.Join(err, closeAll()) }()
	if err != nil {
		return err
	}
	q := &queue{plan: w.Plan, left: slices.DeleteFunc(slices.Clone(w.Order), func(t *plan.Table) bool { return t.Empty }), busy: map[*plan.Table]bool{}}
	q.changed.L = &q.mu
	return work.Parallel(ctx, all, func(ctx context.Context, c *chunk.Conns) error {
		own := *w
		own.Conns = c
		for t := q.next(ctx); t != nil; t = q.next(ctx) {
			err := mintSources(ctx, &own, t, totals)
			if err == nil {
				err = c.Rest(ctx) // it may have to wait for the next one
			}
			if q.done(t, err); err != nil {
				return err
			}
		}
		return nil
	})
}

// A queue gives out tables, each after the tables that it has to wait for. It is safe for concurrent use.
type queue struct {
	plan *plan.Plan

	mu      sync.Mutex
	changed sync.Cond
	left    []*plan.Table
	busy    map[*plan.Table]bool
	failed  bool
}

// next waits for a table, and returns nil if there are no more.
func (q *queue) next(ctx context.Context) *plan.Table {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.failed && ctx.Err() == nil && len(q.left) > 0 {
		for i, t := range q.left {
			waits := func(parent *plan.Table) bool {
				return parent != t && (q.busy[parent] || slices.Contains(q.left, parent))
			}
			if !slices.ContainsFunc(q.plan.MintParents(t), waits) {
				q.left, q.busy[t] = slices.Delete(q.left, i, i+1), true
				return t
			}
		}
		q.changed.Wait() // something is busy, or the first would have been free
	}
	return nil
}

// done is told that a table is done, or has failed.
func (q *queue) done(t *plan.Table, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.busy, t)
	q.failed = q.failed || err != nil
	q.changed.Broadcast()
}

// mintSources goes through a table of all sources, in the order of their precedence.
func mintSources(ctx context.Context, w *work.Writer, t *plan.Table, totals work.Totals) error {
	order, err := w.Plan.Precedence(t)
	if err != nil {
		return err
	}
	l := ledger.Of(w.Conns.Target)
	conflicts := clash.New(w.Plan, w.Conns, &clash.MappedIdentities{Ids: ledger.MapOf(w.Conns.Target), Run: w.Run})
	for _, source := range order {
		if err := conflicts.Resume(ctx, l, w.Run.Table(source, t.Name)); err != nil {
			return err
		}
	}
	next := uint64(0)
	for _, source := range order {
		if next, err = mintNumbers(ctx, w, w.Run.Table(source, t.Name), totals, conflicts, next); err != nil {
			return err
		}
	}
	return decideCombined(ctx, w, t)
}

// beginMint tells how many rows there are, and how many earlier runs have looked at.
func beginMint(ctx context.Context, w *work.Writer) (work.Totals, error) {
	totals, err := work.CountRows(ctx, w.Job, w.Conns, w.Run.Tables)
	if err != nil {
		return nil, err
	}
	begin := report.Event{Kind: report.EventPhase, Phase: ledger.PhaseMint, Total: totals.Sum()}
	for _, t := range w.Run.Tables {
		seen, err := ledger.Of(w.Conns.Target).Done(ctx, t, ledger.PhaseMint)
		if err != nil {
			return nil, err
		}
		begin.Rows += seen.Read
	}
	w.Tell(begin)
	return totals, nil
}

// mintTable goes through one table of one source.
func mintTable(ctx context.Context, w *work.Writer, t *ledger.SourceTable, totals work.Totals, conflicts *clash.Finder) error {
	seen, err := ledger.Of(w.Conns.Target).Done(ctx, t, ledger.PhaseMint)
	if err != nil {
		return err
	}
	progress := w.Progress(ledger.PhaseMint, t, seen.Read, totals.Of(t))
	progress.Begin()
	m, err := newMinter(ctx, w, t, conflicts)
	if err != nil {
		return err
	}
	defer m.writer.Close()
	if err := m.mint(ctx, progress); err != nil {
		return err
	}
	progress.End()
	return nil
}

// mintNumbers goes through one table of one source. Dense ids begin with next, if that is not 0: where the ids of the
// source before have ended. It returns where they end.
func mintNumbers(ctx context.Context, w *work.Writer, t *ledger.SourceTable, totals work.Totals, conflicts *clash.Finder, next uint64) (uint64, error) {
	if !t.Rekeys || t.Ids.IDs != plan.IDsDense {
		return next, mintTable(ctx, w, t, totals, conflicts)
	}
	l := ledger.Of(w.Conns.Target)
	set := func(first, end uint64) error {
		if t.Ids.First == first && t.Ids.End == end {
			return nil
		}
		t.Ids.First, t.Ids.End = first, end
		return w.Transaction(ctx, "write down the numbers of a table", func() error { return l.SetNumbers(ctx, t) })
	}
	if next > 0 {
		if err := set(next, max(next, t.Ids.End)); err != nil {
			return 0, err
		}
	}
	if err := mintTable(ctx, w, t, totals, conflicts); err != nil {
		return 0, err
	}
	last, err := l.LastChunk(ctx, t)
	if err != nil {
		return 0, err
	}
	end := max(t.Ids.First, uint64(last.Place)+1)
	return end, set(t.Ids.First, end)
}

// looksBack reports whether unique keys hold references to rows that may be
// merged, so that old ids must be found by new ones.
func looksBack(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Tables, func(t *plan.Table) bool {
		return !t.Skip && slices.ContainsFunc(t.Unique, func(u *plan.Unique) bool {
			return slices.ContainsFunc(u.Columns, func(name string) bool {
				return slices.ContainsFunc(t.Column(name).Refers, func(r *plan.Reference) bool {
					parent := p.Table(r.Table)
					return parent != nil && parent.Merges(p.Sources)
				})
			})
		})
	})
}
