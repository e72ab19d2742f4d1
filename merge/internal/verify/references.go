package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// soundReferences returns the columns that refer to rows that exist, in all rows of the target. The others are looked
// at row by row: they may hold more than one id, or orphans that were there before the run. Where all of them were, a
// merge of 400,000 rows between two MariaDBs took 8 % more processor time.
func soundReferences(ctx context.Context, v *verifying) (map[*plan.Column]bool, error) {
	type column struct {
		of *plan.Table
		*plan.Column
	}
	var columns []column
	for _, t := range v.Plan.Tables {
		for _, c := range t.Columns {
			// SQLite's columns may have texts whatever their type
			if !t.Skip && c.Role == plan.RoleReference && sqltype.Of(v.Engine.Kind, c.Type).Kind == sqltype.Integer && v.Engine.Kind != sqlsnow.SQLite {
				columns = append(columns, column{t, c})
			}
		}
	}
	found := make([]bool, len(columns))
	err := work.ParallelEach(ctx, v.others, len(columns), func(ctx context.Context, c *chunk.Conns, i int) (err error) {
		found[i], err = (&rekey.Checker{Engine: c.Target.Engine, Q: c.Target}).AreRows(ctx, v.Plan, columns[i].of, columns[i].Column)
		return err
	})
	sound := map[*plan.Column]bool{}
	for i, c := range columns {
		sound[c.Column] = found[i]
	}
	return sound, err
}

// reportReferences reports the references that were looked up row by row.
func reportReferences(v *verifying, found []*findings) {
	all := newFindings()
	for _, p := range found {
		all.addReferences(p)
		all.seen.Add(p.seen)
	}
	for _, t := range v.Plan.Tables {
		for _, c := range t.Columns {
			if t.Skip || !c.HoldsReferences() {
				continue
			}
			for i, ref := range c.Refers {
				if ref.Table == "" {
					continue
				}
				row := *all.reference(work.RefKey{Column: c, Ref: i})
				row.Table, row.Column, row.Path, row.Value, row.Refers = t.Name, c.Name, ref.Path, ref.Value, ref.Table
				v.report.References = append(v.report.References, row)
			}
		}
	}
	v.report.Open = append(v.report.Open, v.EmptyPaths(all.seen)...)
}

// compareReferences looks for the rows that the target's rows refer to, but for some columns.
func compareReferences(ctx context.Context, x *comparer, rows []rekey.Row, there [][]any, at map[string]int, but []*plan.Column, found *findings) error {
	t := x.table
	for n, c := range t.Columns {
		if !c.HoldsReferences() || slices.Contains(but, c) {
			continue
		}
		f, err := x.rewriter.Column(t, n)
		if err != nil {
			return err
		}
		parents := make([]*plan.Table, len(c.Refers))
		for i, r := range c.Refers {
			if !x.sound[c] { // or all are rows
				parents[i] = x.Plan.Table(r.Table)
			}
		}
		all, bad, err := x.target.References(ctx, f, there, parents)
		if err != nil {
			return err
		}
		for _, err := range bad {
			failure, _ := failureOf(err)
			failure.Row, failure.Target, failure.Check = "", failure.Row, report.CheckReference
			found.fail(failure)
		}
		for _, h := range all {
			ref := found.reference(work.RefKey{Column: c, Ref: h.Ref})
			ref.Checked++
			if !h.Missing || x.sound[c] {
				continue
			}
			ref.Orphans++
			reason, err := orphan(ctx, x, h, parents[h.Ref])
			if err != nil {
				return err
			}
			key := x.all.RowKey(there[h.Row])
			failure := t.Failure(report.CheckReference, nil, "%s", reason)
			failure.Column, failure.Target = c.Name, sqlvalue.FormatKey(key)
			if i, ok := at[x.keyOf(key)]; ok {
				failure.Row = sqlvalue.FormatKey(rows[i].Key)
			}
			found.fail(failure)
		}
		if t.Content == nil {
			found.seen.Reach(t.Source, f)
		}
	}
	return nil
}

// orphan says what is wrong with a reference.
func orphan(ctx context.Context, x *comparer, h rekey.Held, parent *plan.Table) (string, error) {
	reason := fmt.Sprintf("no row of table %q has the id %q", parent.Name, h.Text)
	if !h.Valid {
		return reason, nil
	}
	after, err := rekey.Resolve(ctx, x.rewriter.IDs, nil, x.rewriter.Tables[parent.Name], []int64{h.ID})
	if a := after[h.ID]; a.Fate == ledger.Rekeyed || a.Fate == ledger.Merged {
		reason += fmt.Sprintf(": it is an old id, whose row has %d now", a.ID)
	}
	return reason, err
}
