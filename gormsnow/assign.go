package gormsnow

import (
	"fmt"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
)

// assign gives an id to every key of the statement's rows that has none.
func (p *plugin) assign(stmt *gorm.Statement, m *model) error {
	if m.err != nil {
		return m.err
	}
	if err := include(stmt, m); err != nil || len(m.keys) == 0 {
		return err
	}
	return p.fill(stmt, m.keys)
}

// verify refuses to insert a row without an id, whatever the reason.
func (p *plugin) verify(stmt *gorm.Statement, m *model) error {
	// Once more: hooks may have selected or omitted columns.
	if err := include(stmt, m); err != nil {
		return err
	}
	err := vacant(stmt, m.keys, func(s slot) error {
		return fieldError(stmt.Schema, s.key, "it has no id at the insert: a hook or callback cleared it")
	})
	if err != nil {
		return err
	}
	return vacant(stmt, m.foreign, func(s slot) error {
		return fieldError(stmt.Schema, s.key, "it is the foreign key of an association, and neither is set")
	})
}

// include makes the statement write the keys also where the caller selected
// other columns: the database would otherwise make up an id of its own.
func include(stmt *gorm.Statement, m *model) error {
	if len(stmt.Selects)+len(stmt.Omits) == 0 {
		return nil
	}
	columns, restricted := stmt.SelectAndOmitColumns(true, false)
	for _, key := range slices.Concat(m.keys, m.foreign) {
		switch written, listed := columns[key.DBName]; {
		case listed && !written:
			return fieldError(stmt.Schema, key, "a row can't be inserted without its id: take it out of Omit")
		case !listed && restricted:
			// Statements of one session share the array.
			stmt.Selects = append(slices.Clip(stmt.Selects), key.DBName)
		}
	}
	return nil
}

// fill reserves ids for the whole statement at once, so that they ascend in
// the order of the rows, and puts them into place. Where it fails no key has
// changed.
func (p *plugin) fill(stmt *gorm.Statement, keys []*schema.Field) error {
	n := 0
	err := vacant(stmt, keys, func(slot) error { n++; return nil })
	if err != nil || n == 0 {
		return err
	}
	ids := make([]snow.ID, n)
	if err := p.source.Fill(stmt.Context, ids); err != nil {
		return fmt.Errorf("assign %d ids to %s: %w", n, stmt.Schema.ModelType, err)
	}
	for i, last := 0, snow.ID(0); i < n; i++ {
		if ids[i] <= last {
			return fmt.Errorf("assign %d ids to %s: %w: %T gave %d after %d", n, stmt.Schema.ModelType, ErrBadSource, p.source, ids[i], last)
		}
		last = ids[i]
	}
	return vacant(stmt, keys, func(s slot) error {
		s.put(ids[0])
		ids = ids[1:]
		return nil
	})
}
