package ledger

import (
	"context"
	"database/sql"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
)

// A Change is a row of snow_merge_changes.
type Change struct {
	Row           string // see rowText
	Column        string // empty where it is the row as a whole
	Kind          string
	Seq           int64 // of the chunk in phase mint
	Before, After any   // string or nil
}

// Changes returns what was changed in rows of a source table.
func (l Ledger) Changes(ctx context.Context, t *SourceTable, rows []string) (all []Change, err error) {
	for part := range slices.Chunk(rows, chunk.MaxIn) {
		args := []any{t.ID}
		for _, row := range part {
			args = append(args, row)
		}
		all, err = l.readChanges(ctx, all, "row_key IN "+l.Engine.Placeholders(2, len(part)), args)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Renames returns the new names in a source table.
func (l Ledger) Renames(ctx context.Context, t *SourceTable) ([]Change, error) {
	return l.readChanges(ctx, nil, "kind = '"+ChangeRenamed+"'", []any{t.ID})
}

// HasChanges reports whether anything was changed in a source table.
func (l Ledger) HasChanges(ctx context.Context, t *SourceTable) (bool, error) {
	var n int
	err := l.Q.QueryRowContext(ctx, l.Engine.SQL("SELECT COUNT(*) FROM (SELECT 1 FROM snow_merge_changes WHERE source_table = ? LIMIT 1) AS found"), t.ID).Scan(&n)
	return n > 0, l.Engine.Failed("read the ledger", err)
}

func (l Ledger) readChanges(ctx context.Context, all []Change, where string, args []any) ([]Change, error) {
	text := "SELECT row_key, col, kind, seq, before_value, after_value FROM snow_merge_changes WHERE source_table = " + l.Engine.Placeholder(1) + " AND " + where
	rows, err := l.Q.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, l.Engine.Failed("read the changes", err)
	}
	defer rows.Close()
	for rows.Next() {
		var c Change
		var before, after sql.NullString
		if err := rows.Scan(&c.Row, &c.Column, &c.Kind, &c.Seq, &before, &after); err != nil {
			return nil, l.Engine.Failed("read the changes", err)
		}
		if before.Valid {
			c.Before = before.String
		}
		if after.Valid {
			c.After = after.String
		}
		all = append(all, c)
	}
	return all, l.Engine.Failed("read the changes", rows.Err())
}

// InsertChanges writes what was changed in rows of a source table.
func (l Ledger) InsertChanges(ctx context.Context, t *SourceTable, changes []Change) error {
	const width = 7
	for part := range slices.Chunk(changes, 200) {
		var args []any
		for _, c := range part {
			args = append(args, t.ID, c.Row, c.Column, c.Kind, c.Seq, c.Before, c.After)
		}
		text := "INSERT INTO snow_merge_changes (source_table, row_key, col, kind, seq, before_value, after_value) VALUES " + l.Engine.PlaceholderRows(len(part), width)
		if _, err := l.Q.ExecContext(ctx, text, args...); err != nil {
			return l.Engine.Failed("write the changes", err)
		}
	}
	return nil
}
