package phases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// Run goes through the phases that write, from where an earlier run ended.
func Run(ctx context.Context, j *Job) (err error) {
	w := &writing{Job: j, numbers: map[string]sqlsnow.Reservation{}, keys: map[string]*plan.Column{}}
	if err := w.reserve(ctx); err != nil {
		return err
	}
	if w.conns, err = j.Writer(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.conns.Close()) }()
	ctx, w.lease, err = ledger.TakeLease(ctx, w.conns.Target, j.renewer(), j.ID, j.Holder, j.LeaseTime)
	if err != nil {
		return err
	}
	defer w.lease.Release()
	err = w.phases(ctx)
	if cause := context.Cause(ctx); err != nil && errors.As(cause, new(*report.OvertakenError)) {
		return cause
	}
	return err
}

func (w *writing) phases(ctx context.Context) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	l := ledger.Of(w.conns.Target)
	for w.run.State != ledger.StateCopied {
		var err error
		state, next := ledger.StateRunning, ""
		switch w.run.Phase {
		case ledger.PhaseChoose:
			next, err = ledger.PhaseMint, w.choose(ctx)
		case ledger.PhaseMint:
			next, err = ledger.PhaseCopy, w.mint(ctx)
		case ledger.PhaseCopy:
			next, err = ledger.PhaseLink, w.fill(ctx)
		default:
			state, next, err = ledger.StateCopied, ledger.PhaseVerify, w.fill(ctx)
			if err == nil {
				err = w.updateJoined(ctx)
			}
			if err == nil {
				err = counters{w}.countOn(ctx)
			}
			if err == nil {
				err = w.inherit(ctx)
			}
		}
		if err != nil {
			return err
		}
		if err := w.lease.Transaction(ctx, w.conns.Target, func() error { return l.Enter(ctx, w.run, state, next) }); err != nil {
			return w.Engine.Failed("begin a phase", err)
		}
		w.run.State, w.run.Phase = state, next
	}
	return nil
}

// mint is phase mint: it decides, for each row of each source, what id it has
// in the target, what it is called there, and whether it is copied at all. It cuts
// tables into the chunks that the later phases go by.
func (w *writing) mint(ctx context.Context) (err error) {
	target := w.conns.Target
	if looksBack(w.Plan) || slices.ContainsFunc(w.Order, (*plan.Table).Combines) {
		if err := ledger.Of(target).IndexMap(ctx); err != nil {
			return err
		}
	}
	if err := w.beginMint(ctx); err != nil {
		return err
	}
	all, closeAll, err := w.writers(ctx)
	defer func() { err = errors.Join(err, closeAll()) }()
	if err != nil {
		return err
	}
	feed := &mintFeed{plan: w.Plan, left: slices.DeleteFunc(slices.Clone(w.Order), func(t *plan.Table) bool { return t.Empty }), busy: map[*plan.Table]bool{}}
	feed.changed.L = &feed.mu
	return parallel(ctx, all, func(ctx context.Context, c *chunk.Conns) error {
		own := *w
		own.conns = c
		for t := feed.next(ctx); t != nil; t = feed.next(ctx) {
			err := own.mintSources(ctx, t)
			if err == nil {
				err = c.Rest(ctx) // it may have to wait for the next one
			}
			if feed.done(t, err); err != nil {
				return err
			}
		}
		return nil
	})
}

// A mintFeed gives out tables, each after those that it has to wait for. It is safe for concurrent use.
type mintFeed struct {
	plan *plan.Plan

	mu      sync.Mutex
	changed sync.Cond
	left    []*plan.Table
	busy    map[*plan.Table]bool
	failed  bool
}

