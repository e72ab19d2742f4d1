package phases

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

var errNotRun = errors.New("the plan was never run on the target")

// Verify compares the target with what the sources, the plan and the ledger say.
func Verify(ctx context.Context, j *Job) (*report.Report, error) {
	v := &verifying{Job: j, report: &report.Report{Run: j.ID, Sources: j.Plan.Sources, Started: time.Now().UTC()}}
	if err := v.verify(ctx); err != nil {
		return nil, err
	}
	if v.kept != nil {
		v.kept.After = v.report.After
		return v.kept, nil
	}
	v.report.Finished = time.Now().UTC()
	v.report.Phases = append(v.report.Phases, v.ownPhase())
	return v.report, nil
}

// ownPhase returns how long verification took.
func (v *verifying) ownPhase() report.Phase {
	p := report.Phase{Name: ledger.PhaseVerify, Began: v.report.Started, Ended: v.report.Finished}
	for _, row := range v.report.Tables {
		p.Rows += row.Rows
	}
	return p
}

func (v *verifying) verify(ctx context.Context) (err error) {
	if v.first, err = v.connect(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.first.Close()) }()
	target := v.first.Target
	if v.run, err = ledger.Of(target).Load(ctx, v.ID, v.Plan); err != nil {
		return err
	}
	if v.run == nil {
		return errNotRun
	}
	if err := v.sameDatabases(v.run); err != nil {
		return err
	}
	if v.run.State != ledger.StateCopied {
		v.report.Add(report.Failure{Check: report.CheckComplete, Reason: "the run has not ended: it is in phase " + v.run.Phase})
		return nil
	}
	if v.report.After, err = v.statements(ctx, ledger.Of(target)); err != nil {
		return err
	}
	if before, err := v.verified(ctx, target); err != nil || before != nil {
		v.kept = before
		return err
	}
	v.others = []*chunk.Conns{v.first} // of SQLite there may be one connection only
	if v.Writers > 1 {
		v.others = nil
		for range v.Writers {
			c, err := v.connect(ctx)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.Close()) }()
			v.others = append(v.others, c)
		}
	}
	if v.sound, err = v.soundReferences(ctx); err != nil {
		return err
	}
	begin := report.Event{Kind: report.EventPhase, Phase: ledger.PhaseVerify}
	for _, t := range v.run.Tables {
		all, err := ledger.Of(target).Done(ctx, t, ledger.PhaseMint)
		if err != nil {
			return err
		}
		begin.Total += all.Read
	}
	v.tell(begin)
	v.pages = pagesOf(v.others)
	return v.compare(ctx, target)
}

