package ledger

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

// A Fate is what became of a row of a source.
type Fate uint8

// The fates.
const (
	Missing Fate = iota // there is no such row
	Kept                // it has the id that it had
	Rekeyed             // it has a new id
	Merged              // another row stands for it
	Dropped             // it is not copied
)

// A Successor is the id that references to a row have to have now.
type Successor struct {
	ID   int64 // of no meaning for rows that are missing or dropped
	Fate Fate
}

// An Entry is a row of snow_merge_map.
type Entry struct {
	Old, New int64
	Kind     int
}

// An IDMap says which ids the rows of sources have now: the rows of
// snow_merge_map, and the packs.
type IDMap struct {
	Engine *dialect.Dialect
	Q      chunk.Queryer
}

// MapOf returns the map that a session of the target has.
func MapOf(s *chunk.Session) IDMap { return IDMap{s.Engine, s} }

// MaxIDs is how many ids one statement looks for. MariaDB makes a temporary
// table of 1000 and more.
const MaxIDs = 900

// Find returns the successors of those rows that have an entry, by old ids.
func (m IDMap) Find(ctx context.Context, t *SourceTable, olds []int64) (map[int64]Successor, error) {
	olds = slices.Compact(slices.Sorted(slices.Values(olds)))
	found := make(map[int64]Successor, len(olds))
	add := func(old int64, after Successor) error { found[old] = after; return nil }
	for part := range slices.Chunk(olds, MaxIDs) {
		condition, args := chunk.AnyOf(m.Engine, "old_id", part)
		if err := m.rows(ctx, t, condition, args, add); err != nil {
			return nil, err
		}
	}
	if !t.Packable {
		return found, nil
	}
	return found, m.inPacks(ctx, t, olds, func(old, id int64) { found[old] = Successor{id, Rekeyed} })
}

// Between is find for all old ids from one up to another.
func (m IDMap) Between(ctx context.Context, t *SourceTable, from, to int64) (map[int64]Successor, error) {
	found := map[int64]Successor{}
	condition := "old_id BETWEEN " + m.Engine.Placeholder(1) + " AND " + m.Engine.Placeholder(2)
	err := m.rows(ctx, t, condition, []any{from, to}, func(old int64, after Successor) error { found[old] = after; return nil })
	if err == nil && t.Packable {
		err = m.packsBetween(ctx, t, from, to, func(old, id int64) { found[old] = Successor{id, Rekeyed} })
	}
	return found, err
}

