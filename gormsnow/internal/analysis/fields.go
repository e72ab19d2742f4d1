// Package analysis finds out what the tags of a model say: which fields are keys, whose shard they carry, and why a
// model is refused. gormsnow fills these keys, and gormsnow/route finds the database of a row by them.
package analysis

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
)

// A Model is what the tags of a schema say about its keys.
type Model struct {
	Keys    []*schema.Field                 // columns that the plugin fills; a key comes after the key whose shard it carries
	Given   []*schema.Field                 // keys that an association or the program fills
	Missing map[*schema.Field]string        // by key in Given: the error for a row without it
	Sources map[*schema.Field]*schema.Field // by key: the field whose shard it carries
	Uniques []Unique                        // what identifies a stored row
	Err     *Error                          // why the plugin can't assign keys of the model
}

// An Error says why a key can't be assigned.
type Error struct{ Model, Field, Reason string }

// Of finds the keys of s. It reads only what GORM no longer changes once a
// schema is parsed: data types and relations change when other models are parsed.
func Of(s *schema.Schema) *Model {
	m := &Model{Missing: make(map[*schema.Field]string)}
	var foreign map[string]bool
	for _, f := range s.Fields {
		tagged, off := keyTag(f)
		primary := slices.Contains(s.PrimaryFields, f)
		typed := primary && f.IndirectFieldType == reflect.TypeFor[snow.ID]()
		if !tagged && !typed && !(primary && counted(f)) || f.DBName != "" && s.FieldsByDBName[f.DBName] != f {
			continue // not a key, or hidden by a field of an outer struct
		}
		if foreign == nil {
			foreign = foreignKeys(s)
		}
		ours := tagged || typed && len(s.PrimaryFields) == 1 && !off
		switch reason := refuse(f, tagged); {
		case foreign[f.DBName] && f.Creatable && (tagged || typed):
			if _, path := shardTag(s, f); path != nil && !MadeByGORM(s) {
				m.Err = newError(s, f, "it is the foreign key of an association, so its shard is the shard of the row it refers to: drop the shard tag")
				return m
			}
			m.give(f, missingForeign)
		case !ours && !f.Creatable, typed && !ours && f.HasDefaultValue, !tagged && !typed && foreign[f.DBName]:
			// The database or an association fills it.
		case typed && off:
			m.give(f, "it has no id, and the tag snowflake:false leaves it to the program: set it")
		case typed && !ours:
			m.give(f, MissingMember)
		case !ours:
			m.give(f, f.FieldType.String()+" is a number without an id, and the column would be AUTO_INCREMENT: add autoIncrement:false and snowflake to the gorm tag, or autoIncrement if the database is to count")
		case reason != "":
			m.Err = newError(s, f, reason)
			return m
		default:
			m.Keys = append(m.Keys, f)
		}
	}
	if m.Err = m.findSources(s); m.Err == nil {
		m.Err = checkReferences(s)
	}
	if len(m.Keys) > 0 {
		m.Uniques = UniqueKeys(s)
	}
	return m
}

// Errors for rows without a key that the plugin does not fill.
const (
	missingForeign = "it is the foreign key of an association, and neither is set"
	MissingMember  = "it is a member of the primary key and has no id: add snowflake to the gorm tag, or set it"
)

func (m *Model) give(f *schema.Field, missing string) {
	m.Given = append(m.Given, f)
	m.Missing[f] = missing
}

// keyTag reports whether f has the tag snowflake, or has it turned off. The tag
// of a struct around f counts as well.
func keyTag(f *schema.Field) (on, off bool) {
	value, on := f.TagSettings["SNOWFLAKE"]
	off = strings.EqualFold(value, "false")
	return on && !off, off
}

// counted reports whether GORM makes f AUTO_INCREMENT without a tag, although the
// type of f may be defined as [snow.ID]: such a type does not have the methods of
// snow.ID and looks like any other named type of int64.
func counted(f *schema.Field) bool {
	_, asked := f.TagSettings["AUTOINCREMENT"]
	t := f.IndirectFieldType
	return f.AutoIncrement && !asked && t.Kind() == reflect.Int64 && t.PkgPath() != ""
}

// refuse returns why f can't be a key, or nothing.
func refuse(f *schema.Field, tagged bool) string {
	// TagSettings has the tags of the structs around f as well.
	value, own := schema.ParseTagSetting(f.Tag.Get("gorm"), ";")["SNOWFLAKE"]
	switch {
	case tagged && !own:
		return "the tag snowflake is on a struct around it: tag the field itself"
	case tagged && value != "SNOWFLAKE" && !strings.EqualFold(value, "true"):
		return "the tag is snowflake, true or false, not " + strconv.Quote("snowflake:"+value)
	case f.DBName == "":
		return "it is tagged snowflake but is no column"
	case !Assignable(f.FieldType):
		return f.FieldType.String() + " can't hold an id: use snow.ID, a 64-bit integer, a string, or a pointer to one"
	case f.Serializer != nil:
		return "it has a serializer, which would not store the id itself: drop it"
	case f.AutoIncrement:
		return "the column would be AUTO_INCREMENT: add autoIncrement:false to the gorm tag, or make it a snow.ID"
	case f.HasDefaultValue:
		return "a default of the database competes with the id: drop default from the gorm tag"
	case !f.Creatable:
		return "it is read-only for inserts: drop -> or <- from the gorm tag"
	}
	return ""
}

// Assignable reports whether a field of type t holds every id.
func Assignable(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int64, reflect.Uint64, reflect.String:
		return true
	case reflect.Int, reflect.Uint:
		return strconv.IntSize == 64
	}
	return false
}

// foreignKeys returns the columns of s that belongs-to associations fill. The
// join table of a many-to-many relation has such columns too: GORM copies the key
// fields of both sides into it, with their tags.
func foreignKeys(s *schema.Schema) map[string]bool {
	s.Relationships.Mux.RLock()
	defer s.Relationships.Mux.RUnlock()
	columns := make(map[string]bool)
	for name, rel := range s.Relationships.Relations {
		// GORM adds relations with such names when it parses a parent with a
		// has-one or has-many association, and goes on writing to them.
		if strings.HasPrefix(name, "_") || rel.Type != schema.BelongsTo {
			continue
		}
		for _, ref := range rel.References {
			columns[ref.ForeignKey.DBName] = true
		}
	}
	return columns
}

func newError(s *schema.Schema, f *schema.Field, reason string) *Error {
	return &Error{Name(s), f.Name, reason}
}

// Name returns the Go type of a model, or for a join table that GORM makes,
// whose type has no name, its tag.
func Name(s *schema.Schema) string {
	if MadeByGORM(s) {
		return "many2many:" + s.Table
	}
	return s.ModelType.String()
}
