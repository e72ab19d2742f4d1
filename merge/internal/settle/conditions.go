package settle

import (
	"context"
	"fmt"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
)

// ReasonOf returns why a row is left out that meets a condition: the condition's number in the table.
func ReasonOf(t *plan.Table, c *plan.Condition) string {
	for i, other := range t.WithoutRows {
		if other == c {
			return fmt.Sprintf("without_rows %d", i+1)
		}
	}
	return ""
}

// Choose calls do with the keys of the rows of a source table that the conditions of the plan exclude, one batch after
// another. A row of several conditions is of the first one. With a throttle, a statement looks at no more rows than the
// throttle allows, whichever of them are excluded.
func Choose(ctx context.Context, j *work.Job, conns *chunk.Conns, t *ledger.SourceTable, throttle *chunk.Throttle, progress *work.Progress, do func(c *plan.Condition, keys [][]any) error) error {
	part := t.Only(func(*plan.Column) bool { return false })
	pace := j.PaceOf(part)
	var before string // none of the conditions before is true
	for _, c := range t.Conditions() {
		where := before + sqlOf(c)
		before += "CASE WHEN " + sqlOf(c) + " THEN 0 ELSE 1 END = 1 AND "
		rows := work.Rows{Table: part, Conns: conns, Pace: pace, Throttle: throttle, Progress: progress}
		rows.Read = func(ctx context.Context, conns *chunk.Conns, after []any, limit int) (p work.Page, err error) {
			var upto []any // the last row that is looked at; nil for the last one of the table
			if throttle != nil && part.Content == nil {
				between, err := part.Read(ctx, conns, after, nil, limit)
				if p = work.PageOf(part, between); err != nil || p.Seen == 0 {
					return p, err
				}
				upto = p.Last
			}
			chosen, err := part.ReadWhere(ctx, conns, where, after, upto, limit)
			if err != nil {
				return p, fmt.Errorf("without_rows of table %q: %w", t.Table.Name, err)
			}
			if upto == nil {
				return work.PageOf(part, chosen), nil
			}
			p.Rows = chosen
			return p, nil
		}
		err := rows.Each(ctx, j, func(_ context.Context, rows [][]any) (int, error) {
			keys := make([][]any, len(rows))
			for i, row := range rows {
				keys[i] = part.RowKey(row)
			}
			return chunk.SizeOf(rows...), do(c, keys)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sqlOf returns the condition with its exception, in parentheses. A line end closes comments.
func sqlOf(c *plan.Condition) string {
	text := "(" + c.Where + "\n)"
	if c.Except != "" {
		text += " AND NOT (" + c.Except + "\n)"
	}
	return text
}
