package merge

import (
	"slices"

	"github.com/shardsnow/snow/merge/plan"
)

// A scope is one table of one source in a run.
type scope struct {
	id      int64 // of its row in snow_merge_scopes, and of its rows in the other tables
	source  string
	table   *plan.Table
	columns []*plan.Column // that are copied: the source has them and they are not computed
	key     int            // the one of Role key among columns; -1 if there is none
	primary []int          // the primary key among columns
	mints   bool
	lane    lane // of the ids that it mints

	// maps is whether the ids of its rows may have changed, so that references to
	// them must be looked up. It is so before the rows are known.
	maps bool

	// packs is whether its part of the map may have packs, besides rows.
	packs bool

	// changed is whether snow_merge_changes may have rows of it. It is known when
	// the phase mint is over.
	changed bool
}

func newScope(id int64, source string, t *plan.Table) *scope {
	s := &scope{id: id, source: source, table: t, key: -1, mints: t.Mints(source), changed: true}
	for _, c := range t.Columns {
		if c.Generated != "" || !c.In(source) {
			continue
		}
		if c.Role == plan.RoleKey {
			s.key = len(s.columns)
		}
		s.maps = s.maps || c.Orphans == plan.OrphansDrop && c.HoldsReferences()
		s.columns = append(s.columns, c)
	}
	for _, name := range t.PrimaryKey {
		s.primary = append(s.primary, s.position(name))
	}
	s.maps = s.key >= 0 && (s.maps || s.mints || t.Merges())
	return s
}

// only returns the scope with some of its columns: those of the primary key
// and those that want takes, in their order, with those that they go by.
func (s *scope) only(want func(c *plan.Column) bool) *scope {
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

// position returns the place of a column among those that are copied, or -1.
func (s *scope) position(column string) int {
	return slices.IndexFunc(s.columns, func(c *plan.Column) bool { return c.Name == column })
}

// rowKey returns the primary key of a row.
func (s *scope) rowKey(values []any) []any {
	key := make([]any, len(s.primary))
	for i, at := range s.primary {
		key[i] = values[at]
	}
	return key
}
