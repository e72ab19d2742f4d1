package analysis

import (
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm/schema"
)

// shardTag returns the snow tag of f, or else the tag of the innermost embedded
// struct around it that has one, and the path to the field with the tag.
func shardTag(s *schema.Schema, f *schema.Field) (text string, path []string) {
	t := s.ModelType
	for i, name := range f.BindNames {
		field, ok := t.FieldByName(name)
		if !ok {
			break
		}
		if tag, ok := field.Tag.Lookup("snow"); ok {
			text, path = tag, f.BindNames[:i+1]
		}
		if t = StructOf(field.Type); t == nil {
			break
		}
	}
	return text, path
}

// StructOf returns the struct that t is or points to, or nil.
func StructOf(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

// checkTags refuses snow tags that apply to no key: their author expects shards
// that the ids would not carry. paths are the paths of the tags that apply.
func checkTags(s *schema.Schema, paths [][]string) *Error {
	if MadeByGORM(s) {
		return nil // its fields have the tags of the keys that they refer to
	}
	read, embedded := make(map[string]bool), make(map[string]bool)
	for _, path := range paths {
		read[strings.Join(path, ".")] = true
	}
	for _, f := range s.Fields {
		for i := 1; i < len(f.BindNames); i++ {
			embedded[strings.Join(f.BindNames[:i], ".")] = true
		}
	}
	var unread func(t reflect.Type, path string, around []reflect.Type) string
	unread = func(t reflect.Type, path string, around []reflect.Type) string {
		for i := range t.NumField() {
			field := t.Field(i)
			at := path + field.Name
			if tag, tagged := field.Tag.Lookup("snow"); tagged && !read[at] && (embedded[at] || !strings.HasPrefix(tag, numberPrefix)) {
				return at
			}
			// GORM ignores an embedded struct whose type is not exported.
			inner := StructOf(field.Type)
			if inner != nil && !slices.Contains(around, inner) && (embedded[at] || field.Anonymous && !field.IsExported()) {
				if found := unread(inner, at+".", append(slices.Clip(around), inner)); found != "" {
					return found
				}
			}
		}
		return ""
	}
	if at := unread(s.ModelType, "", nil); at != "" {
		return &Error{Name(s), at, "nothing reads its shard tag, because it is no key and embeds none: add snowflake to the gorm tag, or drop the shard tag"}
	}
	return nil
}

// MadeByGORM reports whether s is of a join table that has no model.
func MadeByGORM(s *schema.Schema) bool { return s.ModelType.Name() == "" && s.Name != "" }
