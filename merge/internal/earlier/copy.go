package earlier

import (
	"context"
	"strconv"
	"time"

	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/report"
)

// Copy copies what the ledgers of sources say of the merges that made them. So ids from before those merges are found,
// also when the sources are gone. It continues where an earlier process ended.
func Copy(ctx context.Context, w *work.Writer) error {
	l := ledger.Of(w.Conns.Target)
	all, err := ledger.ReadEarlier(ctx, l, w.ID)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		if all, err = adopt(ctx, w, l); err != nil {
			return err
		}
	}
	if len(all) > 0 {
		w.Tell(report.Event{Kind: report.EventPhase, Phase: work.PhaseInherit, Total: -1})
	}
	for _, e := range all {
		progress := w.Progress(work.PhaseInherit, e.SourceTable(w.Engine.Kind), 0, -1)
		progress.Begin()
		for _, part := range ledger.Parts(w.Engine.Kind) {
			if err := copyPart(ctx, w, e, part, progress); err != nil {
				return err
			}
		}
		progress.End()
	}
	return nil
}

// adopt writes down the source tables of earlier merges, with numbers of their own.
func adopt(ctx context.Context, w *work.Writer, l ledger.Ledger) (all []*ledger.Earlier, err error) {
	next, err := l.NextSourceTable(ctx)
	if err != nil {
		return nil, err
	}
	for _, source := range w.Plan.Sources {
		found, err := Find(ctx, w.Job, w.Conns, source)
		if err != nil {
			return nil, err
		}
		all = append(all, number(found, w.Run, source, next)...)
		next += int64(len(found))
	}
	return all, w.Transaction(ctx, "write down earlier merges", func() error { return ledger.InsertEarlier(ctx, l, all) })
}

func copyPart(ctx context.Context, w *work.Writer, e *ledger.Earlier, part ledger.Part, progress *work.Progress) error {
	s, err := w.Conns.Source(ctx, e.Source())
	if err != nil {
		return err
	}
	target := w.Conns.Target
	after, err := part.Last(ctx, ledger.Of(target), e.ID)
	if err != nil {
		return err
	}
	inserter := part.Writer(target)
	defer inserter.Close()
	return work.Loop(ctx, w.Job, &partFeed{part, e, ledger.Of(s), after, progress}, func(ctx context.Context, rows [][]any) (int, error) {
		return 0, w.Transaction(ctx, "copy the ledger of source "+strconv.Quote(e.Source()), func() error { return inserter.Write(ctx, part.Rows(e.ID, rows)) })
	})
}

// A partFeed is a [work.Feed] of the rows of a ledger.
type partFeed struct {
	part     ledger.Part
	of       *ledger.Earlier
	source   ledger.Ledger
	after    []any
	progress *work.Progress
}

// Next reads the next rows.
func (f *partFeed) Next(ctx context.Context) ([][]any, bool, error) {
	rows, err := f.part.Read(ctx, f.source, f.of.From, f.after)
	return rows, len(rows) > 0, dialect.OfSource(f.of.Source(), err)
}

// Done goes on after the rows.
func (f *partFeed) Done(_ context.Context, rows [][]any, _ int, took time.Duration) error {
	f.after = f.part.Key(rows[len(rows)-1])
	f.progress.Chunk(len(rows), took)
	return nil
}
