package analysis

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
)

// findSources reads the shard tags of the keys, and sorts the keys so that a key
// comes after the key whose shard it carries.
func (m *Model) findSources(s *schema.Schema) *Error {
	var read [][]string
	for _, key := range m.Keys {
		tag, path := shardTag(s, key)
		if path == nil {
			continue
		}
		read = append(read, path)
		name, ok := strings.CutPrefix(tag, "shard=")
		if !ok {
			return newError(s, key, "the snow tag is shard=Field, not "+strconv.Quote(tag))
		}
		source := sourceField(s, path, name)
		if source == nil {
			return newError(s, key, "its shard tag names "+strconv.Quote(name)+", which is no field of the model")
		}
		if reason := m.refuseSource(s, source); reason != "" {
			return newError(s, key, "its shard can't be taken from "+name+": "+reason)
		}
		if m.Sources == nil {
			m.Sources = make(map[*schema.Field]*schema.Field)
		}
		m.Sources[key] = source
	}
	if err := checkTags(s, read); err != nil {
		return err
	}
	slices.SortStableFunc(m.Keys, func(a, b *schema.Field) int {
		switch {
		case m.Sources[a] == nil && m.Sources[b] != nil:
			return -1
		case m.Sources[a] != nil && m.Sources[b] == nil:
			return 1
		}
		return 0
	})
	return nil
}

// sourceField returns the field that the tag at path names: a field of the struct
// that has the tag, or else one of the model around it.
func sourceField(s *schema.Schema, path []string, name string) *schema.Field {
	path = append(slices.Clone(path[:len(path)-1]), name)
	for _, f := range s.Fields {
		if slices.Equal(f.BindNames, path) {
			return f
		}
	}
	return s.FieldsByName[name]
}

// refuseSource returns why f can't give the shard, or nothing.
func (m *Model) refuseSource(s *schema.Schema, f *schema.Field) string {
	_, path := shardTag(s, f)
	chained := path != nil && slices.Contains(m.Keys, f)
	t := f.FieldType
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	v := reflect.Zero(t)
	switch {
	case chained:
		return "it has a shard tag itself: name the field of that one"
	case f.DBName == "":
		return "it is no column"
	case !v.CanInt() && !v.CanUint() && t.Kind() != reflect.String:
		return f.FieldType.String() + " gives no shard: use a snow.ID, an integer, a string, or a pointer to one"
	case f.Serializer != nil:
		return "it has a serializer"
	}
	return ""
}

// Hash returns the shard of a value of a field that gives the shard, unless the field is a [snow.ID], whose shard it
// carries. A layout has fewer shard bits than a hash.
func Hash(v reflect.Value) uint64 {
	switch {
	case v.CanInt():
		return snow.HashShardInt(v.Int())
	case v.CanUint():
		return snow.HashShardInt(int64(v.Uint()))
	}
	return snow.HashShard(v.String())
}
