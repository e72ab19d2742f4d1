package merge

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

var (
	errKey  = errors.New("its key is no integer of 64 bits")
	errNull = errors.New("its primary key has a NULL, as SQLite allows: no row can be found by that")
)

func columnError(name string, err error) error { return fmt.Errorf("column %q: %w", name, err) }

// hashText stands for a text that is no key of an index.
func hashText(text string) string {
	h := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(h[:])
}

// A change is a row of snow_merge_changes.
type change struct {
	row           string // see rowText
	column        string // empty where it is the row as a whole
	kind          string
	seq           int64 // of the batch in phase mint
	before, after any   // string or nil
}

// changes returns what was changed in rows of a scope.
func (e *engine) changes(ctx context.Context, q queryer, scope int64, rows []string) ([]change, error) {
	var all []change
	for chunk := range slices.Chunk(rows, maxIn) {
		args := []any{scope}
		for _, row := range chunk {
			args = append(args, row)
		}
		found, err := e.queryChanges(ctx, q, "WHERE scope = "+e.number(1)+" AND row_key IN "+e.places(2, len(chunk)), args)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func (e *engine) queryChanges(ctx context.Context, q queryer, where string, args []any) ([]change, error) {
	rows, err := q.QueryContext(ctx, "SELECT row_key, col, kind, seq, before_value, after_value FROM snow_merge_changes "+where, args...)
	if err != nil {
		return nil, e.failed("read the changes", err)
	}
	defer rows.Close()
	var all []change
	for rows.Next() {
		var c change
		var before, after sql.NullString
		if err := rows.Scan(&c.row, &c.column, &c.kind, &c.seq, &before, &after); err != nil {
			return nil, e.failed("read the changes", err)
		}
		if before.Valid {
			c.before = before.String
		}
		if after.Valid {
			c.after = after.String
		}
		all = append(all, c)
	}
	return all, e.failed("read the changes", rows.Err())
}

func (e *engine) insertChanges(ctx context.Context, q queryer, scope int64, changes []change) error {
	const width = 7
	for chunk := range slices.Chunk(changes, 200) {
		var args []any
		for _, c := range chunk {
			args = append(args, scope, c.row, c.column, c.kind, c.seq, c.before, c.after)
		}
		text := strings.Join([]string{
			"INSERT INTO snow_merge_changes (scope, row_key, col, kind, seq, before_value, after_value) VALUES ", e.manyPlaces(len(chunk), width),
		}, "")
		if _, err := q.ExecContext(ctx, text, args...); err != nil {
			return e.failed("write the changes", err)
		}
	}
	return nil
}
