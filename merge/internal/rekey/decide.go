package rekey

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/clash"
	"github.com/shardsnow/snow/merge/internal/ledger"
)

// Decide decides which of the rows of a source table are merged into others, and returns a verdict on each row. The
// rows have values for the columns that [clash.Finder.Needs] returns. It writes nothing.
func Decide(ctx context.Context, c *clash.Finder, t *ledger.SourceTable, all []Row) ([]clash.Verdict, error) {
	var rows [][]any
	var at []int // of rows
	for i, r := range all {
		if r.New != nil {
			rows, at = append(rows, r.Old), append(at, i)
		}
	}
	found, err := c.Decide(ctx, t.Table, t.Source, t.Columns, rows)
	if err != nil {
		return nil, err
	}
	verdicts := make([]clash.Verdict, len(all))
	for n, i := range at {
		verdicts[i] = found[n]
		switch r := &all[i]; {
		case found[n].Merged:
			r.New, r.Fate = nil, ledger.Merged
		case t.Rekeys:
			r.Fate = ledger.Rekeyed
		}
	}
	return verdicts, nil
}
