package verify

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/report"
)

// chunks compares chunks of a table until there are no more, in one of several goroutines. missing is nil, or it
// has the rows whose names in the table are wanted.
func (v *verifying) chunks(ctx context.Context, f *tableCheck, c *chunk.Conns, missing *multiset) error {
	if !f.Enter() {
		return nil
	}
	x, err := v.newComparer(ctx, f.Table, c)
	if err != nil {
		return err
	}
	if x.missing = missing; missing == nil {
		x.sets = slices.DeleteFunc(slices.Clone(v.sets), func(m *multiset) bool { return !m.takes(f.Table) })
	}
	return f.Each(ctx, v.Job, ledger.Of(c.Target), func(ctx context.Context, tasks []work.Task) (int, error) {
		found, err := x.compareChunk(ctx, tasks[0])
		if err != nil {
			return 0, err
		}
		f.add(tasks[0], found)
		return found.bytes, nil
	})
}

// A tableCheck gives out the chunks of a source table, and adds up what is found in them. It is safe for concurrent
// use.
type tableCheck struct {
	*work.Chunks
	minted ledger.Chunk // all chunks of phase mint together

	mu    sync.Mutex
	last  ledger.Chunk // that was read
	total *findings
	edges map[int64][2]int64 // the first and the last new id of chunks
}

func newTableCheck(t *ledger.SourceTable, minted ledger.Chunk, pace *chunk.Pace, progress *work.Progress) *tableCheck {
	f := &tableCheck{minted: minted, total: newFindings(), edges: map[int64][2]int64{}}
	f.Chunks = &work.Chunks{Table: t, Pace: pace, Progress: progress, Single: true, Read: f.read}
	return f
}

// add adds what was found in a chunk.
func (f *tableCheck) add(t work.Task, found *findings) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.total.add(found)
	if found.first != 0 {
		f.edges[t.Mint.Seq] = [2]int64{found.first, found.last}
	}
}

// ascends tests whether the ids of each chunk are above the ids of the chunks before.
func (f *tableCheck) ascends() {
	above := int64(0)
	for _, seq := range slices.Sorted(maps.Keys(f.edges)) {
		if edge := f.edges[seq]; edge[0] <= above {
			failure := f.Table.Failure(report.CheckOrder, nil, "the id is not above that of the row before, %d", above)
			failure.Target = sqlvalue.FormatKey([]any{edge[0]})
			f.total.fail(failure)
		}
		above = max(above, f.edges[seq][1])
	}
}

// read returns chunks that come next. Chunks that are not copied are failures.
func (f *tableCheck) read(ctx context.Context, l ledger.Ledger) (tasks []work.Task, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(tasks) == 0 {
		minted, err := l.Chunks(ctx, f.Table, ledger.PhaseMint, f.last.Seq, 100)
		if err != nil || len(minted) == 0 {
			return nil, err
		}
		copied, err := l.Chunks(ctx, f.Table, ledger.PhaseCopy, f.last.Seq, 100)
		if err != nil {
			return nil, err
		}
		broken := func(m ledger.Chunk, reason string) {
			f.total.fail(f.Table.Failure(report.CheckComplete, m.Hi, "%s", reason))
		}
		for _, m := range minted {
			if m.Seq != f.last.Seq+1 || sqlvalue.FormatKey(m.Lo) != sqlvalue.FormatKey(f.last.Hi) {
				broken(m, "the ledger has lost the rows before those up to this one")
			}
			f.last = m
			if i := slices.IndexFunc(copied, func(c ledger.Chunk) bool { return c.Seq == m.Seq }); i >= 0 {
				tasks = append(tasks, work.Task{Mint: m, Copied: copied[i]})
			} else {
				broken(m, "the rows up to this one are not copied")
			}
		}
	}
	return tasks, nil
}
