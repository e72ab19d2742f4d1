package merge

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/sqlsnow"
)

// A fate is what became of a row of a source.
type fate uint8

const (
	missing fate = iota // there is no such row
	kept                // it has the id that it had
	rekeyed             // it has a new id
	merged              // another row stands for it
	dropped             // it is not copied
)

// A successor is the id that references to a row have to have now.
type successor struct {
	id   int64 // of no meaning for rows that are missing or dropped
	fate fate
}

// An entry is a row of snow_merge_map.
type entry struct {
	old, new int64
	kind     int
}

// An idMap says which ids the rows of sources have now: the rows of
// snow_merge_map, and the packs.
type idMap struct {
	engine *dialect.Dialect
	q      chunk.Queryer
}

// idMapOf returns the map that a session of the target has.
func idMapOf(s *chunk.Session) idMap { return idMap{s.Engine, s} }

// maxIDs is how many ids one statement looks for. MariaDB makes a temporary
// table of 1000 and more.
const maxIDs = 900

// find returns the successors of those rows that have an entry, by old ids.
func (m idMap) find(ctx context.Context, t *SourceTable, olds []int64) (map[int64]successor, error) {
	olds = slices.Compact(slices.Sorted(slices.Values(olds)))
	found := make(map[int64]successor, len(olds))
	add := func(old int64, after successor) error { found[old] = after; return nil }
	for part := range slices.Chunk(olds, maxIDs) {
		condition, args := chunk.AnyOf(m.engine, "old_id", part)
		if err := m.rows(ctx, t, condition, args, add); err != nil {
			return nil, err
		}
	}
	if !t.packable {
		return found, nil
	}
	return found, m.inPacks(ctx, t, olds, func(old, id int64) { found[old] = successor{id, rekeyed} })
}

// between is find for all old ids from one up to another.
func (m idMap) between(ctx context.Context, t *SourceTable, from, to int64) (map[int64]successor, error) {
	found := map[int64]successor{}
	condition := "old_id BETWEEN " + m.engine.Placeholder(1) + " AND " + m.engine.Placeholder(2)
	err := m.rows(ctx, t, condition, []any{from, to}, func(old int64, after successor) error { found[old] = after; return nil })
	if err == nil && t.packable {
		err = m.packsBetween(ctx, t, from, to, func(old, id int64) { found[old] = successor{id, rekeyed} })
	}
	return found, err
}

