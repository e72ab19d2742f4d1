package steps

import (
	"context"
	"errors"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// fill goes through one of the phases that fill the target, table after table:
// copy, which copies rows, or link, which sets the columns that were NULL at first.
func fill(ctx context.Context, w *work.Writer) (err error) {
	all, closeAll, err := writers(ctx, w)
	defer func() { err = errors.Join(err, closeAll()) }()
	if err != nil {
		return err
	}
	pages := work.PagesOf(all)
	total := report.Event{Kind: report.EventPhase, Phase: w.Run.Phase}
	pace := w.Pace()
	var feeds []*feed
	for _, st := range w.Stages {
		if w.Run.Phase == ledger.PhaseLink && len(st.Deferred) == 0 {
			continue
		}
		for _, source := range w.Plan.SourcesOf(st.Table) {
			feed, err := newFeed(ctx, w, w.Run.Table(source, st.Table.Name), st, pace)
			if err != nil {
				return err
			}
			done, all := feed.Progress.Rows()
			total.Rows, total.Total = total.Rows+done, total.Total+all
			feeds = append(feeds, feed)
		}
	}
	if len(feeds) > 0 {
		w.Tell(total)
	}
	feeds = slices.DeleteFunc(feeds, func(f *feed) bool { done, all := f.Progress.Rows(); return done >= all })
	for _, together := range together(feeds, w.Unchecked) {
		if err := work.Parallel(ctx, all, func(ctx context.Context, c *chunk.Conns) error {
			for _, feed := range together {
				if err := fillTable(ctx, w, feed, c, pages[c]); err != nil {
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
func together(feeds []*feed, unchecked bool) (groups [][]*feed) {
	refers := func(f *feed, group []*feed) bool {
		return slices.ContainsFunc(group, func(before *feed) bool {
			return before.Table.Table != f.Table.Table && slices.ContainsFunc(f.Table.Table.ForeignKeys, func(k *plan.ForeignKey) bool {
				return k.Table == before.Table.Table.Name
			})
		})
	}
	for _, f := range feeds {
		if n := len(groups) - 1; n >= 0 && (unchecked || !refers(f, groups[n])) {
			groups[n] = append(groups[n], f)
		} else {
			groups = append(groups, []*feed{f})
		}
	}
	return groups
}

// writers returns the sessions of the goroutines that write at the same time, and what closes them.
func writers(ctx context.Context, w *work.Writer) (all []*chunk.Conns, closeAll func() error, err error) {
	all = []*chunk.Conns{w.Conns} // of one goroutine each
	closeAll = func() (err error) {
		for _, c := range all[1:] {
			err = errors.Join(err, c.Close())
		}
		return err
	}
	for len(all) < w.Writers {
		c, err := w.ConnectWriter(ctx)
		if err != nil {
			return all, closeAll, err
		}
		all = append(all, c)
	}
	return all, closeAll, nil
}

// A feed gives out the chunks of a source table that a phase has not done yet.
type feed struct {
	*work.Chunks
	stage plan.Stage
	last  int64 // the number of the table's last chunk
}

func newFeed(ctx context.Context, w *work.Writer, t *ledger.SourceTable, st plan.Stage, pace *chunk.Pace) (*feed, error) {
	l, phase := ledger.Of(w.Conns.Target), w.Run.Phase
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
	before, err := l.Done(ctx, t, phase)
	progress := w.Progress(phase, t, before.Read, all.Read)
	after := int64(0)
	pending := func(ctx context.Context, l ledger.Ledger) ([]work.Task, error) {
		chunks, err := l.Pending(ctx, t, phase, after, 1000)
		tasks := make([]work.Task, len(chunks))
		for i, c := range chunks {
			tasks[i].Mint, after = c, c.Seq
		}
		return tasks, err
	}
	return &feed{&work.Chunks{Table: t, Pace: pace, Progress: progress, Read: pending, Ended: progress.End}, st, last.Seq}, err
}

// fillTable works until a feed has no more chunks, in one of several goroutines.
func fillTable(ctx context.Context, w *work.Writer, f *feed, conns *chunk.Conns, pages *ledger.Pages) error {
	if !f.Enter() {
		return nil
	}
	own := *w
	own.Conns = conns
	c, err := newCopier(ctx, &own, f.Table, pages)
	if err != nil {
		return err
	}
	defer c.insert.Close()
	c.deferred, c.last = f.stage.Deferred, f.last
	do := c.copy
	if w.Run.Phase == ledger.PhaseLink {
		do = newLinker(c).link
	}
	return f.Each(ctx, w.Job, ledger.Of(conns.Target), func(ctx context.Context, tasks []work.Task) (int, error) {
		chunks := make([]ledger.Chunk, len(tasks))
		for i, t := range tasks {
			chunks[i] = t.Mint
		}
		return do(ctx, chunks)
	})
}
