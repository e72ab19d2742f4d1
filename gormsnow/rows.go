package gormsnow

import (
	"database/sql/driver"
	"fmt"
	"reflect"
	"strconv"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
)

// A slot holds one key of one row: a field of a struct or an entry of a map.
type slot struct {
	key    *schema.Field
	record reflect.Value // the struct; invalid in a map
	field  reflect.Value // in record; settable if that is
	row    map[string]any
	name   string // in row
}

// vacant visits the keys that have no value, row by row. It stops at the first
// error.
func vacant(stmt *gorm.Statement, keys []*schema.Field, visit func(slot) error) error {
	return walk(stmt, keys, true, visit)
}

// each visits all keys, row by row. Keys in copies, which can't be set, have a value
// from the caller. It stops at the first error.
func each(stmt *gorm.Statement, keys []*schema.Field, visit func(slot) error) error {
	return walk(stmt, keys, false, visit)
}

func walk(stmt *gorm.Statement, keys []*schema.Field, vacant bool, visit func(slot) error) error {
	if len(keys) == 0 {
		return nil
	}
	switch rows := stmt.Dest.(type) {
	case map[string]any:
		return eachEntry(stmt, keys, rows, vacant, visit)
	case *map[string]any:
		return eachEntry(stmt, keys, *rows, vacant, visit)
	case []map[string]any:
		return eachMap(stmt, keys, rows, vacant, visit)
	case *[]map[string]any:
		return eachMap(stmt, keys, *rows, vacant, visit)
	}
	switch rows := stmt.ReflectValue; rows.Kind() {
	case reflect.Struct:
		return eachField(stmt, keys, rows, vacant, visit)
	case reflect.Slice, reflect.Array:
		for i := range rows.Len() {
			row := reflect.Indirect(rows.Index(i))
			if !row.IsValid() {
				// GORM's own error, which it returns only for models without hooks.
				return fmt.Errorf("slice data #%d is nil: %w", i, gorm.ErrInvalidData)
			}
			if err := eachField(stmt, keys, row, vacant, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

func eachField(stmt *gorm.Statement, keys []*schema.Field, row reflect.Value, vacant bool, visit func(slot) error) error {
	if row.Type() != stmt.Schema.ModelType {
		return fieldError(stmt.Schema, keys[0], "the value to insert is of type "+row.Type().String()+": pass the same type to Model and Create")
	}
	for _, key := range keys {
		if !row.CanAddr() {
			v, _ := key.ValueOf(stmt.Context, row)
			field := reflect.ValueOf(v)
			if isZero(field) {
				return fieldError(stmt.Schema, key, "it can't be set in a copy: pass a pointer to Create")
			}
			if !vacant {
				if err := visit(slot{key: key, record: row, field: field}); err != nil {
					return err
				}
			}
			continue
		}
		field := fieldOf(stmt, key, row)
		if vacant && !isZero(field) {
			continue
		}
		if err := visit(slot{key: key, record: row, field: field}); err != nil {
			return err
		}
	}
	return nil
}

// fieldOf returns the settable field of a row. If a pointer to an embedded struct
// on the way is nil, it allocates the struct.
func fieldOf(stmt *gorm.Statement, key *schema.Field, row reflect.Value) reflect.Value {
	// For a field that is not embedded this does the same as below, in a fifth of the time.
	if path := key.StructField.Index; len(path) == 1 && path[0] >= 0 {
		return row.Field(path[0])
	}
	return key.ReflectValueOf(stmt.Context, row)
}

func eachMap(stmt *gorm.Statement, keys []*schema.Field, rows []map[string]any, vacant bool, visit func(slot) error) error {
	for _, row := range rows {
		if err := eachEntry(stmt, keys, row, vacant, visit); err != nil {
			return err
		}
	}
	return nil
}

func eachEntry(stmt *gorm.Statement, keys []*schema.Field, row map[string]any, vacant bool, visit func(slot) error) error {
	for _, key := range keys {
		if row == nil {
			return fieldError(stmt.Schema, key, "it can't be set in a nil map")
		}
		name, err := entryName(stmt, key, row)
		if err == nil && !(vacant && !isZeroEntry(key, row[name])) {
			err = visit(slot{key: key, row: row, name: name})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// entryName returns the name that row has for the column of f: GORM accepts the
// name of the column, the name of the field, and any name that the naming strategy
// maps to the column.
func entryName(stmt *gorm.Statement, f *schema.Field, row map[string]any) (string, error) {
	var found bool
	name := f.DBName
	for k := range row {
		if stmt.Schema.LookUpField(k) != f {
			continue
		}
		if found {
			return "", fieldError(stmt.Schema, f, "the map has it under two names")
		}
		name, found = k, true
	}
	return name, nil
}

// isZero reports whether v, or what it points to, is unset.
func isZero(v reflect.Value) bool {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	return !v.IsValid() || v.IsZero()
}

// isZeroEntry is isZero for an entry of a map, which can have any type: NULL of a
// Valuer and the text "0" are no ids either.
func isZeroEntry(key *schema.Field, entry any) bool {
	v := reflect.ValueOf(entry)
	if isZero(v) {
		return true
	}
	if valuer, ok := entry.(driver.Valuer); ok {
		value, err := valuer.Value()
		if err != nil {
			return false // the insert will fail with it
		}
		v = reflect.ValueOf(value)
	}
	v = reflect.Indirect(v)
	return isZero(v) || v.Kind() == reflect.String && v.String() == "0" && key.IndirectFieldType.Kind() != reflect.String
}

// put stores id as the type of the field.
func (s slot) put(id snow.ID) {
	if s.row == nil && s.field.Kind() != reflect.Pointer {
		setID(s.field, id)
		return
	}
	v := reflect.New(s.key.IndirectFieldType)
	setID(v.Elem(), id)
	s.set(v)
}

// set stores what v points to, or zero if v is nil. v is a pointer to the type of
// the field.
func (s slot) set(v reflect.Value) {
	switch {
	case s.row != nil && v.IsNil():
		s.row[s.name] = reflect.Zero(s.key.IndirectFieldType).Interface()
	case s.row != nil:
		s.row[s.name] = v.Elem().Interface()
	case s.field.Kind() == reflect.Pointer:
		// The old variable must not change, because other rows may share it.
		s.field.Set(v)
	case v.IsNil():
		s.field.SetZero()
	default:
		s.field.Set(v.Elem())
	}
}

// value returns the value of the slot.
func (s slot) value() reflect.Value {
	if s.row != nil {
		return reflect.ValueOf(s.row[s.name])
	}
	return s.field
}

// id returns the id in the slot. It is 0 for a text that is none. The entry of a map
// can have any type.
func (s slot) id(stmt *gorm.Statement) (snow.ID, error) {
	if s.row == nil {
		return idOf(s.field), nil
	}
	var id snow.ID
	value, err := driver.DefaultParameterConverter.ConvertValue(s.row[s.name])
	if err == nil {
		err = id.Scan(value)
	}
	if _, text := value.(string); err != nil && !(text && s.key.IndirectFieldType.Kind() == reflect.String) {
		return 0, fieldError(stmt.Schema, s.key, "the shard of "+strconv.Quote(s.name)+" of the map is unknown: "+err.Error())
	}
	return id, nil
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

// idOf returns the id that setID has stored, or zero.
func idOf(v reflect.Value) snow.ID {
	switch v = reflect.Indirect(v); {
	case !v.IsValid():
	case v.CanInt():
		return snow.ID(v.Int())
	case v.CanUint():
		return snow.ID(v.Uint())
	case v.Kind() == reflect.String:
		if id, err := snow.ParseID(v.String()); err == nil {
			return id
		}
	}
	return 0
}
