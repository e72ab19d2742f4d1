package merge

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/sqlsnow"
)

// An entry is a row of snow_merge_map.
type entry struct {
	old, new int64
	kind     int
}

// insertMap writes rows of snow_merge_map.
func (w *worker) insertMap(ctx context.Context, scope int64, entries []entry) error {
	e := w.merge.engine
	if e.dialect == sqlsnow.Postgres {
		return w.insertArrays(ctx, scope, entries)
	}
	const width = 4
	for part := range slices.Chunk(entries, mostInserted) {
		args := make([]any, 0, width*len(part))
		for _, entry := range part {
			var id any = entry.new
			if entry.kind == kindDropped {
				id = nil
			}
			args = append(args, scope, entry.old, id, entry.kind)
		}
		text := func() string {
			return "INSERT INTO snow_merge_map (scope, old_id, new_id, kind) VALUES " + e.manyPlaces(len(part), width)
		}
		if len(part) < mostInserted {
			if _, err := w.target.ExecContext(ctx, text(), args...); err != nil {
				return err
			}
			continue
		}
		if w.mapped == nil {
			var err error
			if w.mapped, err = w.target.PrepareContext(ctx, text()); err != nil {
				return err
			}
		}
		if _, err := w.mapped.ExecContext(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// insertArrays does the same with three parameters.
func (w *worker) insertArrays(ctx context.Context, scope int64, entries []entry) error {
	const text = "INSERT INTO snow_merge_map (scope, old_id, new_id, kind) SELECT CAST($1 AS INT), old, new, kind" +
		" FROM unnest(CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), CAST($4 AS SMALLINT[])) AS rows (old, new, kind)"
	for part := range slices.Chunk(entries, 2000) {
		var columns [3][]string
		for _, entry := range part {
			id := strconv.FormatInt(entry.new, 10)
			if entry.kind == kindDropped {
				id = "NULL"
			}
			columns[0] = append(columns[0], strconv.FormatInt(entry.old, 10))
			columns[1] = append(columns[1], id)
			columns[2] = append(columns[2], strconv.Itoa(entry.kind))
		}
		args := []any{scope}
		for _, c := range columns {
			args = append(args, "{"+strings.Join(c, ",")+"}")
		}
		if _, err := w.target.ExecContext(ctx, text, args...); err != nil {
			return err
		}
	}
	return nil
}

// indexMap makes it fast to find the old id of a new one, which a run needs where
// unique keys refer to rows that may be merged. Without it, the map is filled in
// half the time.
func (e *engine) indexMap(ctx context.Context, q queryer) error {
	_, err := q.ExecContext(ctx, "CREATE INDEX "+e.ifMissing+" snow_merge_map_new_id ON snow_merge_map (scope, new_id)")
	if sqldialect.Code(err) == "1061" { // MySQL, where it is there
		return nil
	}
	return e.failed("index the map", err)
}
