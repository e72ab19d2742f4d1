package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/plan"
)

// An IDMap says which ids the rows of sources have now: the rows of
// snow_merge_map, and the packs.
type IDMap struct {
	Ledger
	pages *Pages // nil where nothing is remembered
}

// MapOf returns the map that a session of the target has.
func MapOf(s *chunk.Session) IDMap { return IDMap{Ledger: Of(s)} }

// Find returns the successors of those rows that have an entry, by old ids.
func (m IDMap) Find(ctx context.Context, t *SourceTable, olds []int64) (map[int64]Successor, error) {
	olds = slices.Compact(slices.Sorted(slices.Values(olds)))
	found := make(map[int64]Successor, len(olds))
	rest := olds
	if m.pages != nil {
		var err error
		if rest, err = m.remembered(ctx, t, olds, found); err != nil {
			return nil, err
		}
	}
	err := m.among(ctx, t, "old_id", rest, func(old int64, after Successor) error {
		if _, wanted := slices.BinarySearch(olds, old); wanted {
			found[old] = after
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for t.Packable && m.pages == nil && len(olds) > 0 {
		p, err := packAt(ctx, m.Ledger, t, olds[0])
		if err != nil || p == nil {
			return found, err
		}
		for len(olds) > 0 && olds[0] <= p.lastOld {
			if at, ok := slices.BinarySearch(p.olds, olds[0]); ok {
				found[olds[0]] = Successor{p.news[at], Rekeyed}
			}
			olds = olds[1:]
		}
	}
	return found, nil
}

// HasAll reports that Find returns all rows that have new ids.
func (m IDMap) HasAll() bool { return true }

// Olds maps new ids back to the old ones. It is
// for tables that others refer to, which have no packs.
func (m IDMap) Olds(ctx context.Context, t *SourceTable, ids []int64) (map[int64][]int64, error) {
	found := map[int64][]int64{}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	err := m.among(ctx, t, "new_id", ids, func(old int64, after Successor) error {
		if _, wanted := slices.BinarySearch(ids, after.ID); wanted {
			found[after.ID] = append(found[after.ID], old)
		}
		return nil
	})
	return found, err
}

// among visits the rows of the map that have some ids in a column, and maybe others. The ids ascend and differ.
func (m IDMap) among(ctx context.Context, t *SourceTable, column string, ids []int64, visit func(int64, Successor) error) error {
	return chunk.Runs(m.Engine, column, ids, func(condition string, args []any) error { return m.rows(ctx, t, condition, args, visit) })
}

// Each visits all entries in the order of their old ids: the entries of each pack in
// their place among the rows.
func (m IDMap) Each(ctx context.Context, t *SourceTable, visit func(old int64, after Successor) error) error {
	condition, from := "TRUE", int64(math.MinInt64)
	for {
		next, err := packAt(ctx, m.Ledger, t, from)
		if err != nil {
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
		if next.lastOld == math.MaxInt64 {
			return nil
		}
		condition, from = "old_id > "+strconv.FormatInt(next.lastOld, 10), next.lastOld+1
	}
}

// Page returns entries in the order of their old ids, from one on: at most limit of them, or all of a pack. There
// are none after the last one. Unlike Each it leaves the session free for other statements between two pages.
func (m IDMap) Page(ctx context.Context, t *SourceTable, from int64, limit int) (olds []int64, after []Successor, err error) {
	next, err := packAt(ctx, m.Ledger, t, from)
	if err != nil {
		return nil, nil, err
	}
	condition := "old_id >= ?"
	if next != nil {
		condition += " AND old_id < " + strconv.FormatInt(next.olds[0], 10)
	}
	add := func(old int64, s Successor) error {
		olds, after = append(olds, old), append(after, s)
		return nil
	}
	if err := m.rows(ctx, t, condition+" ORDER BY old_id LIMIT "+strconv.Itoa(limit), []any{from}, add); err != nil || len(olds) > 0 || next == nil {
		return olds, after, err
	}
	for i, old := range next.olds {
		if old >= from {
			_ = add(old, Successor{next.news[i], Rekeyed})
		}
	}
	return olds, after, nil
}

// Count returns how many rows have each fate.
func (m IDMap) Count(ctx context.Context, t *SourceTable) (map[Fate]int64, error) {
	counts := map[Fate]int64{}
	err := m.Query(ctx, "SELECT kind, COUNT(*) FROM snow_merge_map WHERE source_table = ? GROUP BY kind", []any{t.ID}, func(rows *sql.Rows) error {
		var kind, n int64
		err := rows.Scan(&kind, &n)
		counts[fateOf(kind)] = n
		return err
	})
	if err != nil || !t.Packable {
		return counts, err
	}
	inPacks, err := packed(ctx, m.Ledger, t)
	counts[Rekeyed] += inPacks
	return counts, err
}

func (m IDMap) rows(ctx context.Context, t *SourceTable, condition string, args []any, visit func(int64, Successor) error) error {
	text := "SELECT old_id, COALESCE(new_id, 0), kind FROM snow_merge_map WHERE source_table = " + strconv.FormatInt(t.ID, 10) + " AND " + condition
	return m.Query(ctx, text, args, func(rows *sql.Rows) error {
		var old, id, kind int64
		if err := rows.Scan(&old, &id, &kind); err != nil {
			return err
		}
		if kind < 0 || fateOf(kind) > Dropped {
			return fmt.Errorf("%w: row %d of source table %d has kind %d in the map", errLedger, old, t.ID, kind)
		}
		return visit(old, Successor{id, fateOf(kind)})
	})
}

// NewMapWriter returns what inserts rows into the map.
func NewMapWriter(s *chunk.Session) *chunk.Inserter {
	var columns []*plan.Column
	for _, name := range []string{"source_table", "old_id", "new_id", "kind"} {
		columns = append(columns, &plan.Column{Name: name, Type: "bigint"})
	}
	return chunk.NewInserter(s, "snow_merge_map", columns)
}

// MapRow returns what a map writer writes of a row of a source table.
func MapRow(t *SourceTable, old int64, after Successor) []any {
	row := []any{t.ID, old, after.ID, int64(after.Fate - Rekeyed)}
	if after.Fate == Dropped {
		row[2] = nil
	}
	return row
}

// Remember returns the map with pages, which may be nil.
func (m IDMap) Remember(p *Pages) IDMap {
	m.pages = p
	return m
}

// remembered adds the successors that pages and packs in memory have, reading the ones that are worth it, and returns
// the ids that are in none of them.
func (m IDMap) remembered(ctx context.Context, t *SourceTable, olds []int64, found map[int64]Successor) (rest []int64, err error) {
	if t.Packable {
		ends, known := m.pages.packs[t.ID]
		if !known {
			if ends, err = m.packEnds(ctx, t); err != nil {
				return nil, err
			}
			m.pages.packs[t.ID] = ends
		}
		if olds, err = m.pages.findInPacks(t.ID, ends, olds, found, func(ends []int64) ([]*page, error) { return m.packPages(ctx, t, ends) }); err != nil {
			return nil, err
		}
	}
	return m.pages.find(t.ID, olds, found, func(id pageID) (*page, error) { return m.page(ctx, t, id) })
}

// page reads a page.
func (m IDMap) page(ctx context.Context, t *SourceTable, id pageID) (*page, error) {
	read, first := &page{}, id.number<<pageBits
	condition := "old_id BETWEEN " + strconv.FormatInt(first, 10) + " AND " + strconv.FormatInt(first+(1<<pageBits-1), 10) + " ORDER BY old_id"
	err := m.rows(ctx, t, condition, nil, func(old int64, after Successor) error {
		read.olds, read.news, read.fates = append(read.olds, old), append(read.news, after.ID), append(read.fates, after.Fate)
		return nil
	})
	return read, err
}

// packEnds returns the last old ids of the packs of a source table, which ascend.
func (m IDMap) packEnds(ctx context.Context, t *SourceTable) (ends []int64, err error) {
	err = m.Query(ctx, "SELECT last_old FROM snow_merge_packs WHERE source_table = ? ORDER BY last_old", []any{t.ID}, func(rows *sql.Rows) error {
		var end int64
		err := rows.Scan(&end)
		ends = append(ends, end)
		return err
	})
	return ends, err
}

// packPages reads the packs that end with some old ids.
func (m IDMap) packPages(ctx context.Context, t *SourceTable, ends []int64) (all []*page, err error) {
	condition, args := chunk.AnyOf(m.Engine, "last_old", ends)
	err = eachPack(ctx, m.Ledger, t, condition, args, func(p *pack) { all = append(all, &page{olds: p.olds, news: p.news}) })
	return all, err
}
