package analysis

import (
	"reflect"

	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
)

// Route returns the two fields that tell the shard of a row: a key, whose lowest bits are the shard, and the
// field that gives it. They are nil if the model has no shard tag. It is an error if the tags of several keys
// name different fields and no such key is the primary key.
func (m *Model) Route() (key, source *schema.Field, err *Error) {
	for _, k := range m.Keys {
		s := m.Sources[k]
		switch {
		case s == nil:
		case k.PrimaryKey:
			return k, s, nil
		case key == nil:
			key, source = k, s
		case source != s:
			err = newError(k.Schema, k, "its shard tag names "+s.Name+", and that of "+key.Name+" names "+source.Name+": give the primary key a shard tag")
		}
	}
	return key, source, err
}

// A Kind says how a value of a field gives the shard of its row.
type Kind uint8

// Kinds of fields.
const (
	None    Kind = iota
	Carried      // it is an id, whose lowest bits are the shard
	Number       // the hash of an integer
	Text         // the hash of a string
)

// KindOf returns how a field gives the shard. A key carries it, whatever its type is; of other fields, a
// [snow.ID] does.
func KindOf(f *schema.Field, key bool) Kind {
	t := f.IndirectFieldType
	switch {
	case key || t == reflect.TypeFor[snow.ID]():
		return Carried
	case t.Kind() == reflect.String:
		return Text
	}
	return Number
}

// Unchanged is an expression in an assignment that leaves the column as it is.
type Unchanged interface{ Unchanged() }