// next waits for a table, and returns nil if there are no more.
func (f *mintFeed) next(ctx context.Context) *plan.Table {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.failed && ctx.Err() == nil && len(f.left) > 0 {
		for i, t := range f.left {
			waits := func(parent *plan.Table) bool {
				return parent != t && (f.busy[parent] || slices.Contains(f.left, parent))
			}
			if !slices.ContainsFunc(f.plan.MintParents(t), waits) {
				f.left, f.busy[t] = slices.Delete(f.left, i, i+1), true
				return t
			}
		}
		f.changed.Wait() // something is busy, or the first would have been free
	}
	return nil
}

// done is told that a table is done, or has failed.
func (f *mintFeed) done(t *plan.Table, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.busy, t)
	f.failed = f.failed || err != nil
	f.changed.Broadcast()
}

// mintSources goes through a table of all sources, in the order of their precedence.
func (w *writing) mintSources(ctx context.Context, t *plan.Table) error {
	order, err := w.Plan.Precedence(t)
	if err != nil {
		return err
	}
	l := ledger.Of(w.conns.Target)
	conflicts := rekey.NewConflicts(w.Plan, w.conns, &rekey.MappedIdentities{Ids: ledger.MapOf(w.conns.Target), Run: w.run})
	for _, source := range order {
		if err := conflicts.Resume(ctx, l, w.run.Table(source, t.Name)); err != nil {
			return err
		}
	}
	next := uint64(0)
	for _, source := range order {
		if next, err = w.mintNumbers(ctx, w.run.Table(source, t.Name), conflicts, next); err != nil {
			return err
		}
	}
	return w.join(ctx, t, order)
}

// beginMint tells how many rows there are, and how many earlier runs have looked at.
func (w *writing) beginMint(ctx context.Context) (err error) {
	if w.totals, err = w.countRows(ctx, w.conns, w.run.Tables); err != nil {
		return err
	}
	begin := report.Event{Kind: report.EventPhase, Phase: ledger.PhaseMint, Total: sumOf(w.totals)}
	for _, t := range w.run.Tables {
		seen, err := ledger.Of(w.conns.Target).Done(ctx, t, ledger.PhaseMint)
		if err != nil {
			return err
		}
		begin.Rows += seen.Read
	}
	w.tell(begin)
	return nil
}

// mintTable goes through one table of one source.
func (w *writing) mintTable(ctx context.Context, t *ledger.SourceTable, conflicts *rekey.Conflicts) error {
	seen, err := ledger.Of(w.conns.Target).Done(ctx, t, ledger.PhaseMint)
	if err != nil {
		return err
	}
	progress := w.progress(ledger.PhaseMint, t, seen.Read, totalOf(w.totals, t))
	progress.begin()
	x, err := w.NewExecutor(ctx, Work{Job: w.Job, Run: w.run, Table: t, Conns: w.conns, Lease: w.lease, Conflicts: conflicts, Progress: progress})
	if err != nil {
		return err
	}
	defer x.Close()
	if err := x.Mint(ctx); err != nil {
		return err
	}
	progress.end()
	return nil
}

