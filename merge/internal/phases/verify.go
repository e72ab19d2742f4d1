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
	"github.com/shardsnow/snow/merge/internal/dialect"
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
	found := make([]*Findings, len(v.run.Tables))
	for i, t := range v.run.Tables {
		if t.Changed, err = ledger.Of(target).HasChanges(ctx, t); err != nil {
			return err
		}
		if found[i], err = v.table(ctx, t); err != nil {
			return err
		}
	}
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

// table compares the rows of one table of one source.
func (v *verifying) table(ctx context.Context, t *ledger.SourceTable) (*Findings, error) {
	total := NewFindings()
	l := ledger.Of(v.first.Target)
	all, err := l.Done(ctx, t, ledger.PhaseMint)
	if err != nil {
		return nil, err
	}
	progress := v.progress(ledger.PhaseVerify, t, 0, all.Read)
	progress.begin()
	last, err := v.chunks(ctx, Work{Table: t, Sets: slices.DeleteFunc(slices.Clone(v.sets), func(m *Multiset) bool { return !m.takes(t) })}, total, progress)
	if err != nil {
		return nil, err
	}
	if t.Table.Empty {
		n, err := v.countSource(ctx, v.others[0], t)
		progress.end()
		v.report.Tables = append(v.report.Tables, report.Table{Table: t.Table.Name, Source: t.Source, Rows: n, Dropped: n})
		return total, err
	}
	if err := v.source(ctx, t, last, total); err != nil {
		return nil, err
	}
	if err := v.linked(ctx, l, t, total); err != nil {
		return nil, err
	}
	if t.Key >= 0 {
		if err := v.mapOf(ctx, t, total); err != nil {
			return nil, err
		}
	}
	v.addFailures(total)
	row := report.Table{
		Table: t.Table.Name, Source: t.Source, Rows: total.Read, Copied: total.Written, Rekeyed: total.Rekeyed, Merged: total.Merged,
		Dropped: total.Dropped, Renamed: total.Renamed, Displacement: time.Duration(all.Late) * time.Microsecond,
	}
	if !total.Unhashed {
		row.Hash, row.Found = total.Want.String(), total.Found.String()
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
	v.report.Tables = append(v.report.Tables, row)
	progress.event.Rows = total.Read
	progress.end()
	return total, nil
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

// chunks compares the chunks of a table, several at a time, and returns the last.
func (v *verifying) chunks(ctx context.Context, w Work, total *Findings, progress *Progress) (ledger.Chunk, error) {
	t := w.Table
	w.Job, w.Run, w.Sound = v.Job, v.run, v.sound
	feed := &verifyFeed{verifying: v, table: t, total: total, edges: map[int64][2]int64{}, progress: progress, pace: v.Pace()}
	err := parallel(ctx, v.others, func(ctx context.Context, c *chunk.Conns) error {
		w := w
		w.Conns, w.Pages = c, v.pages[c]
		x, err := v.NewExecutor(ctx, w)
		if err != nil {
			return err
		}
		defer x.Close()
		for {
			if err := v.Pause(ctx); err != nil {
				return err
			}
			tasks, err := feed.next(ctx)
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
	})
	if err != nil {
		return feed.last, err
	}
	var above int64
	for _, seq := range slices.Sorted(maps.Keys(feed.edges)) {
		if edge := feed.edges[seq]; edge[0] <= above {
			f := t.Failure(report.CheckOrder, nil, "the id is not above that of the row before, %d", above)
			f.Target = sqlvalue.FormatKey([]any{edge[0]})
			total.Fail(f)
		}
		above = max(above, feed.edges[seq][1])
	}
	return feed.last, nil
}

// A verifyFeed gives out the chunks of a table, and adds up what is found in
// them. It is safe for concurrent use.
type verifyFeed struct {
	*verifying
	table    *ledger.SourceTable
	progress *Progress
	pace     *chunk.Pace // of rows that are read

	mu    sync.Mutex
	last  ledger.Chunk // that was read
	tasks []Task       // that are not given out yet
	total *Findings
	edges map[int64][2]int64 // the first and the last new id of chunks
}

// comparedRows is about how many rows a server compares at a time.
const comparedRows = 10_000

// next returns chunks that follow on each other, or one if they can't be joined.
// None means that there are no more.
func (f *verifyFeed) next(ctx context.Context) ([]Task, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.tasks) == 0 {
		if more, err := f.read(ctx); err != nil || !more {
			return nil, err
		}
	}
	n, rows, most := 1, f.tasks[0].Mint.Read, int64(comparedRows)
	hashed := func(t Task) bool { return t.Copied.Hash != (chunk.Sum{}) }
	switch {
	case f.table.Content != nil:
		most = 0 // a chunk is large
	case hashed(f.tasks[0]):
		most = int64(f.pace.Size())
	}
	joinable := func(t, before Task) bool {
		return t.Mint.Seq == before.Mint.Seq+1 && hashed(t) == hashed(before) && rows+t.Mint.Read <= most
	}
	for ; n < len(f.tasks) && joinable(f.tasks[n], f.tasks[n-1]); n++ {
		rows += f.tasks[n].Mint.Read
	}
	tasks := f.tasks[:n:n]
	f.tasks = f.tasks[n:]
	return tasks, nil
}

// read reads chunks that come next, and reports whether there were any.
func (f *verifyFeed) read(ctx context.Context) (bool, error) {
	l := ledger.Of(f.first.Target)
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
	if tasks[0].Copied.Hash != (chunk.Sum{}) && f.table.Content == nil {
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

// source looks for rows of a source that the run has never seen, and sees to it
// that the chunks have all of its rows, whatever the database's order of them is.
func (v *verifying) source(ctx context.Context, t *ledger.SourceTable, last ledger.Chunk, total *Findings) error {
	rows, err := t.Read(ctx, v.others[0], last.Hi, nil, 1)
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		total.Fail(t.Failure(report.CheckSource, t.RowKey(rows[0]), "the row is new since the run began"))
	}
	source, err := v.others[0].Source(ctx, t.Source)
	if err != nil {
		return err
	}
	n, err := chunk.CountRows(ctx, source.Engine, source, t.Table.Name)
	if err == nil && n != total.Read {
		total.Fail(t.Failure(report.CheckSource, nil, "the source has %d rows, and %d of them were read", n, total.Read))
	}
	return dialect.OfSource(t.Source, err)
}
