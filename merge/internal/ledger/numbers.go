package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
)

// Left returns the numbers that runs have left free for later merges, by table, the latest run first.
func (l Ledger) Left(ctx context.Context) (map[string][]Numbers, error) {
	left := map[string][]Numbers{}
	err := l.Query(ctx, "SELECT config FROM snow_merge_runs ORDER BY started_us DESC, run", nil, func(rows *sql.Rows) error {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		var facts Facts
		if err := json.Unmarshal([]byte(text), &facts); err != nil {
			return err
		}
		for table, numbers := range facts.Left {
			left[table] = append(left[table], numbers)
		}
		return nil
	})
	return left, err
}

// SetNumbers stores the first and the last number of the new ids of a source table.
func (l Ledger) SetNumbers(ctx context.Context, t *SourceTable) error {
	_, err := l.Q.ExecContext(ctx, l.Engine.SQL("UPDATE snow_merge_source_tables SET first_number = ?, end_number = ? WHERE source_table = ?"),
		int64(t.Ids.First), int64(t.Ids.End), t.ID)
	return err
}