// mintNumbers goes through one table of one source. Dense ids begin with next, if that is not 0: where those of the
// source before have ended. It returns where they end.
func (w *writing) mintNumbers(ctx context.Context, t *ledger.SourceTable, conflicts *rekey.Conflicts, next uint64) (uint64, error) {
	if !t.Rekeys || t.Ids.IDs != plan.IDsDense {
		return next, w.mintTable(ctx, t, conflicts)
	}
	l := ledger.Of(w.conns.Target)
	set := func(first, end uint64) error {
		if t.Ids.First == first && t.Ids.End == end {
			return nil
		}
		t.Ids.First, t.Ids.End = first, end
		return w.Engine.Failed("write down the numbers of a table", w.lease.Transaction(ctx, w.conns.Target, func() error { return l.SetNumbers(ctx, t) }))
	}
	if next > 0 {
		if err := set(next, max(next, t.Ids.End)); err != nil {
			return 0, err
		}
	}
	if err := w.mintTable(ctx, t, conflicts); err != nil {
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

// choose is phase choose: it writes down which rows the conditions of the plan leave out. Phase mint goes by what
// is written down, so that conditions which depend on the time have one answer. Rows of an earlier attempt that did
// not end are of another time.
func (w *writing) choose(ctx context.Context) error {
	target := w.conns.Target
	l := ledger.Of(target)
	w.tell(report.Event{Kind: report.EventPhase, Phase: ledger.PhaseChoose, Total: -1})
	if err := w.lease.Transaction(ctx, target, func() error { return l.ForgetChanges(ctx, w.run.ID) }); err != nil {
		return w.Engine.Failed("forget which rows go", err)
	}
	for _, t := range w.run.Tables {
		if len(t.Table.ConditionsOf(t.Source)) == 0 {
			continue
		}
		progress := w.progress(ledger.PhaseChoose, t, 0, -1)
		progress.begin()
		err := w.chosen(ctx, w.conns, t, nil, func(c *plan.Condition, keys [][]any) error {
			changes := make([]ledger.Change, len(keys))
			for i, key := range keys {
				changes[i] = ledger.Change{Row: sqlvalue.FormatRow(key), Kind: ledger.ChangeDropped, Before: sqlvalue.FormatKey(key), After: reasonOf(t.Table, c)}
			}
			err := w.lease.Transaction(ctx, target, func() error { return l.InsertChanges(ctx, t, changes) })
			progress.Chunk(len(keys), 0)
			return w.Engine.Failed("write down which rows go", err)
		})
		if err != nil {
			return err
		}
		progress.end()
	}
	return nil
}

// reasonOf returns why a row is left out of which a condition is true: its number in the table.
func reasonOf(t *plan.Table, c *plan.Condition) string {
	for i, other := range t.WithoutRows {
		if other == c {
			return fmt.Sprintf("without_rows %d", i+1)
		}
	}
	return ""
}

// chosen calls do with what tells the rows apart that the conditions of the plan choose in a source table, some at
// a time. A row of several conditions is of the first. With a throttle, a statement looks at no more rows than that
// allows, whichever of them are chosen.
func (j *Job) chosen(ctx context.Context, conns *chunk.Conns, t *ledger.SourceTable, throttle *chunk.Throttle, do func(c *plan.Condition, keys [][]any) error) error {
	part := t.Only(func(*plan.Column) bool { return false })
	pace := j.PaceOf(part)
	var before string // none of the conditions before is true
	for _, c := range t.Table.ConditionsOf(t.Source) {
		where := before + c.SQL()
		before += "CASE WHEN " + c.SQL() + " THEN 0 ELSE 1 END = 1 AND "
		var after []any
		for {
			if err := j.Pause(ctx); err != nil {
				return err
			}
			start, limit := time.Now(), pace.Size()
			var upto []any // the last row that is looked at
			var seen int
			if throttle != nil && part.Content == nil {
				limit = throttle.Most(limit)
				between, err := part.Read(ctx, conns, after, nil, limit)
				if err != nil {
					return err
				}
				if seen = len(between); seen == 0 {
					break
				}
				upto = part.RowKey(between[seen-1])
			}
			rows, err := part.ReadWhere(ctx, conns, where, after, upto, limit)
			if err != nil {
				return fmt.Errorf("without_rows of table %q: %w", t.Table.Name, err)
			}
			if upto == nil {
				seen = len(rows)
			}
			if err := wait(ctx, throttle, conns, seen, start); err != nil {
				return err
			}
			if seen == 0 {
				break
			}
			pace.Observe(len(rows), chunk.SizeOf(rows...), time.Since(start))
			keys := make([][]any, len(rows))
			for i, row := range rows {
				keys[i] = part.RowKey(row)
			}
			if err := do(c, keys); err != nil {
				return err
			}
			if after = upto; upto == nil {
				after = keys[len(keys)-1]
			}
			if seen < limit {
				break
			}
		}
	}
	return nil
}
