package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// Verify compares the target with what the sources, the plan and the ledger of
// [Merge.Run] say, and returns what it found: it writes nothing. It reads each
// row of the sources and its row in the target, and counts the others. What is
// wrong is in the report, whose Err returns a [*report.VerifyError]; an error of
// Verify itself says why nobody could look.
func (m *Merge) Verify(ctx context.Context) (*report.Report, error) {
	v := &verifier{Merge: m, report: &report.Report{Run: m.run, Sources: m.plan.Sources, Started: time.Now().UTC()}}
	if err := v.verify(ctx); err != nil {
		return nil, fmt.Errorf("merge: verify: %w", ended(ctx, err))
	}
	v.report.Finished = time.Now().UTC()
	return v.report, nil
}

// ended returns err with what ended ctx: drivers may hide that.
func ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// A verifier fills a report.
type verifier struct {
	*Merge
	ran     *run
	report  *report.Report
	later   map[string]int64 // rows that later runs have copied, by table
	first   *worker          // for what one goroutine asks of the target: a source's connections are all the provers'
	provers []*prover        // for rows: one for each writer, or the same as first
}

var errNotRun = errors.New("the plan was never run on the target")

func (v *verifier) verify(ctx context.Context) (err error) {
	if v.first, err = v.newWorker(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.first.close()) }()
	target := v.first.target
	if v.ran, err = v.load(ctx, target); err != nil {
		return err
	}
	if v.ran == nil {
		return errNotRun
	}
	if v.ran.state != stateCopied {
		v.report.Add(report.Failure{Check: report.CheckComplete, Reason: "the run has not ended: it is in phase " + v.ran.phase})
		return nil
	}
	sound, err := v.sound(ctx, target)
	if err != nil {
		return err
	}
	for range v.config.Writers {
		w := v.first // of SQLite there may be one connection only
		if v.config.Writers > 1 {
			if w, err = v.newWorker(ctx); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, w.close()) }()
		}
		v.provers = append(v.provers, &prover{worker: w, engine: v.engine, plan: v.plan, sound: sound, presence: presence{engine: v.engine, target: w.target}})
	}
	v.teller.tell(report.Event{Kind: report.EventPhase, Phase: phaseVerify, Total: -1})
	proofs := make([]*proof, len(v.ran.scopes))
	for i, s := range v.ran.scopes {
		if s.changed, err = v.hasChanges(ctx, target, s.id); err != nil {
			return err
		}
		if proofs[i], err = v.scope(ctx, target, s); err != nil {
			return err
		}
	}
	if err := v.tables(ctx, target, proofs); err != nil {
		return err
	}
	v.references(proofs)
	if err := v.leftovers(ctx, target, proofs); err != nil {
		return err
	}
	return v.assert(ctx, target)
}

// linked sees to it that the references which were NULL at first are set.
func (v *verifier) linked(ctx context.Context, target queryer, s *scope, total *proof) error {
	if !slices.ContainsFunc(v.stages, func(st plan.Stage) bool { return st.Table == s.table && len(st.Deferred) > 0 }) {
		return nil
	}
	open, err := v.engine.pending(ctx, target, s.id, phaseLink, 0, 1)
	if err == nil && len(open) > 0 {
		total.fail(report.Failure{
			Check: report.CheckComplete, Source: s.source, Table: s.table.Name, Row: keyText(open[0].hi), Reason: "references of the rows up to this one are not set",
		})
	}
	return err
}

