package gormsnow

import (
	"database/sql/driver"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
)

// A slot is the place of one key in one row: a field of a struct or an entry
// of a map.
type slot struct {
	key   *schema.Field
	field reflect.Value // settable; invalid in a map
	row   map[string]any
	name  string // in row
}

// vacant visits the keys that have no value, row by row. It stops at the first
// error. Rows that GORM refuses by itself, such as nil elements, are skipped.
func vacant(stmt *gorm.Statement, keys []*schema.Field, visit func(slot) error) error {
	switch rows := stmt.Dest.(type) {
	case map[string]any:
		return vacantEntries(stmt, keys, rows, visit)
	case *map[string]any:
		return vacantEntries(stmt, keys, *rows, visit)
	case []map[string]any:
		return vacantMaps(stmt, keys, rows, visit)
	case *[]map[string]any:
		return vacantMaps(stmt, keys, *rows, visit)
	}
	switch rows := stmt.ReflectValue; rows.Kind() {
	case reflect.Struct:
		return vacantFields(stmt, keys, rows, visit)
	case reflect.Slice, reflect.Array:
		for i := range rows.Len() {
			row := reflect.Indirect(rows.Index(i))
			if !row.IsValid() {
				continue
			}
			if err := vacantFields(stmt, keys, row, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

func vacantFields(stmt *gorm.Statement, keys []*schema.Field, row reflect.Value, visit func(slot) error) error {
	for _, key := range keys {
		if row.Type() != stmt.Schema.ModelType {
			return fieldError(stmt.Schema, key, "the value to insert is of type "+row.Type().String()+": pass the same type to Model and Create")
		}
		if !row.CanAddr() {
			if v, _ := key.ValueOf(stmt.Context, row); isZero(reflect.ValueOf(v)) {
				return fieldError(stmt.Schema, key, "it can't be set in a copy: pass a pointer to Create")
			}
			continue
		}
		field := key.ReflectValueOf(stmt.Context, row)
		if !isZero(field) {
			continue
		}
		if err := visit(slot{key: key, field: field}); err != nil {
			return err
		}
	}
	return nil
}

func vacantMaps(stmt *gorm.Statement, keys []*schema.Field, rows []map[string]any, visit func(slot) error) error {
	for _, row := range rows {
		if err := vacantEntries(stmt, keys, row, visit); err != nil {
			return err
		}
	}
	return nil
}

func vacantEntries(stmt *gorm.Statement, keys []*schema.Field, row map[string]any, visit func(slot) error) error {
	for _, key := range keys {
		if row == nil {
			return fieldError(stmt.Schema, key, "it can't be set in a nil map")
		}
		// GORM takes a column under several names: its own, the field's, and
		// what the naming strategy maps to it.
		var found bool
		name := key.DBName
		for k := range row {
			if stmt.Schema.LookUpField(k) != key {
				continue
			}
			if found {
				return fieldError(stmt.Schema, key, "the map has it under two names")
			}
			name, found = k, true
		}
		if !isZeroEntry(key, row[name]) {
			continue
		}
		if err := visit(slot{key: key, row: row, name: name}); err != nil {
			return err
		}
	}
	return nil
}

// isZero reports whether v, or what it points to, is unset.
func isZero(v reflect.Value) bool {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	return !v.IsValid() || v.IsZero()
}

// isZeroEntry is isZero for an entry of a map, whose type is the caller's: a
// database also stores no id for NULL of a Valuer, or for the text 0.
func isZeroEntry(key *schema.Field, entry any) bool {
	v := reflect.ValueOf(entry)
	if isZero(v) {
		return true
	}
	if valuer, ok := entry.(driver.Valuer); ok {
		value, err := valuer.Value()
		if err != nil {
			return false // the insert fails by it
		}
		v = reflect.ValueOf(value)
	}
	v = reflect.Indirect(v)
	return isZero(v) || v.Kind() == reflect.String && v.String() == "0" && key.IndirectFieldType.Kind() != reflect.String
}

// put stores id as the type of the field.
func (s slot) put(id snow.ID) {
	if s.row != nil {
		v := reflect.New(s.key.IndirectFieldType).Elem()
		setID(v, id)
		s.row[s.name] = v.Interface()
		return
	}
	if s.field.Kind() != reflect.Pointer {
		setID(s.field, id)
		return
	}
	// A new variable: rows may share the one that they point to.
	s.field.Set(reflect.New(s.key.IndirectFieldType))
	setID(s.field.Elem(), id)
}

func setID(v reflect.Value, id snow.ID) {
	switch {
	case v.CanInt():
		v.SetInt(int64(id))
	case v.CanUint():
		v.SetUint(uint64(id))
	default:
		v.SetString(id.String())
	}
}
