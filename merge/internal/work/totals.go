package work

import (
	"context"
	"errors"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
)

// CountRows counts the rows of source tables, if anybody listens.
func CountRows(ctx context.Context, j *Job, conns *chunk.Conns, tables []*ledger.SourceTable) (Totals, error) {
	all := Totals{}
	for _, t := range tables {
		if j.Events == nil || t.Table.Empty {
			continue
		}
		n, err := CountSource(ctx, conns, t)
		if err != nil {
			return nil, err
		}
		all[rowsOf{t.Source, t.Table}] = n
	}
	return all, nil
}

// A rowsOf is a key of a source table, for what is known before it is in the ledger.
type rowsOf struct {
	source string
	table  *plan.Table
}

// Totals are how many rows source tables have. It is empty if nobody listens.
type Totals map[rowsOf]int64

// Of returns how many rows a source table has, or -1 if nobody has counted them.
func (all Totals) Of(t *ledger.SourceTable) int64 {
	if n, ok := all[rowsOf{t.Source, t.Table}]; ok {
		return n
	}
	return -1
}

// Sum returns how many rows there are, or -1 if nobody has counted them.
func (all Totals) Sum() int64 {
	if len(all) == 0 {
		return -1
	}
	sum := int64(0)
	for _, n := range all {
		sum += n
	}
	return sum
}

// CountSource counts the rows of a source table.
func CountSource(ctx context.Context, conns *chunk.Conns, t *ledger.SourceTable) (int64, error) {
	source, err := conns.Source(ctx, t.Source)
	if err != nil {
		return 0, err
	}
	n, err := chunk.CountRows(ctx, source.Engine, source, t.Table.Name)
	return n, dialect.OfSource(t.Source, err)
}

// CountSources counts the rows of the sources' tables that a run reads.
func CountSources(ctx context.Context, j *Job) (rows int64, err error) {
	c, err := j.Connect(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, t := range j.Order {
		if t.Empty {
			continue
		}
		for _, source := range j.Plan.SourcesOf(t) {
			n, err := CountSource(ctx, c, ledger.NewSourceTable(0, source, t))
			if err != nil {
				return 0, err
			}
			rows += n
		}
	}
	return rows, nil
}
