package merge

import (
	"context"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A SourceTable is one table of one source in a run.
type SourceTable struct {
	id      int64 // of its row in snow_merge_source_tables, and of its rows in the other tables
	source  string
	table   *plan.Table
	columns []*plan.Column // that are copied: the source has them and they are not computed
	key     int            // the one of Role key among columns; -1 if there is none
	primary []int          // the primary key among columns
	rekeys  bool           // its rows get new ids
	ids     idRange        // of those

	// mapped is whether the ids of its rows may have changed, so that references to
	// them must be looked up. It is so before the rows are known.
	mapped bool

	// packable is whether its part of the map may have packs, besides rows.
	packable bool

	// changed is whether snow_merge_changes may have rows of it. It is known when
	// the phase mint is over.
	changed bool
}

func newSourceTable(id int64, source string, t *plan.Table) *SourceTable {
	s := &SourceTable{id: id, source: source, table: t, key: -1, rekeys: t.Mints(source), changed: true}
	for _, c := range t.Columns {
		if c.Generated != "" || !c.In(source) {
			continue
		}
		if c.Role == plan.RoleKey {
			s.key = len(s.columns)
		}
		s.mapped = s.mapped || c.DropsRows()
		s.columns = append(s.columns, c)
	}
	for _, name := range t.PrimaryKey {
		s.primary = append(s.primary, s.position(name))
	}
	s.mapped = s.key >= 0 && (s.mapped || s.rekeys || t.Merges())
	return s
}

// only returns the source table with some of its columns: those of the primary
// key, those that want reports true for, and the columns By of those.
func (s *SourceTable) only(want func(c *plan.Column) bool) *SourceTable {
	part := *s
	part.columns, part.primary, part.key = nil, nil, -1
	by := map[string]bool{}
	for _, c := range s.columns {
		if want(c) && c.Role == plan.RolePolymorphic {
			by[c.By] = true
		}
	}
	for _, c := range s.columns {
		if by[c.Name] || slices.Contains(s.table.PrimaryKey, c.Name) || want(c) {
			if c.Role == plan.RoleKey {
				part.key = len(part.columns)
			}
			part.columns = append(part.columns, c)
		}
	}
	for _, name := range s.table.PrimaryKey {
		part.primary = append(part.primary, part.position(name))
	}
	return &part
}

// position returns the index of a column among those that are copied, or -1.
func (s *SourceTable) position(column string) int {
	return slices.IndexFunc(s.columns, func(c *plan.Column) bool { return c.Name == column })
}

// primaryKey returns the primary key of a row.
func (s *SourceTable) primaryKey(values []any) []any {
	key := make([]any, len(s.primary))
	for i, at := range s.primary {
		key[i] = values[at]
	}
	return key
}

// read returns rows of it, see readRange.
func (s *SourceTable) read(ctx context.Context, c *chunk.Conns, after, upto []any, limit int) ([][]any, error) {
	return c.Read(ctx, s.source, s.table, s.columns, after, upto, limit)
}

// rowError says that something is wrong with a row.
func (s *SourceTable) rowError(key []any, err error) error {
	return &report.RowError{Source: s.source, Table: s.table.Name, Row: sqlvalue.FormatKey(key), Err: err}
}
