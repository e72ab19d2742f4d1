package gormsnow

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/internal/analysis"
)

// shardBits returns how many bits of an id of m hold its shard. It is 0 if no key
// of m has a shard tag.
func (p *plugin) shardBits(m *model) uint8 {
	if len(m.Sources) == 0 {
		return 0
	}
	return p.Layout().Bits().Shard
}

// Layout returns the layout of the source, or one without any bits. Package route reads it.
func (p *plugin) Layout() snow.Layout {
	if src, ok := p.source.(interface{ Layout() snow.Layout }); ok {
		return src.Layout()
	}
	return snow.Layout{}
}

// checkSource refuses shard tags if the layout of the source has no shard bits.
func (p *plugin) checkSource(s *schema.Schema, m *model) error {
	for _, key := range m.Keys {
		if m.Sources[key] != nil && p.shardBits(m) == 0 {
			return fieldError(s, key, "its shard tag needs a source of ids whose Layout has shard bits, unlike this "+reflect.TypeOf(p.source).String())
		}
	}
	return nil
}

// checkShard reports whether the shard of s is known. If last, a shard that is not
// known is an error.
func (p *plugin) checkShard(stmt *gorm.Statement, m *model, s slot, last bool) (known bool, err error) {
	source := m.Sources[s.key]
	if source == nil || slices.Contains(m.Keys, source) {
		return true, nil // it needs no shard, or gets the shard of a key that fill sets before it
	}
	_, known, err = p.shardOf(stmt, s, source)
	if err == nil && !known && last {
		err = shardUnset(stmt, s, source)
	}
	return known, err
}

// withShard returns id with the shard of s, if s has a shard tag.
func (p *plugin) withShard(stmt *gorm.Statement, m *model, s slot, id snow.ID) (snow.ID, error) {
	source := m.Sources[s.key]
	if source == nil {
		return id, nil
	}
	shard, _, err := p.shardOf(stmt, s, source)
	if err != nil {
		return 0, err
	}
	return p.Layout().WithShard(id, shard)
}

// verifyShards assigns the ids that had to wait for hooks and belongs-to
// associations, and refuses ids whose shard is not their field's.
func (p *plugin) verifyShards(stmt *gorm.Statement, m *model) error {
	if len(m.Sources) == 0 {
		return nil
	}
	made := issuedTo(stmt)
	if made == nil {
		if err := p.fill(stmt, m, true); err != nil {
			return err
		}
		if made = issuedTo(stmt); made == nil {
			made = new(issued)
		}
	}
	return each(stmt, m.Keys, func(s slot) error {
		source := m.Sources[s.key]
		if source == nil {
			return nil
		}
		id, err := s.id(stmt)
		if err != nil || id == 0 {
			return err
		}
		ours := made.has(id)
		shard, set, err := p.shardOf(stmt, s, source)
		switch want, got := p.Layout().Shard(snow.ID(shard)), p.Layout().Shard(id); {
		case err != nil:
			return err
		case !set && ours:
			return shardUnset(stmt, s, source)
		case !set || want == got:
			return nil
		case ours:
			return fieldError(stmt.Schema, s.key, "it takes its shard from "+source.Name+
				", which a hook or an association has changed: set it before Create, or not at all")
		default:
			return fieldError(stmt.Schema, s.key, fmt.Sprintf(
				"the id %d has the shard %d, and %s has the shard %d, so the row would not be found: give the id that shard with Layout.WithShard, or leave it to the plugin",
				id, got, source.Name, want))
		}
	})
}

func shardUnset(stmt *gorm.Statement, s slot, source *schema.Field) error {
	return fieldError(stmt.Schema, s.key, "it takes its shard from "+source.Name+", which is not set")
}

// shardOf returns the logical shard of source in the row of s, and whether source
// is set there. A pointer to zero counts as set, unless it points to an ID.
func (p *plugin) shardOf(stmt *gorm.Statement, s slot, source *schema.Field) (shard uint64, set bool, err error) {
	var v reflect.Value
	if s.row != nil {
		v, err = sourceEntry(stmt, s, source)
	} else {
		value, _ := source.ValueOf(stmt.Context, s.record)
		v = reflect.ValueOf(value)
	}
	pointer := v.Kind() == reflect.Pointer
	v = reflect.Indirect(v)
	switch {
	case err != nil || !v.IsValid():
		return 0, false, err
	case v.Type() == reflect.TypeFor[snow.ID]():
		return p.Layout().Shard(snow.ID(v.Int())), v.Int() != 0, nil
	}
	return analysis.Hash(v), pointer || !v.IsZero(), nil
}

// sourceEntry returns the value that a map will store in the column of source, as
// one of the types that shardOf takes.
func sourceEntry(stmt *gorm.Statement, s slot, source *schema.Field) (reflect.Value, error) {
	name, err := entryName(stmt, source, s.row)
	if err != nil {
		return reflect.Value{}, err
	}
	entry := s.row[name]
	value, err := driver.DefaultParameterConverter.ConvertValue(entry)
	if err != nil {
		return reflect.Value{}, fieldError(stmt.Schema, s.key, "its shard can't be taken from "+strconv.Quote(name)+" of the map: "+err.Error())
	}
	if value == nil {
		return reflect.Value{}, nil
	}
	var v reflect.Value
	switch t := source.IndirectFieldType; {
	case t == reflect.TypeFor[snow.ID]():
		id := new(snow.ID)
		err, v = id.Scan(value), reflect.ValueOf(id)
	case t.Kind() == reflect.String:
		text := new(sql.Null[string])
		err, v = text.Scan(value), reflect.ValueOf(&text.V)
	default:
		number := new(sql.Null[int64])
		err, v = number.Scan(value), reflect.ValueOf(&number.V)
	}
	if err != nil {
		return reflect.Value{}, fieldError(stmt.Schema, s.key, "its shard can't be taken from "+strconv.Quote(name)+" of the map: "+err.Error())
	}
	if reflect.ValueOf(entry).Kind() != reflect.Pointer {
		v = v.Elem()
	}
	return v, nil
}
