package phases

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// fill goes through one of the phases that fill the target, table after table:
// copy, which copies rows, or link, which sets the columns that were NULL at first.
func (w *writing) fill(ctx context.Context) (err error) {
	all, closeAll, err := w.writers(ctx)
	defer func() { err = errors.Join(err, closeAll()) }()
	if err != nil {
		return err
	}
	pages := pagesOf(all)
	total := report.Event{Kind: report.EventPhase, Phase: w.run.Phase}
	pace := w.Pace()
	var feeds []*feed
	for _, st := range w.Stages {
		if w.run.Phase == ledger.PhaseLink && len(st.Deferred) == 0 {
			continue
		}
		for _, source := range w.Plan.SourcesOf(st.Table) {
			feed, err := w.feed(ctx, w.run.Table(source, st.Table.Name), st, pace)
			if err != nil {
				return err
			}
			total.Rows, total.Total = total.Rows+feed.progress.event.Rows, total.Total+feed.progress.event.Total
			feeds = append(feeds, feed)
		}
	}
	if len(feeds) > 0 {
		w.tell(total)
	}
	feeds = slices.DeleteFunc(feeds, func(f *feed) bool { return f.progress.event.Rows >= f.progress.event.Total })
	for _, together := range w.together(feeds) {
		if err := parallel(ctx, all, func(ctx context.Context, c *chunk.Conns) error {
			for _, feed := range together {
				if err := w.fillTable(ctx, feed, c, pages[c]); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// together returns feeds as groups of those whose rows may be written at the same time: the target's foreign keys
// ask for the rows of the groups before.
func (w *writing) together(feeds []*feed) (groups [][]*feed) {
	refers := func(f *feed, group []*feed) bool {
		return slices.ContainsFunc(group, func(before *feed) bool {
			return before.table.Table != f.table.Table && slices.ContainsFunc(f.table.Table.ForeignKeys, func(k *plan.ForeignKey) bool {
				return k.Table == before.table.Table.Name
			})
		})
	}
	for _, f := range feeds {
		if n := len(groups) - 1; n >= 0 && (w.Unchecked || !refers(f, groups[n])) {
			groups[n] = append(groups[n], f)
		} else {
			groups = append(groups, []*feed{f})
		}
	}
	return groups
}

// writers returns the sessions of the goroutines that write at the same time, and what closes them.
func (w *writing) writers(ctx context.Context) (all []*chunk.Conns, closeAll func() error, err error) {
	all = []*chunk.Conns{w.conns} // of one goroutine each
	closeAll = func() (err error) {
		for _, c := range all[1:] {
			err = errors.Join(err, c.Close())
		}
		return err
	}
	for len(all) < w.Writers {
		c, err := w.Writer(ctx)
		if err != nil {
			return all, closeAll, err
		}
		all = append(all, c)
	}
	return all, closeAll, nil
}

// pagesOf returns what the goroutine of each of some sessions remembers of the map.
func pagesOf(all []*chunk.Conns) map[*chunk.Conns]*ledger.Pages {
	pages := map[*chunk.Conns]*ledger.Pages{}
	for _, c := range all {
		pages[c] = ledger.NewPages()
	}
	return pages
}

// feed returns one of a source table.
func (w *writing) feed(ctx context.Context, t *ledger.SourceTable, st plan.Stage, pace *chunk.Pace) (*feed, error) {
	l := ledger.Of(w.conns.Target)
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
	before, err := l.Done(ctx, t, w.run.Phase)
	return &feed{table: t, stage: st, phase: w.run.Phase, pace: pace, last: last.Seq, progress: w.progress(w.run.Phase, t, before.Read, all.Read)}, err
}

// fillTable works until a feed has no more chunks, in one of several goroutines.
func (w *writing) fillTable(ctx context.Context, feed *feed, c *chunk.Conns, pages *ledger.Pages) error {
	if !feed.enter() {
		return nil
	}
	x, err := w.NewExecutor(ctx, Work{Job: w.Job, Run: w.run, Table: feed.table, Conns: c, Lease: w.lease, Deferred: feed.stage.Deferred, Last: feed.last, Pages: pages})
	if err != nil {
		return err
	}
	defer x.Close()
	do := x.Copy
	if feed.phase == ledger.PhaseLink {
		do = x.Link
	}
	for {
		if err := w.Pause(ctx); err != nil {
			return err
		}
		chunks, err := feed.next(ctx, ledger.Of(c.Target))
		if err != nil {
			return err
		}
		if len(chunks) == 0 {
			feed.leave()
			return nil
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
	begun    bool
	empty    bool // there are no more chunks
	busy     int  // how many goroutines are at work
}

// enter reports whether there may be work for one more goroutine.
func (f *feed) enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.empty {
		return false
	}
	if !f.begun {
		f.begun = true
		f.progress.begin()
	}
	f.busy++
	return true
}

// leave is told that one of the goroutines got no more chunks.
func (f *feed) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy--; f.busy == 0 {
		f.progress.end()
	}
}

// next returns chunks that follow on each other; none means that there are no more.
func (f *feed) next(ctx context.Context, l ledger.Ledger) ([]ledger.Chunk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.buffer) == 0 {
		var err error
		if f.buffer, err = l.Pending(ctx, f.table, f.phase, f.after, 1000); err != nil || len(f.buffer) == 0 {
			f.empty = err == nil
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
	if f.table.Content == nil { // otherwise most of the time goes by rows that are no part of them
		f.pace.Observe(rows, bytes, took)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.progress.Chunk(rows, took)
}
