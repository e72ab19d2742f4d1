package phases

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// filling is one of the phases that fill the target: copy, which copies rows, or
// link, which sets the columns that were NULL at first. It goes table after table.
type filling struct {
	*Job
	run   *ledger.Run
	lease *ledger.Lease
	phase string
	conns []*chunk.Conns // of one goroutine each
}

func (f *filling) fill(ctx context.Context, first *chunk.Conns) (err error) {
	f.conns = []*chunk.Conns{first}
	defer func() {
		for _, c := range f.conns[1:] {
			err = errors.Join(err, c.Close())
		}
	}()
	for len(f.conns) < f.Writers {
		c, err := f.Writer(ctx)
		if err != nil {
			return err
		}
		f.conns = append(f.conns, c)
	}
	total := report.Event{Kind: report.EventPhase, Phase: f.phase}
	pace := f.Pace()
	var feeds []*feed
	for _, st := range f.Stages {
		if f.phase == ledger.PhaseLink && len(st.Deferred) == 0 {
			continue
		}
		for _, source := range f.Plan.SourcesOf(st.Table) {
			feed, err := f.feed(ctx, ledger.Of(first.Target), f.run.Table(source, st.Table.Name), st, pace)
			if err != nil {
				return err
			}
			total.Rows, total.Total = total.Rows+feed.progress.event.Rows, total.Total+feed.progress.event.Total
			feeds = append(feeds, feed)
		}
	}
	f.Teller.tell(total)
	for _, feed := range feeds {
		if feed.progress.event.Rows < feed.progress.event.Total {
			if err := f.drain(ctx, feed); err != nil {
				return err
			}
		}
	}
	return nil
}

// feed returns one of a source table.
func (f *filling) feed(ctx context.Context, l ledger.Ledger, t *ledger.SourceTable, st plan.Stage, pace *chunk.Pace) (*feed, error) {
	var err error
	if t.Changed, err = l.HasChanges(ctx, t); err != nil {
		return nil, err
	}
	last, err := l.LastChunk(ctx, t)
	if err != nil {
		return nil, err
	}
	all, err := l.Done(ctx, t, ledger.PhaseMint)
	if err != nil {
		return nil, err
	}
	before, err := l.Done(ctx, t, f.phase)
	return &feed{table: t, stage: st, phase: f.phase, pace: pace, last: last.Seq, progress: f.progress(f.phase, t, before.Read, all.Read)}, err
}

// drain lets all goroutines work until a feed has no more chunks.
func (f *filling) drain(ctx context.Context, feed *feed) error {
	feed.progress.begin()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var group sync.WaitGroup
	for _, c := range f.conns {
		group.Go(func() {
			if err := f.work(ctx, feed, c); err != nil {
				stop(err) // the first one counts: the others follow from it
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	feed.progress.end()
	return nil
}

func (f *filling) work(ctx context.Context, feed *feed, c *chunk.Conns) error {
	w := Work{Job: f.Job, Run: f.run, Table: feed.table, Conns: c, Lease: f.lease, Deferred: feed.stage.Deferred, Last: feed.last}
	var do func(context.Context, []ledger.Chunk) (int, error)
	if f.phase == ledger.PhaseLink {
		x, err := f.NewLinker(ctx, w)
		if err != nil {
			return err
		}
		defer x.Close()
		do = x.Link
	} else {
		x, err := f.NewExecutor(ctx, w)
		if err != nil {
			return err
		}
		defer x.Close()
		do = x.Copy
	}
	for {
		if err := f.Pause(ctx); err != nil {
			return err
		}
		chunks, err := feed.next(ctx, ledger.Of(c.Target))
		if err != nil || len(chunks) == 0 {
			return err
		}
		start := time.Now()
		bytes, err := do(ctx, chunks)
		if err != nil {
			return err
		}
		feed.done(chunks, bytes, time.Since(start))
	}
}

// A feed gives out the chunks of a source table that a phase has not done yet. It
// is safe for concurrent use.
type feed struct {
	table *ledger.SourceTable
	stage plan.Stage
	phase string
	pace  *chunk.Pace
	last  int64 // the number of the table's last chunk

	mu       sync.Mutex
	after    int64
	buffer   []ledger.Chunk
	progress *Progress
}

// next returns chunks that follow on each other; none means that there are no more.
func (f *feed) next(ctx context.Context, l ledger.Ledger) ([]ledger.Chunk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.buffer) == 0 {
		var err error
		if f.buffer, err = l.Pending(ctx, f.table, f.phase, f.after, 1000); err != nil || len(f.buffer) == 0 {
			return nil, err
		}
	}
	n, rows := 1, f.buffer[0].Read
	for most := int64(f.pace.Size()); n < len(f.buffer) && f.buffer[n].Seq == f.buffer[n-1].Seq+1 && rows+f.buffer[n].Read <= most; n++ {
		rows += f.buffer[n].Read
	}
	chunks := f.buffer[:n:n]
	f.buffer, f.after = f.buffer[n:], chunks[n-1].Seq
	return chunks, nil
}

// done tells of chunks that are done.
func (f *feed) done(chunks []ledger.Chunk, bytes int, took time.Duration) {
	rows := 0
	for _, c := range chunks {
		rows += int(c.Read)
	}
	f.pace.Observe(rows, bytes, took)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.progress.Chunk(rows, took)
}
