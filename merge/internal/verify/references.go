package verify

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// soundReferences returns the columns that refer to rows that exist, in all rows
// of the target. The others are looked at row by row: they may hold more than one id,
// or orphans that were there before the run.
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