// compare compares all tables, and then what the tables refer to.
func (v *verifying) compare(ctx context.Context, target *chunk.Session) (err error) {
	v.sets = multisets(v.run)
	feeds := make([]*verifyFeed, len(v.run.Tables))
	for i, t := range v.run.Tables {
		if t.Changed, err = ledger.Of(target).HasChanges(ctx, t); err != nil {
			return err
		}
		if feeds[i], err = v.feed(ctx, t); err != nil {
			return err
		}
	}
	if err := parallel(ctx, v.others, func(ctx context.Context, c *chunk.Conns) error {
		for _, f := range feeds {
			w := Work{Table: f.table, Sets: slices.DeleteFunc(slices.Clone(v.sets), func(m *Multiset) bool { return !m.takes(f.table) })}
			if err := v.chunks(ctx, w, f, c); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	found, rows := make([]*Findings, len(feeds)), make([]report.Table, len(feeds))
	if err := parallelEach(ctx, v.others, len(feeds), func(ctx context.Context, c *chunk.Conns, i int) (err error) {
		found[i] = feeds[i].total
		rows[i], err = v.table(ctx, c, feeds[i])
		return err
	}); err != nil {
		return err
	}
	for _, f := range found {
		v.addFailures(f)
	}
	v.report.Tables = rows
	if err := v.multisets(ctx, found); err != nil {
		return err
	}
	if err := v.joined(ctx); err != nil {
		return err
	}
	if err := v.tables(ctx, target, found); err != nil {
		return err
	}
	triggers, err := v.newPreflight(v.others[0]).running(ctx)
	if err != nil {
		return err
	}
	v.report.Open = append(v.openInPlan(), triggers...)
	v.references(found)
	if err := v.witness(ctx); err != nil {
		return err
	}
	for i, t := range v.run.Tables {
		left, err := v.leftovers(ctx, v.others[0], t, found[i])
		if err != nil {
			return err
		}
		v.report.Open = append(v.report.Open, left...)
	}
	if err := v.inherited(ctx, v.others[0]); err != nil {
		return err
	}
	if err := v.decided(ctx, ledger.Of(target)); err != nil {
		return err
	}
	return v.assert(ctx, target)
}

// feed returns one of a source table.
func (v *verifying) feed(ctx context.Context, t *ledger.SourceTable) (*verifyFeed, error) {
	all, err := ledger.Of(v.first.Target).Done(ctx, t, ledger.PhaseMint)
	return &verifyFeed{
		table: t, minted: all, total: NewFindings(), edges: map[int64][2]int64{}, progress: v.progress(ledger.PhaseVerify, t, 0, all.Read), pace: v.Pace(),
	}, err
}

// table looks at one table of one source as a whole, whose rows were compared.
func (v *verifying) table(ctx context.Context, c *chunk.Conns, f *verifyFeed) (row report.Table, err error) {
	t, total := f.table, f.total
	f.began.Do(f.progress.begin)
	if t.Table.Empty {
		n, err := v.countSource(ctx, c, t)
		f.progress.end()
		return report.Table{Table: t.Table.Name, Source: t.Source, Rows: n, Dropped: n}, err
	}
	f.ascends()
	if err := v.source(ctx, c, t, f.last, total); err != nil {
		return row, err
	}
	if err := v.linked(ctx, ledger.Of(c.Target), t, total); err != nil {
		return row, err
	}
	if t.Key >= 0 {
		if err := v.mapOf(ctx, c.Target, t, total); err != nil {
			return row, err
		}
	}
	row = report.Table{
		Table: t.Table.Name, Source: t.Source, Rows: total.Read, Copied: total.Written, Rekeyed: total.Rekeyed, Merged: total.Merged,
		Dropped: total.Dropped, Renamed: total.Renamed, Displacement: time.Duration(f.minted.Late) * time.Microsecond,
		Hash: total.Want.String(), Found: total.Found.String(),
	}
	if t.Rekeys {
		row.IDs = cmp.Or(t.Ids.IDs, plan.IDsSnow)
	}
	switch {
	case t.Rekeys && t.Ids.IDs == plan.IDsOffset:
		row.Offset = &t.Ids.Offset
	case t.Rekeys && !t.Ids.IDs.AreNumbers():
		row.Worker = &t.Ids.Worker
	}
	f.progress.event.Rows = total.Read
	f.progress.end()
	return row, nil
}

// addFailures reports what was found to be wrong.
func (v *verifying) addFailures(found *Findings) {
	for _, f := range found.Failures {
		v.report.Add(f)
	}
	v.report.Failed += found.failed - int64(len(found.Failures))
}

// linked sees to it that the references which were NULL at first are set.
func (v *verifying) linked(ctx context.Context, l ledger.Ledger, t *ledger.SourceTable, total *Findings) error {
	if !slices.ContainsFunc(v.Stages, func(st plan.Stage) bool { return st.Table == t.Table && len(st.Deferred) > 0 }) {
		return nil
	}
	open, err := l.Pending(ctx, t, ledger.PhaseLink, 0, 1)
	if err == nil && len(open) > 0 {
		total.Fail(t.Failure(report.CheckComplete, open[0].Hi, "references of the rows up to this one are not set"))
	}
	return err
}

// chunks compares chunks of a table until there are no more, in one of several goroutines.
func (v *verifying) chunks(ctx context.Context, w Work, feed *verifyFeed, c *chunk.Conns) error {
	if feed.isEmpty() {
		return nil
	}
	feed.began.Do(feed.progress.begin)
	w.Job, w.Run, w.Conns, w.Pages, w.Sound = v.Job, v.run, c, v.pages[c], v.sound
	x, err := v.NewExecutor(ctx, w)
	if err != nil {
		return err
	}
	defer x.Close()
	for {
		if err := v.Pause(ctx); err != nil {
			return err
		}
		tasks, err := feed.next(ctx, ledger.Of(c.Target))
		if err != nil || len(tasks) == 0 {
			return err
		}
		start := time.Now()
		found, err := x.Compare(ctx, tasks)
		if err != nil {
			return err
		}
		feed.done(tasks, found, time.Since(start))
	}
}

// A verifyFeed gives out the chunks of a table, and adds up what is found in
// them. It is safe for concurrent use.
type verifyFeed struct {
	table    *ledger.SourceTable
	minted   ledger.Chunk // all chunks of phase mint together
	progress *Progress
	began    sync.Once
	pace     *chunk.Pace // of rows that are read

	mu    sync.Mutex
	empty bool         // there are no more chunks
	last  ledger.Chunk // that was read
	tasks []Task       // that are not given out yet
	total *Findings
	edges map[int64][2]int64 // the first and the last new id of chunks
}

// next returns chunks that follow on each other, or one if they can't be joined.
// None means that there are no more.
func (f *verifyFeed) next(ctx context.Context, l ledger.Ledger) ([]Task, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.tasks) == 0 {
		if more, err := f.read(ctx, l); err != nil || !more {
			f.empty = err == nil
			return nil, err
		}
	}
	n, rows, most := 1, f.tasks[0].Mint.Read, int64(f.pace.Size())
	if f.table.Content != nil {
		most = 0 // a chunk is large
	}
	joinable := func(t, before Task) bool {
		return t.Mint.Seq == before.Mint.Seq+1 && rows+t.Mint.Read <= most
	}
	for ; n < len(f.tasks) && joinable(f.tasks[n], f.tasks[n-1]); n++ {
		rows += f.tasks[n].Mint.Read
	}
	tasks := f.tasks[:n:n]
	f.tasks = f.tasks[n:]
	return tasks, nil
}

// isEmpty reports whether there are no more chunks.
func (f *verifyFeed) isEmpty() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.empty
}

// ascends sees to it that the ids of each chunk are above those of the chunks before.
func (f *verifyFeed) ascends() {
	above := int64(0)
	for _, seq := range slices.Sorted(maps.Keys(f.edges)) {
		if edge := f.edges[seq]; edge[0] <= above {
			failure := f.table.Failure(report.CheckOrder, nil, "the id is not above that of the row before, %d", above)
			failure.Target = sqlvalue.FormatKey([]any{edge[0]})
			f.total.Fail(failure)
		}
		above = max(above, f.edges[seq][1])
	}
}

// read reads chunks that come next, and reports whether there were any.
func (f *verifyFeed) read(ctx context.Context, l ledger.Ledger) (bool, error) {
	minted, err := l.Chunks(ctx, f.table, ledger.PhaseMint, f.last.Seq, 100)
	if err != nil || len(minted) == 0 {
		return false, err
	}
	copied, err := l.Chunks(ctx, f.table, ledger.PhaseCopy, f.last.Seq, 100)
	if err != nil {
		return false, err
	}
	broken := func(m ledger.Chunk, reason string) {
		f.total.Fail(f.table.Failure(report.CheckComplete, m.Hi, "%s", reason))
	}
	for _, m := range minted {
		if m.Seq != f.last.Seq+1 || sqlvalue.FormatKey(m.Lo) != sqlvalue.FormatKey(f.last.Hi) {
			broken(m, "the ledger has lost the rows before those up to this one")
		}
		f.last = m
		if i := slices.IndexFunc(copied, func(c ledger.Chunk) bool { return c.Seq == m.Seq }); i >= 0 {
			f.tasks = append(f.tasks, Task{m, copied[i]})
		} else {
			broken(m, "the rows up to this one are not copied")
		}
	}
	return true, nil
}

// done takes over what was found in chunks.
func (f *verifyFeed) done(tasks []Task, found *Findings, took time.Duration) {
	if f.table.Content == nil {
		f.pace.Observe(int(found.Read), found.Bytes, took)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.total.Add(found)
	if found.First != 0 {
		f.edges[tasks[0].Mint.Seq] = [2]int64{found.First, found.Last}
	}
	if found.Read > 0 {
		f.progress.Chunk(int(found.Read), 0)
	}
}
