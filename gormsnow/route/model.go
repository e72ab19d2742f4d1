package route

import (
	"database/sql/driver"
	"math"
	"reflect"
	"strings"

	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/internal/analysis"
)

// A model is what is known about a schema.
type model struct {
	name        string
	layout      snow.Layout
	key, source *schema.Field // nil if the model has no shard; in a join table they may be one field
	ofKey       analysis.Kind
	ofSource    analysis.Kind
	refused     string // why its rows have no shard
	global      bool
}

func newModel(s *schema.Schema, layout snow.Layout) *model {
	m := &model{name: analysis.Name(s), layout: layout}
	tags := analysis.Of(s)
	var err *analysis.Error
	if m.key, m.source, err = tags.Route(); err == nil {
		err = tags.Err
	}
	if err != nil {
		m.refused = "field " + err.Field + " of " + err.Model + ": " + err.Reason
	} else if m.key != nil {
		m.ofKey, m.ofSource = analysis.Carried, analysis.KindOf(m.source, false)
	}
	return m
}

func (m *model) sharded() bool { return m.key != nil || m.refused != "" }

// field returns the field of a column that gives the shard, or nil. Databases ignore the case of most names.
func (m *model) field(column string) *schema.Field {
	switch {
	case m.key == nil:
	case strings.EqualFold(column, m.key.DBName):
		return m.key
	case strings.EqualFold(column, m.source.DBName):
		return m.source
	}
	return nil
}

func (m *model) kind(f *schema.Field) analysis.Kind {
	if f == m.key {
		return m.ofKey
	}
	return m.ofSource
}

// columns names the fields that give the shard.
func (m *model) columns() string {
	if m.key == m.source {
		return m.key.Name
	}
	return m.key.Name + " or " + m.source.Name
}

// sortable names a field that rows can be sorted by.
func (m *model) sortable() string {
	if m.key == nil {
		return "a key"
	}
	return m.key.Name
}

// shard returns the logical shard of the rows whose field f has the value v. It is unknown for NULL, for
// expressions, and for values that the database compares otherwise than Go, such as a text with a number.
func (m *model) shard(f *schema.Field, v any) (shard uint64, known bool) {
	if id, ok := v.(snow.ID); ok && m.kind(f) == analysis.Carried {
		return m.of(uint64(id))
	}
	rv := reflect.ValueOf(v)
	for depth := 0; rv.Kind() == reflect.Pointer && depth < 4; depth++ {
		rv = rv.Elem()
	}
	if !rv.IsValid() {
		return 0, false
	}
	// The plugin hashes the field of a struct as it is, whatever its Value is. Only a value of the same type is
	// surely equal.
	if rv.Type() != f.IndirectFieldType && rv.Type() != reflect.TypeFor[snow.ID]() {
		if reflect.PointerTo(f.IndirectFieldType).Implements(reflect.TypeFor[driver.Valuer]()) && f.IndirectFieldType != reflect.TypeFor[snow.ID]() {
			return 0, false
		}
		if valuer, ok := rv.Interface().(driver.Valuer); ok {
			plain, err := valuer.Value()
			if rv = reflect.ValueOf(plain); err != nil || !rv.IsValid() {
				return 0, false
			}
		}
	}
	switch kind := m.kind(f); {
	case kind == analysis.Text:
		if rv.Kind() == reflect.String {
			return m.of(analysis.Hash(rv))
		}
	case f.IndirectFieldType.Kind() == reflect.String: // a key
		if rv.Kind() != reflect.String {
			return 0, false
		}
		if id, err := snow.ParseID(rv.String()); err == nil {
			return m.of(uint64(id))
		}
	case kind == analysis.Carried && rv.CanInt():
		return m.of(uint64(rv.Int()))
	case kind == analysis.Carried && rv.CanUint():
		if rv.Uint() <= math.MaxInt64 {
			return m.of(rv.Uint())
		}
	case kind == analysis.Number && (rv.CanInt() || rv.CanUint()):
		return m.of(analysis.Hash(rv))
	}
	return 0, false
}

// of returns the lowest bits of an id or a hash.
func (m *model) of(bits uint64) (uint64, bool) { return m.layout.Shard(snow.ID(bits)), true }