// scope compares the rows of one table of one source.
func (v *verifier) scope(ctx context.Context, target *session, s *scope) (*proof, error) {
	total := newProof()
	total.counted = true
	totals, err := v.totals(ctx, s)
	if err != nil {
		return nil, err
	}
	v.teller.tell(report.Event{Kind: report.EventTable, Phase: phaseVerify, Source: s.source, Table: s.table.Name, Total: totals.read})
	last, err := v.ranges(ctx, s, totals.read, total)
	if err != nil {
		return nil, err
	}
	if err := v.beyond(ctx, s, last, total); err != nil {
		return nil, err
	}
	if !total.counted { // by integers, of which there is but one order
		if err := v.whole(ctx, s, total); err != nil {
			return nil, err
		}
	}
	if err := v.linked(ctx, target, s, total); err != nil {
		return nil, err
	}
	if s.key >= 0 {
		if err := v.mapOf(ctx, target, s, last, total); err != nil {
			return nil, err
		}
	}
	for _, f := range total.failures {
		v.report.Add(f)
	}
	v.report.Failed += total.failed - int64(len(total.failures))
	row := report.Table{
		Table: s.table.Name, Source: s.source, Rows: total.read, Copied: total.copied, Rekeyed: total.rekeyed, Merged: total.merged,
		Dropped: total.dropped, Renamed: total.renamed, Displacement: time.Duration(totals.late) * time.Microsecond,
	}
	if !total.unhashed {
		row.Hash, row.Found = total.want.String(), total.found.String()
	}
	if s.mints {
		row.Worker = &s.lane.worker
	}
	v.report.Tables = append(v.report.Tables, row)
	v.teller.tell(report.Event{Kind: report.EventEnd, Phase: phaseVerify, Source: s.source, Table: s.table.Name, Rows: total.read, Total: total.read})
	return total, nil
}

// totals sums up phase mint, in which each row was read first.
func (v *verifier) totals(ctx context.Context, s *scope) (b batch, err error) {
	err = v.first.target.QueryRowContext(ctx, v.engine.sql(`SELECT COALESCE(SUM(rows_read), 0), COALESCE(MAX(displaced_us), 0)
		FROM snow_merge_batches WHERE scope = ? AND phase = ?`), s.id, phaseMint).Scan(&b.read, &b.late)
	return b, v.engine.failed("read the ledger", err)
}

// A task is a range of rows, with the one before and what the copy saw in it.
type task struct{ before, mint, copied batch }

// A collector adds up the proofs of a scope's ranges. It is safe for concurrent use.
type collector struct {
	mu    sync.Mutex
	total *proof
	edges map[int64][2]int64 // the first and the last new id of a range
	tell  func(rows int64, batch int)
}

func (c *collector) add(seq int64, p *proof) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total.add(p)
	if p.first != 0 {
		c.edges[seq] = [2]int64{p.first, p.last}
	}
	if p.read > 0 {
		c.tell(c.total.read, int(p.read))
	}
}

// ranges compares the ranges of a scope, several at a time, and returns the last.
func (v *verifier) ranges(ctx context.Context, s *scope, rows int64, total *proof) (last batch, err error) {
	all := &collector{total: total, edges: map[int64][2]int64{}, tell: func(n int64, batch int) {
		v.teller.tell(report.Event{Kind: report.EventBatch, Phase: phaseVerify, Source: s.source, Table: s.table.Name, Rows: n, Total: rows, Batch: batch})
	}}
	for _, p := range v.provers {
		if p.rewriter, err = p.worker.rewriter(ctx, v.ran, s); err != nil {
			return last, err
		}
		p.direct = nil
		if !slices.ContainsFunc(s.columns, func(c *plan.Column) bool { return c.HoldsReferences() && !p.sound[c] }) {
			if p.direct, err = p.worker.direct(ctx, v.ran, s); err != nil {
				return last, err
			}
			if p.direct != nil && !p.direct.dense {
				p.direct.hash = "" // or others' rows between these would be read as well
			}
		}
	}
	if v.provers[0].worker == v.first {
		last, err = v.feed(ctx, s, all, func(t []task) error { return v.provers[0].check(ctx, s, t, all) })
	} else {
		last, err = v.parallel(ctx, s, all)
	}
	if err != nil {
		return last, err
	}
	var above int64
	for _, seq := range sortedKeys(all.edges) {
		if edge := all.edges[seq]; edge[0] <= above {
			total.fail(report.Failure{
				Check: report.CheckOrder, Source: s.source, Table: s.table.Name, Target: keyText([]any{edge[0]}),
				Reason: fmt.Sprintf("the id is not above that of the row before, %d", above),
			})
		}
		above = max(above, all.edges[seq][1])
	}
	return last, nil
}

