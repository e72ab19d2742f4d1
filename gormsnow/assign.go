package gormsnow

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/internal/analysis"
)

// assign gives an id to every key of the statement's rows that has none.
func (p *plugin) assign(stmt *gorm.Statement, m *model) error {
	// Of an earlier insert by the same *gorm.DB.
	dropWitness(stmt)
	delete(stmt.Clauses, issuedName)
	if m.err != nil {
		return m.err
	}
	if err := include(stmt, m.Keys, m.Given); err != nil || len(m.Keys) == 0 {
		return err
	}
	dropRepeated(stmt)
	return p.fill(stmt, m, false)
}

// dropRepeated leaves out pointers that the slice has twice, if the statement updates
// the rows that it meets to the values that it sends. Both rows would have the same id and
// values, so the second would change nothing; PostgreSQL refuses it with SQLSTATE 21000.
func dropRepeated(stmt *gorm.Statement) {
	rows := stmt.ReflectValue
	on, upsert := stmt.Clauses["ON CONFLICT"].Expression.(clause.OnConflict)
	if !upsert || rows.Kind() != reflect.Slice || rows.Len() < 2 || rows.Type().Elem().Kind() != reflect.Pointer {
		return
	}
	computed := slices.ContainsFunc(on.DoUpdates, func(a clause.Assignment) bool {
		c, ok := a.Value.(clause.Column)
		return !ok || c.Table != "excluded" || c.Name != a.Column.Name
	})
	if computed || !on.UpdateAll && len(on.DoUpdates) == 0 {
		return
	}
	seen := make(map[uintptr]bool, rows.Len())
	distinct := reflect.MakeSlice(rows.Type(), 0, rows.Len())
	for i := range rows.Len() {
		if row := rows.Index(i); row.IsNil() || !seen[row.Pointer()] {
			seen[row.Pointer()] = true
			distinct = reflect.Append(distinct, row)
		}
	}
	if distinct.Len() < rows.Len() {
		addressable := reflect.New(rows.Type()).Elem()
		addressable.Set(distinct)
		stmt.ReflectValue = addressable
	}
}

// verify refuses to insert a row without an id, whatever the reason.
func (p *plugin) verify(stmt *gorm.Statement, m *model) error {
	// Again, because hooks may have selected or omitted columns.
	if err := include(stmt, m.Keys, m.Given); err != nil {
		return err
	}
	if m.numbered != nil && stmt.DB.Callback().Create().Get(numberName) == nil {
		return fieldError(stmt.Schema, m.numbered, "it has a number tag, and nothing fills it: call db.Use(gormsnow.Numbers(...))")
	}
	if err := p.verifyShards(stmt, m); err != nil {
		return err
	}
	err := vacant(stmt, m.Keys, func(s slot) error {
		return fieldError(stmt.Schema, s.key, "it has no id at the insert: a hook or callback cleared it")
	})
	if err != nil {
		return err
	}
	err = vacant(stmt, m.Given, func(s slot) error {
		return fieldError(stmt.Schema, s.key, m.Missing[s.key])
	})
	made := issuedTo(stmt)
	if err != nil || made == nil {
		return err
	}
	addWitness(stmt, m)
	if !replacesRows(stmt) {
		return nil
	}
	rows, err := made.locate(stmt, m)
	rows.keep(stmt)
	return err
}

// include makes the statement write the fields even if the caller selected other columns: the database would
// otherwise choose an id of its own.
func include(stmt *gorm.Statement, groups ...[]*schema.Field) error {
	if len(stmt.Selects)+len(stmt.Omits) == 0 {
		return nil
	}
	columns, restricted := stmt.SelectAndOmitColumns(true, false)
	for _, key := range slices.Concat(groups...) {
		switch written, listed := columns[key.DBName]; {
		case listed && !written:
			return fieldError(stmt.Schema, key, "a row can't be inserted without it: take it out of Omit")
		case !listed && restricted:
			// Statements of one session share the array.
			stmt.Selects = append(slices.Clip(stmt.Selects), key.DBName)
		}
	}
	return nil
}

// fill makes ids for the whole statement at once, so that they ascend in the order
// of the rows, and stores them in the rows. If the source fails, no key has
// changed. If the shard of a row is not known yet, fill does nothing; if last, that
// is an error.
func (p *plugin) fill(stmt *gorm.Statement, m *model, last bool) error {
	n, early := 0, false
	err := vacant(stmt, m.Keys, func(s slot) error {
		n++
		known, err := p.checkShard(stmt, m, s, last)
		early = early || !known
		return err
	})
	if err != nil || n == 0 || early {
		return err
	}
	made := newIssued(n)
	if err := p.draw(stmt.Context, made.ids, p.shardBits(m)); err != nil {
		return fmt.Errorf("assign %d ids to %s: %w", n, analysis.Name(stmt.Schema), err)
	}
	i := 0
	err = vacant(stmt, m.Keys, func(s slot) error {
		id, err := p.withShard(stmt, m, s, made.ids[i])
		if err != nil {
			return err
		}
		s.put(id)
		made.ids[i] = id
		i++
		return nil
	})
	stmt.Clauses[issuedName] = clause.Clause{Expression: made}
	return err
}

// draw gets ids from the source and refuses ids that may not be unique. The plugin
// may still change the shard, in the lowest bits, so ids must differ in other bits.
func (p *plugin) draw(ctx context.Context, ids []snow.ID, shardBits uint8) error {
	if err := p.source.Fill(ctx, ids); err != nil {
		return err
	}
	for i, last := 0, snow.ID(0); i < len(ids); i++ {
		if ids[i] <= last || i > 0 && ids[i]>>shardBits == last>>shardBits {
			return fmt.Errorf("%w: %T gave %d after %d", ErrBadSource, p.source, ids[i], last)
		}
		last = ids[i]
	}
	return nil
}
