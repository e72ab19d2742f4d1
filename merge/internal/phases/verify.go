package phases

import (
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

// verifying fills a report.
type verifying struct {
	*Job
	run    *ledger.Run
	report *report.Report
	later  map[string]int64      // rows that later runs have copied, by table
	sound  map[*plan.Column]bool // see work
	first  *chunk.Conns          // for what one goroutine asks of the target
	others []*chunk.Conns        // for rows: those of one goroutine each, or first alone
}

var errNotRun = errors.New("the plan was never run on the target")

// Verify compares the target with what the sources, the plan and the ledger say.
func Verify(ctx context.Context, j *Job) (*report.Report, error) {
	v := &verifying{Job: j, report: &report.Report{Run: j.ID, Sources: j.Plan.Sources, Started: time.Now().UTC()}}
	if err := v.verify(ctx); err != nil {
		return nil, err
	}
	v.report.Finished = time.Now().UTC()
	return v.report, nil
}

func (v *verifying) verify(ctx context.Context) (err error) {
	if v.first, err = v.conns(ctx); err != nil {
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
	if v.run.State != ledger.StateCopied {
		v.report.Add(report.Failure{Check: report.CheckComplete, Reason: "the run has not ended: it is in phase " + v.run.Phase})
		return nil
	}
	if v.sound, err = v.soundReferences(ctx, target); err != nil {
		return err
	}
	v.others = []*chunk.Conns{v.first} // of SQLite there may be one connection only
	if v.Writers > 1 {
		v.others = nil
		for range v.Writers {
			c, err := v.conns(ctx)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.Close()) }()
			v.others = append(v.others, c)
		}
	}
	v.Teller.tell(report.Event{Kind: report.EventPhase, Phase: ledger.PhaseVerify, Total: -1})
	proofs := make([]*Proof, len(v.run.Tables))
	for i, t := range v.run.Tables {
		if t.Changed, err = ledger.Of(target).HasChanges(ctx, t); err != nil {
			return err
		}
		if proofs[i], err = v.table(ctx, t); err != nil {
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

// table compares the rows of one table of one source.
func (v *verifying) table(ctx context.Context, t *ledger.SourceTable) (*Proof, error) {
	total := NewProof()
	total.Counted = true
	l := ledger.Of(v.first.Target)
	all, err := l.Done(ctx, t, ledger.PhaseMint)
	if err != nil {
		return nil, err
	}
	progress := v.progress(ledger.PhaseVerify, t, 0, all.Read)
	progress.begin()
	last, err := v.chunks(ctx, t, total, progress)
	if err != nil {
		return nil, err
	}
	if err := v.beyond(ctx, t, last, total); err != nil {
		return nil, err
	}
	if !total.Counted { // by integers, of which there is but one order
		if err := v.whole(ctx, t, total); err != nil {
			return nil, err
		}
	}
	if err := v.linked(ctx, l, t, total); err != nil {
		return nil, err
	}
	if t.Key >= 0 {
		if err := v.mapOf(ctx, t, last, total); err != nil {
			return nil, err
		}
	}
	for _, f := range total.Failures {
		v.report.Add(f)
	}
	v.report.Failed += total.failed - int64(len(total.Failures))
	row := report.Table{
		Table: t.Table.Name, Source: t.Source, Rows: total.Read, Copied: total.Copied, Rekeyed: total.Rekeyed, Merged: total.Merged,
		Dropped: total.Dropped, Renamed: total.Renamed, Displacement: time.Duration(all.Late) * time.Microsecond,
	}
	if !total.Unhashed {
		row.Hash, row.Found = total.Want.String(), total.Found.String()
	}
	if t.Rekeys {
		row.Worker = &t.Ids.Worker
	}
	v.report.Tables = append(v.report.Tables, row)
	progress.event.Rows = total.Read
	progress.end()
	return total, nil
}

// linked sees to it that the references which were NULL at first are set.
func (v *verifying) linked(ctx context.Context, l ledger.Ledger, t *ledger.SourceTable, total *Proof) error {
	if !slices.ContainsFunc(v.Stages, func(st plan.Stage) bool { return st.Table == t.Table && len(st.Deferred) > 0 }) {
		return nil
	}
	open, err := l.Pending(ctx, t, ledger.PhaseLink, 0, 1)
	if err == nil && len(open) > 0 {
		total.Fail(t.Failure(report.CheckComplete, open[0].Hi, "references of the rows up to this one are not set"))
	}
	return err
}

// A collector adds up the proofs of a table's chunks. It is safe for concurrent use.
type collector struct {
	mu       sync.Mutex
	total    *Proof
	edges    map[int64][2]int64 // the first and the last new id of chunks
	progress *Progress
}

func (c *collector) add(seq int64, p *Proof) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total.Add(p)
	if p.First != 0 {
		c.edges[seq] = [2]int64{p.First, p.Last}
	}
	if p.Read > 0 {
		c.progress.Chunk(int(p.Read), 0)
	}
}

// chunks compares the chunks of a table, several at a time, and returns the last.
func (v *verifying) chunks(ctx context.Context, t *ledger.SourceTable, total *Proof, progress *Progress) (last ledger.Chunk, err error) {
	all := &collector{total: total, edges: map[int64][2]int64{}, progress: progress}
	var executors []Executor
	defer func() {
		for _, x := range executors {
			x.Close()
		}
	}()
	for _, c := range v.others {
		x, err := v.NewExecutor(ctx, Work{Job: v.Job, Run: v.run, Table: t, Conns: c, Sound: v.sound})
		if err != nil {
			return last, err
		}
		executors = append(executors, x)
	}
	feed := &verifyFeed{verifying: v, table: t, all: all, joins: executors[0].Joins()}
	if len(executors) == 1 {
		last, err = feed.run(ctx, func(tasks []Task) error { return compare(ctx, executors[0], tasks, all) })
	} else {
		last, err = v.parallel(ctx, executors, feed)
	}
	if err != nil {
		return last, err
	}
	var above int64
	for _, seq := range slices.Sorted(maps.Keys(all.edges)) {
		if edge := all.edges[seq]; edge[0] <= above {
			f := t.Failure(report.CheckOrder, nil, "the id is not above that of the row before, %d", above)
			f.Target = sqlvalue.FormatKey([]any{edge[0]})
			total.Fail(f)
		}
		above = max(above, all.edges[seq][1])
	}
	return last, nil
}

func compare(ctx context.Context, x Executor, tasks []Task, all *collector) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	found, err := x.Compare(ctx, tasks)
	if err == nil {
		all.add(tasks[0].Mint.Seq, found)
	}
	return err
}

func (v *verifying) parallel(ctx context.Context, executors []Executor, feed *verifyFeed) (last ledger.Chunk, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	tasks := make(chan []Task, len(executors))
	var group sync.WaitGroup
	for _, x := range executors {
		group.Go(func() {
			for t := range tasks {
				if err := compare(ctx, x, t, feed.all); err != nil {
					stop(err) // the first one counts: the others follow from it
				}
			}
		})
	}
	last, err = feed.run(ctx, func(t []Task) error {
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

// A verifyFeed sends the chunks of a table, several that follow on each other
// where the executor takes them.
type verifyFeed struct {
	*verifying
	table *ledger.SourceTable
	all   *collector
	joins bool
	tasks []Task // that are not sent yet
}

// comparedRows is about how many rows are compared at a time, where chunks are joined.
const comparedRows = 10_000

// add appends a task, and sends those before if it can't go with them.
func (f *verifyFeed) add(ctx context.Context, t Task, send func([]Task) error) error {
	rows := t.Mint.Read
	for _, other := range f.tasks {
		rows += other.Mint.Read
	}
	if len(f.tasks) > 0 && (!f.joins || t.Copied.Hash != (chunk.Sum{}) || f.tasks[0].Copied.Hash != (chunk.Sum{}) || rows > comparedRows) {
		if err := f.flush(ctx, send); err != nil {
			return err
		}
	}
	f.tasks = append(f.tasks, t)
	return nil
}

func (f *verifyFeed) flush(ctx context.Context, send func([]Task) error) error {
	if len(f.tasks) == 0 {
		return nil
	}
	if err := f.Pause(ctx); err != nil {
		return err
	}
	err := send(f.tasks)
	f.tasks = nil
	return err
}

// run sends all chunks, and returns the last one.
func (f *verifyFeed) run(ctx context.Context, send func([]Task) error) (last ledger.Chunk, err error) {
	l := ledger.Of(f.first.Target)
	broken := func(m ledger.Chunk, reason string) {
		p := NewProof()
		p.Fail(f.table.Failure(report.CheckComplete, m.Hi, "%s", reason))
		f.all.add(m.Seq, p)
	}
	for {
		minted, err := l.Chunks(ctx, f.table, ledger.PhaseMint, last.Seq, 100)
		if err != nil {
			return last, err
		}
		if len(minted) == 0 {
			return last, f.flush(ctx, send)
		}
		copied, err := l.Chunks(ctx, f.table, ledger.PhaseCopy, last.Seq, 100)
		if err != nil {
			return last, err
		}
		for _, m := range minted {
			before := last
			last = m
			if m.Seq != before.Seq+1 || sqlvalue.FormatKey(m.Lo) != sqlvalue.FormatKey(before.Hi) {
				broken(m, "the ledger has lost the rows before those up to this one")
			}
			i := slices.IndexFunc(copied, func(c ledger.Chunk) bool { return c.Seq == m.Seq })
			if i < 0 {
				broken(m, "the rows up to this one are not copied")
				err = f.flush(ctx, send)
			} else {
				err = f.add(ctx, Task{m, copied[i]}, send)
			}
			if err != nil {
				return last, err
			}
		}
	}
}

// beyond looks for rows of a source that the run has never seen.
func (v *verifying) beyond(ctx context.Context, t *ledger.SourceTable, last ledger.Chunk, total *Proof) error {
	rows, err := t.Read(ctx, v.others[0], last.Hi, nil, 1)
	if err == nil && len(rows) > 0 {
		total.Fail(t.Failure(report.CheckSource, t.PrimaryKey(rows[0]), "the row is new since the run began"))
	}
	return err
}

// whole sees to it that the chunks have all rows of a source, whatever the
// database's order of them is.
func (v *verifying) whole(ctx context.Context, t *ledger.SourceTable, total *Proof) error {
	source, err := v.others[0].Source(ctx, t.Source)
	if err != nil {
		return err
	}
	n, err := chunk.CountRows(ctx, v.Engine, source, t.Table.Name)
	if err == nil && n != total.Read {
		total.Fail(t.Failure(report.CheckSource, nil, "the source has %d rows, and %d of them were read", n, total.Read))
	}
	return dialect.OfSource(t.Source, err)
}