func (v *verifier) parallel(ctx context.Context, s *scope, all *collector) (last batch, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	tasks := make(chan []task, len(v.provers))
	var group sync.WaitGroup
	for _, p := range v.provers {
		group.Go(func() {
			for t := range tasks {
				if err := p.check(ctx, s, t, all); err != nil {
					stop(err) // the first one counts: the others follow from it
				}
			}
		})
	}
	last, err = v.feed(ctx, s, all, func(t []task) error {
		select {
		case tasks <- t:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	close(tasks)
	group.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return last, cause
	}
	return last, err
}

// feed sends the ranges of a scope, several that follow on each other where the
// server compares them.
func (v *verifier) feed(ctx context.Context, s *scope, all *collector, send func([]task) error) (last batch, err error) {
	var group []task
	flush := func() error {
		if len(group) == 0 {
			return nil
		}
		if err := v.brake.wait(ctx, v.teller.tell); err != nil {
			return err
		}
		err := send(group)
		group = nil
		return err
	}
	direct := v.provers[0].direct != nil // it may be given up, by who works on the ranges
	for {
		mint, err := v.engine.batches(ctx, v.first.target, s.id, phaseMint, last.seq, 100)
		if err != nil {
			return last, err
		}
		if len(mint) == 0 {
			return last, flush()
		}
		copied, err := v.engine.batches(ctx, v.first.target, s.id, phaseCopy, last.seq, 100)
		if err != nil {
			return last, err
		}
		for _, m := range mint {
			before := last
			last = m
			if m.seq != before.seq+1 || keyText(m.lo) != keyText(before.hi) {
				hole := newProof()
				hole.fail(report.Failure{
					Check: report.CheckComplete, Source: s.source, Table: s.table.Name, Row: keyText(m.hi), Reason: "the ledger has lost the rows before those up to this one",
				})
				all.add(m.seq, hole)
			}
			i := slices.IndexFunc(copied, func(c batch) bool { return c.seq == m.seq })
			if i < 0 {
				open := newProof()
				open.fail(report.Failure{
					Check: report.CheckComplete, Source: s.source, Table: s.table.Name, Row: keyText(m.hi), Reason: "the rows up to this one are not copied",
				})
				all.add(m.seq, open)
				if err := flush(); err != nil {
					return last, err
				}
				continue
			}
			t := task{before, m, copied[i]}
			if len(group) > 0 && !(direct && together(group, t)) {
				if err := flush(); err != nil {
					return last, err
				}
			}
			group = append(group, t)
		}
	}
}

// check compares ranges, and looks whether the source has changed in them.
func (p *prover) check(ctx context.Context, s *scope, tasks []task, all *collector) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if found, err := p.compared(ctx, s, tasks); found != nil || err != nil {
		if err == nil {
			all.add(tasks[0].mint.seq, found)
		}
		return err
	}
	for _, t := range tasks {
		found, err := p.prove(ctx, s, t.mint.lo, t.mint.hi)
		if err != nil {
			return err
		}
		hashed := t.copied.hash != (sum{}) // what the server copied itself is not
		if hashed && found.source != t.copied.hash || found.read != t.copied.read {
			found.fail(report.Failure{
				Check: report.CheckSource, Source: s.source, Table: s.table.Name, Row: keyText(t.mint.hi),
				Reason: fmt.Sprintf("the rows after %s and up to this one have changed since they were copied: there were %d and are %d",
					keyText(t.mint.lo), t.copied.read, found.read),
			})
		}
		for i, f := range found.failures {
			if !hashed && f.Check == report.CheckRows {
				found.failures[i].Reason += ", unless it is the source that has changed since"
			}
		}
		all.add(t.mint.seq, found)
	}
	return nil
}

// beyond looks for rows of a source that the run has never seen.
func (v *verifier) beyond(ctx context.Context, s *scope, last batch, total *proof) error {
	rows, err := v.provers[0].worker.read(ctx, s, last.hi, nil, 1)
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		total.fail(report.Failure{
			Check: report.CheckSource, Source: s.source, Table: s.table.Name, Row: keyText(s.rowKey(rows[0])), Reason: "the row is new since the run began",
		})
	}
	return nil
}

// whole sees to it that the ranges have all rows of a source, whatever the
// database's order of them is.
func (v *verifier) whole(ctx context.Context, s *scope, total *proof) error {
	source, err := v.provers[0].worker.source(ctx, s.source)
	if err != nil {
		return err
	}
	n, err := v.engine.count(ctx, source, s.table.Name)
	if err != nil {
		return sourceError(s.source, err)
	}
	if n != total.read {
		total.fail(report.Failure{
			Check: report.CheckSource, Source: s.source, Table: s.table.Name,
			Reason: fmt.Sprintf("the source has %d rows, and %d of them were read", n, total.read),
		})
	}
	return nil
}
