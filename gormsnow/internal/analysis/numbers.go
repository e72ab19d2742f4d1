package analysis

import (
	"reflect"
	"strconv"
	"strings"

	"gorm.io/gorm/schema"
)

const numberPrefix = "number="

// A Numbered is a field that gets a number for people.
type Numbered struct {
	Field      *schema.Field
	Series     string
	Partitions map[string]*schema.Field // by name: the field with the value
}

// Numbers finds the fields of s with a number tag, such as snow:"number=invoices" or
// snow:"number=invoices,tenant=TenantCode".
func Numbers(s *schema.Schema) (all []Numbered, err *Error) {
	for _, f := range s.Fields {
		tag, ok := strings.CutPrefix(f.Tag.Get("snow"), numberPrefix)
		if !ok || f.DBName != "" && s.FieldsByDBName[f.DBName] != f {
			continue
		}
		parts := strings.Split(tag, ",")
		n := Numbered{Field: f, Series: parts[0]}
		reason := refuseNumber(f)
		for _, part := range parts[1:] {
			name, field, ok := strings.Cut(part, "=")
			source := sourceField(s, f.BindNames, field)
			switch {
			case reason != "":
			case !ok:
				reason = "its snow tag is number=series,partition=Field, not " + strconv.Quote(numberPrefix+tag)
			case source == nil:
				reason = "its snow tag names " + strconv.Quote(field) + ", which is no field of the model"
			case !givesPartition(source.FieldType):
				reason = "a partition can't be taken from " + field + ": use a string, an integer, or a pointer to one"
			case n.Partitions[name] != nil:
				reason = "its snow tag names the partition " + name + " twice"
			}
			if n.Partitions == nil {
				n.Partitions = make(map[string]*schema.Field)
			}
			n.Partitions[name] = source
		}
		if reason != "" {
			return nil, newError(s, f, reason)
		}
		all = append(all, n)
	}
	return all, nil
}

// refuseNumber returns why f can't get a number, or nothing.
func refuseNumber(f *schema.Field) string {
	switch {
	case f.DBName == "":
		return "it has a number tag but is no column"
	case f.IndirectFieldType.Kind() != reflect.String:
		return f.FieldType.String() + " can't hold a number with its text: use a string or a pointer to one"
	case f.Serializer != nil:
		return "it has a serializer, which would not store the number itself: drop it"
	case f.HasDefaultValue:
		return "a default of the database competes with the number: drop default from the gorm tag"
	case !f.Creatable:
		return "it is read-only for inserts: drop -> or <- from the gorm tag"
	}
	return ""
}

func givesPartition(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	v := reflect.Zero(t)
	return v.CanInt() || v.CanUint() || t.Kind() == reflect.String
}
