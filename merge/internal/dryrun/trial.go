package dryrun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/clash"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
)

// A trial inserts the rows of a table into a temporary table that is as the target's: so the database itself says
// which it refuses, and which it stores as other values. It is held only for tables that have something which this
// process can't judge, see [trial.reason]. Where ids are new, rows have other ids than a run gives them.
type trial struct {
	*dryRun
	copies *copiesTrial // of rows of the source without a key; nil before the first
}

// rows tries rows of one source, as they would be copied.
func (x *trial) rows(ctx context.Context, f *tableForecast, rows []rekey.Row, verdicts []clash.Verdict) (err error) {
	if f.of.Content != nil && x.copies == nil {
		if x.copies, err = newCopiesTrial(ctx, f); err != nil {
			return err
		}
	}
	var were, are [][]any // in the source, and as they would be copied
	for i, r := range f.replaced(f.columns, rows, f.distinct) {
		if r.New == nil || verdicts[i].Failed != nil || f.unfit[i] {
			continue
		}
		were, are = append(were, r.Old), append(are, x.copied(f, &r, verdicts[i], f.made[i]))
	}
	insert := chunk.NewInserter(x.conns.Target, trialTable, f.of.Columns)
	defer insert.Close()
	hasher := chunk.NewHasher(f.of.Columns, x.Blobs())
	for begin := 0; begin < len(are); begin += chunk.MostInserted {
		end := min(begin+chunk.MostInserted, len(are))
		refused, err := x.write(ctx, insert, are[begin:end])
		if err != nil {
			return err
		}
		for _, i := range slices.Sorted(maps.Keys(refused)) {
			f.tell(f.of.Describe(were[begin+i]), "", x.Engine.Failed("insert", refused[i]))
		}
		if x.copies != nil {
			x.copies.add(are[begin:end], refused)
		} else if err := x.compare(ctx, f, hasher, are[begin:end], were[begin:end], refused); err != nil {
			return err
		}
	}
	return nil
}

// end compares rows without a key.
func (x *trial) end(ctx context.Context, f *tableForecast) error {
	c := x.copies
	x.copies = nil
	return c.compare(ctx, f)
}

// write inserts rows, and returns the ones that the database refuses.
func (x *trial) write(ctx context.Context, insert *chunk.Inserter, rows [][]any) (refused map[int]error, err error) {
	s := x.conns.Target
	within := func(rows [][]any) (cause, err error) {
		if _, err := s.ExecContext(ctx, "SAVEPOINT "+trialTable); err != nil {
			return nil, err
		}
		if cause = insert.Write(ctx, rows); cause != nil {
			if _, err := s.ExecContext(ctx, "ROLLBACK TO SAVEPOINT "+trialTable); err != nil {
				return cause, err
			}
		}
		_, err = s.ExecContext(ctx, "RELEASE SAVEPOINT "+trialTable)
		return cause, err
	}
	if cause, err := within(rows); cause == nil || err != nil {
		return nil, err
	}
	refused = map[int]error{}
	for i := range rows {
		cause, err := within(rows[i : i+1])
		if err != nil {
			return nil, err
		}
		if cause != nil {
			refused[i] = cause
		}
	}
	return refused, nil
}

// compare looks for values that the database has stored otherwise.
func (x *trial) compare(ctx context.Context, f *tableForecast, hasher *chunk.Hasher, rows, were [][]any, refused map[int]error) error {
	var want chunk.Sum
	var by [][]any
	at := map[string]int{}
	for i, row := range rows {
		if refused[i] != nil {
			continue
		}
		want.Add(hasher.Row(row))
		key := f.of.RowKey(row)
		at[sqlvalue.FormatKey(key)] = i
		for n, v := range key {
			key[n] = chunk.FitValue(x.Engine, v, f.of.Columns[f.of.Primary[n]])
		}
		by = append(by, key)
	}
	stored, err := chunk.ReadKeys(ctx, x.Engine, x.conns.Target, trialTable, f.of.Columns, chunk.ColumnsOf(f.of.Table, f.of.Table.RowKey()), by)
	if err != nil {
		return x.Engine.Failed("read the trial of table "+strconv.Quote(f.of.Table.Name), err)
	}
	var got chunk.Sum
	for _, row := range stored {
		got.Add(hasher.Row(row))
	}
	if got == want {
		return nil
	}
	told := false
	for _, row := range stored {
		i, ok := at[sqlvalue.FormatKey(f.of.RowKey(row))]
		if !ok {
			continue
		}
		for n, c := range f.of.Columns {
			if !hasher.Equal(n, rows[i][n], row[n]) {
				told = true
				f.tell(f.of.Describe(were[i]), c.Name, rekey.ColumnError(c.Name, fmt.Errorf("the target stores %s as %s", sqlvalue.Sample(rows[i][n]), sqlvalue.Sample(row[n]))))
			}
		}
	}
	if !told {
		f.tell(f.of.Describe(were[0]), "", errors.New("the target stores the key of this row, or of one of those after it, as another value"))
	}
	return nil
}

// copied returns a row with stand-ins as it would be copied, with the number that is its new id, if it has one.
func (x *trial) copied(f *tableForecast, r *rekey.Row, v clash.Verdict, number int64) []any {
	row := r.New[:len(f.of.Columns)]
	for _, rename := range v.Renames {
		row[f.of.Position(rename.Column.Name)] = rekey.Stored(x.Engine, rename.Column, rename.After)
	}
	switch id, ok := f.id(r.Old); {
	case number != 0:
		row[f.of.Key] = number
	case ok && f.of.Rekeys:
		row[f.of.Key] = f.distinct()(f.of, id)
	}
	return row
}
