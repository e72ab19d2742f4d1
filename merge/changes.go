package merge

import (
	"context"
	"database/sql"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
)

// A change is a row of snow_merge_changes.
type change struct {
	row           string // see rowText
	column        string // empty where it is the row as a whole
	kind          string
	seq           int64 // of the chunk in phase mint
	before, after any   // string or nil
}

// changes returns what was changed in rows of a source table.
func (l ledger) changes(ctx context.Context, t *SourceTable, rows []string) (all []change, err error) {
	for part := range slices.Chunk(rows, chunk.MaxIn) {
		args := []any{t.id}
		for _, row := range part {
			args = append(args, row)
		}
		all, err = l.readChanges(ctx, all, "row_key IN "+l.engine.Placeholders(2, len(part)), args)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// renames returns the new names in a source table.
func (l ledger) renames(ctx context.Context, t *SourceTable) ([]change, error) {
	return l.readChanges(ctx, nil, "kind = '"+changeRenamed+"'", []any{t.id})
}

// hasChanges reports whether anything was changed in a source table.
func (l ledger) hasChanges(ctx context.Context, t *SourceTable) (bool, error) {
	var n int
	err := l.q.QueryRowContext(ctx, l.engine.SQL("SELECT COUNT(*) FROM (SELECT 1 FROM snow_merge_changes WHERE source_table = ? LIMIT 1) AS found"), t.id).Scan(&n)
	return n > 0, l.engine.Failed("read the ledger", err)
}

func (l ledger) readChanges(ctx context.Context, all []change, where string, args []any) ([]change, error) {
	text := "SELECT row_key, col, kind, seq, before_value, after_value FROM snow_merge_changes WHERE source_table = " + l.engine.Placeholder(1) + " AND " + where
	rows, err := l.q.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, l.engine.Failed("read the changes", err)
	}
	defer rows.Close()
	for rows.Next() {
		var c change
		var before, after sql.NullString
		if err := rows.Scan(&c.row, &c.column, &c.kind, &c.seq, &before, &after); err != nil {
			return nil, l.engine.Failed("read the changes", err)
		}
		if before.Valid {
			c.before = before.String
		}
		if after.Valid {
			c.after = after.String
		}
		all = append(all, c)
	}
	return all, l.engine.Failed("read the changes", rows.Err())
}

func (l ledger) insertChanges(ctx context.Context, t *SourceTable, changes []change) error {
	const width = 7
	for part := range slices.Chunk(changes, 200) {
		var args []any
		for _, c := range part {
			args = append(args, t.id, c.row, c.column, c.kind, c.seq, c.before, c.after)
		}
		text := "INSERT INTO snow_merge_changes (source_table, row_key, col, kind, seq, before_value, after_value) VALUES " + l.engine.PlaceholderRows(len(part), width)
		if _, err := l.q.ExecContext(ctx, text, args...); err != nil {
			return l.engine.Failed("write the changes", err)
		}
	}
	return nil
}