// olds returns the old ids of the rows that have come to have some ids. It is
// for tables that others refer to, which have no packs.
func (m idMap) olds(ctx context.Context, t *SourceTable, ids []int64) (map[int64][]int64, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	found := map[int64][]int64{}
	for part := range slices.Chunk(ids, maxIDs) {
		condition, args := chunk.AnyOf(m.engine, "new_id", part)
		err := m.rows(ctx, t, condition, args, func(old int64, after successor) error {
			found[after.id] = append(found[after.id], old)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// each visits all entries in the order of their old ids: those of each pack in
// their place among the rows.
func (m idMap) each(ctx context.Context, t *SourceTable, visit func(old int64, after successor) error) error {
	condition, next := "TRUE", (*pack)(nil)
	for {
		var err error
		if next, err = m.packAfter(ctx, t, next); err != nil {
			return err
		}
		part := condition
		if next != nil {
			part += " AND old_id < " + strconv.FormatInt(next.olds[0], 10)
		}
		if err := m.rows(ctx, t, part+" ORDER BY old_id", nil, visit); err != nil || next == nil {
			return err
		}
		for i, old := range next.olds {
			if err := visit(old, successor{next.news[i], rekeyed}); err != nil {
				return err
			}
		}
		condition = "old_id > " + strconv.FormatInt(next.lastOld, 10)
	}
}

// count returns how many rows have each fate, of those with old ids above after,
// if it is not nil. It does not count packs.
func (m idMap) count(ctx context.Context, t *SourceTable, after any) (map[fate]int64, error) {
	text, args := "SELECT kind, COUNT(*) FROM snow_merge_map WHERE source_table = "+strconv.FormatInt(t.id, 10), []any(nil)
	if after != nil {
		text, args = text+" AND old_id > "+m.engine.Placeholder(1), []any{after}
	}
	rows, err := m.q.QueryContext(ctx, text+" GROUP BY kind", args...)
	if err != nil {
		return nil, m.engine.Failed("count the map", err)
	}
	defer rows.Close()
	counts := map[fate]int64{}
	for rows.Next() {
		var kind int
		var n int64
		if err := rows.Scan(&kind, &n); err != nil {
			return nil, m.engine.Failed("count the map", err)
		}
		counts[fateOf(kind)] += n
	}
	return counts, m.engine.Failed("count the map", rows.Err())
}

// has returns how many of some ids are old ids, and the highest old id.
func (m idMap) has(ctx context.Context, t *SourceTable, ids []int64) (n int, highest int64, err error) {
	found, err := m.find(ctx, t, ids)
	if err != nil {
		return 0, 0, err
	}
	text := fmt.Sprintf("SELECT COALESCE(MAX(old_id), 0) FROM snow_merge_map WHERE source_table = %d", t.id)
	if err := m.q.QueryRowContext(ctx, text).Scan(&highest); err != nil || !t.packable {
		return len(found), highest, m.engine.Failed("look for old ids", err)
	}
	_, last, err := m.packedRows(ctx, t, "TRUE")
	return len(found), max(highest, last), err
}

func (m idMap) rows(ctx context.Context, t *SourceTable, condition string, args []any, visit func(int64, successor) error) error {
	rows, err := m.q.QueryContext(ctx, "SELECT old_id, COALESCE(new_id, 0), kind FROM snow_merge_map WHERE source_table = "+
		strconv.FormatInt(t.id, 10)+" AND "+condition, args...)
	if err != nil {
		return m.engine.Failed("look up new ids", err)
	}
	defer rows.Close()
	for rows.Next() {
		var old, id int64
		var kind int
		if err := rows.Scan(&old, &id, &kind); err != nil {
			return m.engine.Failed("look up new ids", err)
		}
		if err := visit(old, successor{id, fateOf(kind)}); err != nil {
			return err
		}
	}
	return m.engine.Failed("look up new ids", rows.Err())
}

func fateOf(kind int) fate {
	switch kind {
	case kindMerged:
		return merged
	case kindDropped:
		return dropped
	}
	return rekeyed
}

// A mapWriter inserts rows of snow_merge_map.
type mapWriter struct {
	s    *chunk.Session
	full *sql.Stmt // inserts as many rows as one statement takes
}

func (w *mapWriter) close() {
	if w.full != nil {
		_ = w.full.Close()
	}
}

func (w *mapWriter) write(ctx context.Context, t *SourceTable, entries []entry) error {
	e := w.s.Engine
	if e.Kind == sqlsnow.Postgres {
		return w.writeArrays(ctx, t, entries)
	}
	const width = 4
	for part := range slices.Chunk(entries, chunk.MostInserted) {
		args := make([]any, 0, width*len(part))
		for _, entry := range part {
			var id any = entry.new
			if entry.kind == kindDropped {
				id = nil
			}
			args = append(args, t.id, entry.old, id, entry.kind)
		}
		text := func() string {
			return "INSERT INTO snow_merge_map (source_table, old_id, new_id, kind) VALUES " + e.PlaceholderRows(len(part), width)
		}
		if len(part) < chunk.MostInserted {
			if _, err := w.s.ExecContext(ctx, text(), args...); err != nil {
				return err
			}
			continue
		}
		if w.full == nil {
			var err error
			if w.full, err = w.s.PrepareContext(ctx, text()); err != nil {
				return err
			}
		}
		if _, err := w.full.ExecContext(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// writeArrays does the same with four parameters.
func (w *mapWriter) writeArrays(ctx context.Context, t *SourceTable, entries []entry) error {
	const text = "INSERT INTO snow_merge_map (source_table, old_id, new_id, kind) SELECT CAST($1 AS INT), old, new, kind" +
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
		args := []any{t.id}
		for _, c := range columns {
			args = append(args, "{"+strings.Join(c, ",")+"}")
		}
		if _, err := w.s.ExecContext(ctx, text, args...); err != nil {
			return err
		}
	}
	return nil
}
