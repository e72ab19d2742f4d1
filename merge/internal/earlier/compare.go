package earlier

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/report"
)

// Compare compares what the target's ledger says of earlier merges with the ledgers of the sources.
func Compare(ctx context.Context, j *work.Job, r *ledger.Run, c *chunk.Conns, found *report.Report) error {
	all, err := ledger.ReadEarlier(ctx, ledger.Of(c.Target), j.ID)
	if err != nil {
		return err
	}
	byPath := map[string]*ledger.Earlier{}
	for _, e := range all {
		byPath[e.Path+" "+e.Table] = e
	}
	fail := func(e *ledger.Earlier, reason string) {
		found.Add(report.Failure{Check: report.CheckMap, Source: e.Path, Table: e.Table, Reason: reason})
	}
	for _, source := range j.Plan.Sources {
		tables, err := Find(ctx, j, c, source)
		if errors.Is(err, report.ErrUnfinished) {
			found.Add(report.Failure{Check: report.CheckSource, Source: source, Reason: err.Error()})
			continue
		}
		if err != nil {
			return err
		}
		for _, want := range number(tables, r, source, 0) {
			e := byPath[want.Path+" "+want.Table]
			delete(byPath, want.Path+" "+want.Table)
			if e == nil || e.From != want.From || e.IDs != want.IDs {
				fail(want, "the source's ledger has an earlier merge of it, and the target's ledger has not")
				continue
			}
			if err := sameParts(ctx, j, c, e); errors.Is(err, errDifferent) {
				fail(e, err.Error())
			} else if err != nil {
				return err
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(byPath)) {
		fail(byPath[key], "the target's ledger has an earlier merge of it, and the source's ledger has not")
	}
	return nil
}

var errDifferent = errors.New("what became of its rows in an earlier merge is not the same in the target's ledger as in the source's")

// sameParts returns errDifferent unless the ledgers of the source and of the target have the same rows of an earlier
// merge.
func sameParts(ctx context.Context, j *work.Job, c *chunk.Conns, e *ledger.Earlier) error {
	s, err := c.Source(ctx, e.Source())
	if err != nil {
		return err
	}
	for _, part := range ledger.Parts(c.Engine.Kind) {
		feed := &partFeed{part: part, of: e, source: ledger.Of(s)}
		compare := func(ctx context.Context, want [][]any) (int, error) {
			got, err := part.Read(ctx, ledger.Of(c.Target), e.ID, feed.after)
			if err == nil && (len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want)) {
				err = errDifferent
			}
			return 0, err
		}
		if err := work.Loop(ctx, j, feed, compare); err != nil {
			return err
		}
		if _, err := compare(ctx, nil); err != nil { // the target may have more
			return err
		}
	}
	return nil
}
