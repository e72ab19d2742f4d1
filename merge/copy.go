package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// fill copies rows (phase copy), or sets the columns that were NULL at first
// (phase link), table after table.
func (m *Merge) fill(ctx context.Context, g *guard, r *run, first *worker, phase string) (err error) {
	workers := []*worker{first}
	defer func() {
		for _, w := range workers[1:] {
			err = errors.Join(err, w.close())
		}
	}()
	for len(workers) < m.config.Writers {
		w, err := m.newWriter(ctx)
		if err != nil {
			return err
		}
		workers = append(workers, w)
	}
	total := report.Event{Kind: report.EventPhase, Phase: phase}
	var feeds []*feed
	for _, st := range m.stages {
		if phase == phaseLink && len(st.Deferred) == 0 {
			continue
		}
		for _, source := range m.plan.SourcesOf(st.Table) {
			s := r.scope(source, st.Table.Name)
			if s.changed, err = m.hasChanges(ctx, first.target, s.id); err != nil {
				return err
			}
			f, err := m.newFeed(ctx, first.target, r, s, st, phase)
			if err != nil {
				return err
			}
			total.Rows, total.Total = total.Rows+f.event.Rows, total.Total+f.event.Total
			feeds = append(feeds, f)
		}
	}
	m.teller.tell(total)
	pace := newThrottle(m.config.BatchRows, m.config.BatchTime)
	for _, f := range feeds {
		f.pace = pace
		if f.event.Rows < f.event.Total {
			if err := m.drain(ctx, g, f, workers); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *Merge) hasChanges(ctx context.Context, q queryer, scope int64) (bool, error) {
	var n int
	err := q.QueryRowContext(ctx, m.engine.sql("SELECT COUNT(*) FROM (SELECT 1 FROM snow_merge_changes WHERE scope = ? LIMIT 1) AS found"), scope).Scan(&n)
	return n > 0, m.engine.failed("read the ledger", err)
}

// drain lets all workers work until a feed has no more tasks.
func (m *Merge) drain(ctx context.Context, g *guard, f *feed, workers []*worker) error {
	f.event.Kind = report.EventTable
	m.teller.tell(f.event)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var group sync.WaitGroup
	for _, w := range workers {
		group.Go(func() {
			if err := m.work(ctx, g, f, w); err != nil {
				stop(err) // the first one counts: the others follow from it
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	f.event.Kind, f.event.Batch, f.event.Took = report.EventEnd, 0, 0
	m.teller.tell(f.event)
	return nil
}

func (m *Merge) work(ctx context.Context, g *guard, f *feed, w *worker) error {
	rewriter, err := w.rewriter(ctx, f.run, f.scope)
	if err != nil {
		return err
	}
	p := &porter{feed: f, worker: w, guard: g, rewriter: rewriter, hasher: newHasher(f.scope.columns, m.engine.dialect == sqlsnow.SQLite)}
	if f.phase == phaseCopy {
		if p.direct, err = w.direct(ctx, f.run, f.scope); err != nil {
			return err
		}
	}
	for {
		if err := m.brake.wait(ctx, m.teller.tell); err != nil {
			return err
		}
		ranges, err := f.next(ctx, w.target)
		if err != nil || len(ranges) == 0 {
			return err
		}
		start := time.Now()
		rows, bytes, err := p.carry(ctx, ranges)
		if err != nil {
			return err
		}
		f.done(m, rows, bytes, time.Since(start))
	}
}

// A feed gives out the ranges of a scope that a phase has not done yet.
type feed struct {
	engine *engine
	run    *run
	scope  *scope // with the columns that the phase needs
	stage  plan.Stage
	phase  string
	pace   *throttle
	end    int64 // the last range of the scope

	mu     sync.Mutex
	after  int64
	buffer []batch
	event  report.Event
}

func (m *Merge) newFeed(ctx context.Context, q queryer, r *run, s *scope, st plan.Stage, phase string) (*feed, error) {
	f := &feed{engine: m.engine, run: r, scope: s, stage: st, phase: phase}
	if phase == phaseLink {
		f.scope = s.only(func(c *plan.Column) bool { return slices.Contains(st.Deferred, c) })
	}
	last, _, err := m.engine.lastBatch(ctx, q, s.id)
	if err != nil {
		return nil, err
	}
	f.end = last.seq
	f.event = report.Event{Phase: phase, Source: s.source, Table: s.table.Name}
	if f.event.Total, err = m.rowsOf(ctx, q, phaseMint, s.id); err != nil {
		return nil, err
	}
	f.event.Rows, err = m.rowsOf(ctx, q, phase, s.id)
	return f, err
}

// next returns ranges that follow on each other; none means that there are no more.
func (f *feed) next(ctx context.Context, q queryer) ([]batch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.buffer) == 0 {
		var err error
		if f.buffer, err = f.engine.pending(ctx, q, f.scope.id, f.phase, f.after, 1000); err != nil || len(f.buffer) == 0 {
			return nil, err
		}
	}
	n, rows := 1, f.buffer[0].read
	for most := int64(f.pace.size()); n < len(f.buffer) && f.buffer[n].seq == f.buffer[n-1].seq+1 && rows+f.buffer[n].read <= most; n++ {
		rows += f.buffer[n].read
	}
	ranges := f.buffer[:n:n]
	f.buffer, f.after = f.buffer[n:], ranges[n-1].seq
	return ranges, nil
}

func (f *feed) done(m *Merge, rows, bytes int, took time.Duration) {
	f.pace.observe(rows, bytes, took)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.event.Kind, f.event.Batch, f.event.Took = report.EventBatch, rows, took
	f.event.Rows += int64(rows)
	m.teller.tell(f.event)
}

// A porter carries rows of one scope from its source to the target. One
// goroutine uses it.
type porter struct {
	*feed
	worker   *worker
	guard    *guard
	rewriter *rewriter
	hasher   *hasher
	direct   *direct // if the server can copy the rows itself
}

// carry does what the phase does for the rows of some ranges, in one
// transaction, and returns how many they were and about how many bytes.
func (p *porter) carry(ctx context.Context, ranges []batch) (rows, bytes int, err error) {
	if p.direct != nil {
		size := p.direct.bytes
		if rows, ok, err := p.handOver(ctx, ranges); ok || err != nil {
			return rows, rows * size, err
		}
	}
	values, err := p.read(ctx, ranges)
	if err != nil {
		return 0, 0, err
	}
	all, err := p.rewriter.rewrite(ctx, p.scope, values)
	if err != nil {
		return 0, 0, err
	}
	done, err := p.account(ranges, all)
	if err != nil {
		return 0, 0, err
	}
	for _, row := range values {
		bytes += sizeOf(row)
	}
	if p.phase == phaseLink {
		err = p.link(ctx, all, done)
	} else {
		err = p.copy(ctx, all, done)
	}
	return len(values), bytes, err
}

// read returns the source's rows in some ranges, and sees to it that there are
// as many as there were.
func (p *porter) read(ctx context.Context, ranges []batch) ([][]any, error) {
	first, last := ranges[0], ranges[len(ranges)-1]
	want := 0
	for _, r := range ranges {
		want += int(r.read)
	}
	upto := last.hi
	if last.seq == p.end {
		upto = nil // nothing may have come after it
	}
	rows, err := p.worker.read(ctx, p.scope, first.lo, upto, want+1)
	if err != nil {
		return nil, err
	}
	changed := func(row, reason string) error {
		return &report.ChangedError{Source: p.scope.source, Table: p.scope.table.Name, Row: row, Reason: reason}
	}
	if len(rows) != want {
		return nil, changed(keyText(last.hi), fmt.Sprintf("there were %d rows up to it, and now there are %s", want, atLeast(len(rows), want)))
	}
	at := 0
	for _, r := range ranges {
		at += int(r.read)
		if got := keyText(p.scope.rowKey(rows[at-1])); got != keyText(r.hi) {
			return nil, changed(keyText(r.hi), "row "+got+" is in its place")
		}
	}
	return rows, nil
}

func atLeast(got, want int) string {
	if got > want {
		return "more"
	}
	return strconv.Itoa(got)
}

// account returns what the ledger is to say of the ranges, if their rows become
// what phase mint decided.
func (p *porter) account(ranges []batch, rows []row) ([]batch, error) {
	done := make([]batch, len(ranges))
	for i, r := range ranges {
		b := batch{scope: r.scope, phase: p.phase, seq: r.seq, lo: r.lo, hi: r.hi, read: r.read}
		for _, row := range rows[:r.read] {
			if p.phase == phaseCopy {
				b.hash.add(p.hasher.row(row.old))
			}
			switch row.fate {
			case missing:
				return nil, &report.ChangedError{Source: p.scope.source, Table: p.scope.table.Name, Row: keyText(row.key), Reason: "the row is new"}
			case minted:
				b.minted++
			case merged:
				b.merged++
			case dropped:
				b.dropped++
			}
			if row.new != nil {
				b.written++
			}
		}
		if p.phase == phaseCopy && (b.minted != r.minted || b.merged != r.merged || b.dropped != r.dropped) {
			return nil, &report.ChangedError{
				Source: p.scope.source, Table: p.scope.table.Name, Row: keyText(r.hi),
				Reason: fmt.Sprintf("of the rows up to it %d, %d and %d were minted, merged and dropped, and now it would be %d, %d and %d", r.minted, r.merged, r.dropped, b.minted, b.merged, b.dropped),
			}
		}
		rows, done[i] = rows[r.read:], b
	}
	return done, nil
}

func (p *porter) copy(ctx context.Context, rows []row, done []batch) error {
	e, w := p.engine, p.worker
	var deferred []int
	for _, c := range p.stage.Deferred {
		if at := p.scope.position(c.Name); at >= 0 {
			deferred = append(deferred, at)
		}
	}
	var values [][]any
	var owners []row
	for _, r := range rows {
		if r.new == nil {
			continue
		}
		for _, at := range deferred {
			r.new[at] = nil
		}
		values, owners = append(values, r.new), append(owners, r)
	}
	var refused error
	err := p.guard.transaction(ctx, w.target, func() error {
		refused = w.insert.write(ctx, p.scope, values)
		if refused != nil {
			return refused
		}
		return e.insertBatches(ctx, w.target, done)
	})
	if err != nil && refused != nil && ctx.Err() == nil && !e.isBusy(err) {
		return w.insert.blame(ctx, p.scope, owners, values, err)
	}
	return e.failed("copy table "+strconv.Quote(p.scope.table.Name), err)
}
