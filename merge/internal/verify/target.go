package verify

import (
	"context"
	"database/sql"
	"fmt"
	"math/big"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/report"
)

// checkSource looks for rows of a source that the run has never seen, and tests whether the chunks have all of its
// rows, whatever order the database has.
func checkSource(ctx context.Context, c *chunk.Conns, t *ledger.SourceTable, last ledger.Chunk, total *findings) error {
	rows, err := t.Read(ctx, c, last.Hi, nil, 1)
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		total.fail(t.Failure(report.CheckSource, t.RowKey(rows[0]), "the row is new since the run began"))
	}
	n, err := work.CountSource(ctx, c, t)
	if err == nil && n != total.Read {
		total.fail(t.Failure(report.CheckSource, nil, "the source has %d rows, and %d of them were read", n, total.Read))
	}
	return err
}

// checkMap tests whether the map has each row that changed its id and no other row, and whether the rows are there that
// others were merged into.
func checkMap(ctx context.Context, target *chunk.Session, t *ledger.SourceTable, total *findings) error {
	counts, err := ledger.MapOf(target).Count(ctx, t)
	if err != nil {
		return err
	}
	for _, kind := range []struct {
		name      string
		got, want int64
	}{
		{"have a new id", counts[ledger.Rekeyed], total.Rekeyed},
		{"are merged", counts[ledger.Merged], total.Merged},
		{"are dropped", counts[ledger.Dropped], total.Dropped},
	} {
		if kind.got != kind.want {
			total.fail(t.Failure(report.CheckMap, nil, "the map says that %d rows %s, but the source has %d such rows", kind.got, kind.name, kind.want))
		}
	}
	if counts[ledger.Merged] == 0 {
		return nil
	}
	key := target.Engine.Quote(t.Table.Key().Name)
	text := `SELECT map.old_id, map.new_id FROM snow_merge_map AS map LEFT JOIN ` + target.Engine.Table(t.Table.Name) + ` AS t ON t.` + key + ` = map.new_id
		WHERE map.source_table = ? AND map.kind = 1 AND t.` + key + ` IS NULL ORDER BY map.old_id LIMIT ?`
	return ledger.Of(target).Query(ctx, text, []any{t.ID, report.MaxFailures}, func(rows *sql.Rows) error {
		var was, is int64
		err := rows.Scan(&was, &is)
		f := t.Failure(report.CheckMap, []any{was}, "the row that it was merged into is missing")
		f.Target = sqlvalue.FormatKey([]any{is})
		total.fail(f)
		return err
	})
}

// countTables counts the rows of the target, and tests whether rows of different sources have got one id.
func countTables(ctx context.Context, v *verifying, target *chunk.Session, found []*findings) error {
	var err error
	if v.later, err = ledger.Of(target).WrittenLater(ctx, v.run); err != nil {
		return err
	}
	for _, t := range v.Plan.Tables {
		if t.Skip {
			continue
		}
		row := report.Target{Table: t.Name, Before: v.run.Facts.Rows[t.Name], Later: v.later[t.Name]}
		var rekeyed []int64
		doubtful := false
		for i, s := range v.run.Tables {
			if s.Table == t {
				row.Copied += found[i].Written
				if s.Rekeys {
					doubtful = doubtful || found[i].failed > 0 || slices.ContainsFunc(rekeyed, func(id int64) bool { return shares(v.run, s, id) })
					rekeyed = append(rekeyed, s.ID)
				}
			}
		}
		if row.Rows, err = chunk.CountRows(ctx, target.Engine, target, t.Name); err != nil {
			return err
		}
		v.report.Targets = append(v.report.Targets, row)
		if more := row.Rows - row.Before - row.Copied - row.Later; more != 0 {
			reason := fmt.Sprintf("%d rows are there that no source has", more)
			if more < 0 {
				reason = fmt.Sprintf("%d rows are gone that the target had before", -more)
			}
			v.report.Add(report.Failure{Check: report.CheckRows, Table: t.Name, Reason: reason})
		}
		if !doubtful {
			continue // ids that ascend, and are of ranges that have nothing in common, are not equal
		}
		condition, args := chunk.AnyOf(v.Engine, "source_table", rekeyed)
		text := "SELECT new_id, COUNT(*) FROM snow_merge_map WHERE kind = 0 AND " + condition + " GROUP BY new_id HAVING COUNT(*) > 1"
		if err := ledger.Of(target).Query(ctx, text, args, func(rows *sql.Rows) error {
			var id, n int64
			err := rows.Scan(&id, &n)
			v.report.Add(report.Failure{Check: report.CheckMap, Table: t.Name, Target: sqlvalue.FormatKey([]any{id}), Reason: fmt.Sprintf("%d rows have got this id", n)})
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// shares reports whether two source tables have numbers in common, which never happens within one table.
func shares(r *ledger.Run, s *ledger.SourceTable, id int64) bool {
	other := r.Tables[slices.IndexFunc(r.Tables, func(t *ledger.SourceTable) bool { return t.ID == id })]
	return s.Ids.IDs.AreNumbers() && s.Ids.First < other.Ids.End && other.Ids.First < s.Ids.End
}

// assert compares the caller's numbers.
func assert(ctx context.Context, v *verifying, target *chunk.Session) error {
	if len(v.later) > 0 && len(v.Assertions) > 0 {
		v.report.Open = append(v.report.Open, report.Open{Kind: report.OpenUnchecked, Reason: "assertions are not checked: later runs have copied rows"})
		return nil
	}
	for _, a := range v.Assertions {
		row := report.Assertion{Name: a.Name, Sources: map[string]string{}}
		want, known := new(big.Rat).SetString(v.run.Facts.Assertions[a.Name])
		if !known {
			v.report.Open = append(v.report.Open, report.Open{
				Kind: report.OpenUnchecked, Reason: fmt.Sprintf("assertion %q is not checked: the target was not asked before the run", a.Name),
			})
			continue
		}
		row.Before = work.PrintNumber(want)
		for _, name := range v.Plan.Sources {
			source, err := v.others[0].Source(ctx, name)
			if err != nil {
				return err
			}
			n, err := a.Measure(ctx, source)
			if err != nil {
				return dialect.OfSource(name, err)
			}
			row.Sources[name] = work.PrintNumber(n)
			want.Add(want, n)
		}
		got, err := a.Measure(ctx, target)
		if err != nil {
			return err
		}
		row.Want, row.Got = work.PrintNumber(want), work.PrintNumber(got)
		v.report.Assertions = append(v.report.Assertions, row)
		if got.Cmp(want) != 0 {
			v.report.Add(report.Failure{Check: report.CheckAssertion, Reason: fmt.Sprintf("%s: want %s, got %s", a.Name, row.Want, row.Got)})
		}
	}
	return nil
}
