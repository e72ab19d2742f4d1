package earlier

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/report"
)

// Compare compares what the target's ledger says of earlier merges with the ledgers of the sources.
func Compare(ctx context.Context, j *work.Job, r *ledger.Run, c *chunk.Conns, found *report.Report) error {
	all, err := ledger.Of(c.Target).Earlier(ctx, j.ID)
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
			same, err := sameParts(ctx, c, e)
			if err != nil {
				return err
			}
			if !same {
				fail(e, "what became of its rows in an earlier merge is not the same in the target's ledger as in the source's")
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(byPath)) {
		fail(byPath[key], "the target's ledger has an earlier merge of it, and the source's ledger has not")
	}
	return nil
}

// sameParts reports whether the ledgers of the source and of the target have the same rows of an earlier merge.
func sameParts(ctx context.Context, c *chunk.Conns, e *ledger.Earlier) (bool, error) {
	s, err := c.Source(ctx, e.Source())
	if err != nil {
		return false, err
	}
	for _, part := range ledger.Parts(c.Engine.Kind) {
		for after := []any(nil); ; {
			want, err := part.Read(ctx, ledger.Of(s), e.From, after)
			if err != nil {
				return false, dialect.OfSource(e.Source(), err)
			}
			got, err := part.Read(ctx, ledger.Of(c.Target), e.ID, after)
			if err != nil {
				return false, err
			}
			if !reflect.DeepEqual(got, want) {
				return false, nil
			}
			if len(want) == 0 {
				break
			}
			after = part.Key(want[len(want)-1])
		}
	}
	return true, nil
}