// Olds returns the old ids of the rows that have come to have some ids. It is
// for tables that others refer to, which have no packs.
func (m IDMap) Olds(ctx context.Context, t *SourceTable, ids []int64) (map[int64][]int64, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	found := map[int64][]int64{}
	for part := range slices.Chunk(ids, MaxIDs) {
		condition, args := chunk.AnyOf(m.Engine, "new_id", part)
		err := m.rows(ctx, t, condition, args, func(old int64, after Successor) error {
			found[after.ID] = append(found[after.ID], old)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Each visits all entries in the order of their old ids: those of each pack in
// their place among the rows.
func (m IDMap) Each(ctx context.Context, t *SourceTable, visit func(old int64, after Successor) error) error {
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
			if err := visit(old, Successor{next.news[i], Rekeyed}); err != nil {
				return err
			}
		}
		condition = "old_id > " + strconv.FormatInt(next.lastOld, 10)
	}
}

// Count returns how many rows have each fate, of those with old ids above after,
// if it is not nil. It does not count packs.
func (m IDMap) Count(ctx context.Context, t *SourceTable, after any) (map[Fate]int64, error) {
	text, args := "SELECT kind, COUNT(*) FROM snow_merge_map WHERE source_table = "+strconv.FormatInt(t.ID, 10), []any(nil)
	if after != nil {
		text, args = text+" AND old_id > "+m.Engine.Placeholder(1), []any{after}
	}
	rows, err := m.Q.QueryContext(ctx, text+" GROUP BY kind", args...)
	if err != nil {
		return nil, m.Engine.Failed("count the map", err)
	}
	defer rows.Close()
	counts := map[Fate]int64{}
	for rows.Next() {
		var kind int
		var n int64
		if err := rows.Scan(&kind, &n); err != nil {
			return nil, m.Engine.Failed("count the map", err)
		}
		counts[fateOf(kind)] += n
	}
	return counts, m.Engine.Failed("count the map", rows.Err())
}

// Has returns how many of some ids are old ids, and the highest old id.
func (m IDMap) Has(ctx context.Context, t *SourceTable, ids []int64) (n int, highest int64, err error) {
	found, err := m.Find(ctx, t, ids)
	if err != nil {
		return 0, 0, err
	}
	text := fmt.Sprintf("SELECT COALESCE(MAX(old_id), 0) FROM snow_merge_map WHERE source_table = %d", t.ID)
	if err := m.Q.QueryRowContext(ctx, text).Scan(&highest); err != nil || !t.Packable {
		return len(found), highest, m.Engine.Failed("look for old ids", err)
	}
	_, last, err := m.PackedRows(ctx, t, "TRUE")
	return len(found), max(highest, last), err
}

func (m IDMap) rows(ctx context.Context, t *SourceTable, condition string, args []any, visit func(int64, Successor) error) error {
	rows, err := m.Q.QueryContext(ctx, "SELECT old_id, COALESCE(new_id, 0), kind FROM snow_merge_map WHERE source_table = "+
		strconv.FormatInt(t.ID, 10)+" AND "+condition, args...)
	if err != nil {
		return m.Engine.Failed("look up new ids", err)
	}
	defer rows.Close()
	for rows.Next() {
		var old, id int64
		var kind int
		if err := rows.Scan(&old, &id, &kind); err != nil {
			return m.Engine.Failed("look up new ids", err)
		}
		if err := visit(old, Successor{id, fateOf(kind)}); err != nil {
			return err
		}
	}
	return m.Engine.Failed("look up new ids", rows.Err())
}

func fateOf(kind int) Fate {
	switch kind {
	case KindMerged:
		return Merged
	case KindDropped:
		return Dropped
	}
	return Rekeyed
}

// A MapWriter inserts rows of snow_merge_map.
type MapWriter struct {
	S    *chunk.Session
	full *sql.Stmt // inserts as many rows as one statement takes
}

// Close ends the statement, on which nothing depends any more.
func (w *MapWriter) Close() {
	if w.full != nil {
		_ = w.full.Close()
	}
}

// Write inserts entries of a source table.
func (w *MapWriter) Write(ctx context.Context, t *SourceTable, entries []Entry) error {
	e := w.S.Engine
	if e.Kind == sqlsnow.Postgres {
		return w.writeArrays(ctx, t, entries)
	}
	const width = 4
	for part := range slices.Chunk(entries, chunk.MostInserted) {
		args := make([]any, 0, width*len(part))
		for _, entry := range part {
			var id any = entry.New
			if entry.Kind == KindDropped {
				id = nil
			}
			args = append(args, t.ID, entry.Old, id, entry.Kind)
		}
		text := func() string {
			return "INSERT INTO snow_merge_map (source_table, old_id, new_id, kind) VALUES " + e.PlaceholderRows(len(part), width)
		}
		if len(part) < chunk.MostInserted {
			if _, err := w.S.ExecContext(ctx, text(), args...); err != nil {
				return err
			}
			continue
		}
		if w.full == nil {
			var err error
			if w.full, err = w.S.PrepareContext(ctx, text()); err != nil {
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
func (w *MapWriter) writeArrays(ctx context.Context, t *SourceTable, entries []Entry) error {
	const text = "INSERT INTO snow_merge_map (source_table, old_id, new_id, kind) SELECT CAST($1 AS INT), old, new, kind" +
		" FROM unnest(CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), CAST($4 AS SMALLINT[])) AS rows (old, new, kind)"
	for part := range slices.Chunk(entries, 2000) {
		var columns [3][]string
		for _, entry := range part {
			id := strconv.FormatInt(entry.New, 10)
			if entry.Kind == KindDropped {
				id = "NULL"
			}
			columns[0] = append(columns[0], strconv.FormatInt(entry.Old, 10))
			columns[1] = append(columns[1], id)
			columns[2] = append(columns[2], strconv.Itoa(entry.Kind))
		}
		args := []any{t.ID}
		for _, c := range columns {
			args = append(args, "{"+strings.Join(c, ",")+"}")
		}
		if _, err := w.S.ExecContext(ctx, text, args...); err != nil {
			return err
		}
	}
	return nil
}
