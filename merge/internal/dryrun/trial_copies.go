package dryrun

import (
	"context"
	"errors"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/rekey"
)

// trialTable is the temporary table of a trial.
const trialTable = "snow_merge_trial"

// A copiesTrial compares what a trial inserted with what the database has stored, for the rows of one source of a table
// without a primary key. Nothing tells such rows apart, so it compares sums over all rows, one for each column.
type copiesTrial struct {
	hashers []*chunk.Hasher // of one column each
	want    []chunk.Sum
}

// newCopiesTrial sums up the rows that the temporary table has before rows of the source are added.
func newCopiesTrial(ctx context.Context, f *tableForecast) (c *copiesTrial, err error) {
	c = &copiesTrial{}
	for n := range f.of.Columns {
		c.hashers = append(c.hashers, chunk.NewHasher(f.of.Columns[n:n+1], f.Blobs()))
	}
	c.want, err = c.stored(ctx, f)
	return c, err
}

// add adds the rows that were inserted.
func (c *copiesTrial) add(rows [][]any, refused map[int]error) {
	for i, row := range rows {
		if refused[i] == nil {
			c.addTo(c.want, row)
		}
	}
}

func (c *copiesTrial) addTo(sums []chunk.Sum, row []any) {
	for n, h := range c.hashers {
		sums[n].Add(h.Row(row[n : n+1]))
	}
}

// stored sums up the rows of the temporary table.
func (c *copiesTrial) stored(ctx context.Context, f *tableForecast) ([]chunk.Sum, error) {
	sums := make([]chunk.Sum, len(c.hashers))
	text := "SELECT " + f.Engine.SelectList(f.of.Columns) + " FROM " + f.Engine.Quote(trialTable)
	err := chunk.ReadEach(ctx, f.Engine, f.conns.Target, text, f.of.Columns, nil, func(row []any) { c.addTo(sums, row) })
	return sums, f.Engine.Failed("read the trial of table "+strconv.Quote(f.of.Table.Name), err)
}

// compare tells of the columns whose values the database has stored otherwise.
func (c *copiesTrial) compare(ctx context.Context, f *tableForecast) error {
	if c == nil {
		return nil
	}
	got, err := c.stored(ctx, f)
	if err != nil {
		return err
	}
	for n, column := range f.of.Columns {
		if got[n] != c.want[n] {
			err := errors.New("the target stores values of some rows, which nothing tells from others, as other values")
			f.tell("of some", column.Name, rekey.ColumnError(column.Name, err))
		}
	}
	return nil
}
