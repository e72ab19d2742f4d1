package gormsnow

import (
	"reflect"
	"strconv"
	"strings"

	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
)

// A model is what the plugin knows about a schema.
type model struct {
	keys    []*schema.Field                 // columns that the plugin fills
	foreign []*schema.Field                 // keys that a belongs-to association fills
	sources map[*schema.Field]*schema.Field // by key: the field that its shard is taken from
	uniques []unique                        // what tells a stored row from others
	err     error                           // why the plugin can't serve the model
}

// analyse finds the keys of s. It reads only what GORM leaves alone once a
// schema is parsed: data types and relations change when other models are.
func analyse(s *schema.Schema) *model {
	m := new(model)
	var foreign map[string]bool
	for _, f := range s.Fields {
		_, tagged := f.TagSettings["SNOWFLAKE"]
		single := len(s.PrimaryFields) == 1 && s.PrimaryFields[0] == f && f.IndirectFieldType == reflect.TypeFor[snow.ID]()
		if !tagged && !single || f.DBName != "" && s.FieldsByDBName[f.DBName] != f {
			continue // no key, or hidden by a field of an outer struct
		}
		if foreign == nil {
			foreign = foreignKeys(s)
		}
		switch reason := refuse(f, tagged); {
		case foreign[f.DBName] && f.Creatable:
			if _, path := shardTag(s, f); path != nil && !madeByGORM(s) {
				m.err = fieldError(s, f, "it is the foreign key of an association, so its shard is that of the row it refers to: drop the shard tag")
				return m
			}
			m.foreign = append(m.foreign, f)
		case reason != "":
			m.err = fieldError(s, f, reason)
			return m
		default:
			m.keys = append(m.keys, f)
		}
	}
	if m.err = m.findSources(s); m.err == nil {
		m.err = checkReferences(s)
	}
	if len(m.keys) > 0 {
		m.uniques = uniqueKeys(s)
	}
	return m
}

// refuse returns why f can't be a key, or nothing.
func refuse(f *schema.Field, tagged bool) string {
	// TagSettings has the tags of the structs around f as well.
	value, own := schema.ParseTagSetting(f.Tag.Get("gorm"), ";")["SNOWFLAKE"]
	switch {
	case tagged && !own:
		return "the tag snowflake is on a struct around it: tag the field itself"
	case own && value != "SNOWFLAKE":
		return "the tag is snowflake without a value, not " + strconv.Quote("snowflake:"+value)
	case f.DBName == "":
		return "it is tagged snowflake but is no column"
	case !assignable(f.FieldType):
		return f.FieldType.String() + " can't hold an id: use snow.ID, a 64-bit integer, a string, or a pointer to one"
	case f.Serializer != nil:
		return "it has a serializer, which would store something else than the id: drop it"
	case f.AutoIncrement:
		return "the column would be AUTO_INCREMENT: add autoIncrement:false to the gorm tag, or make it a snow.ID"
	case f.HasDefaultValue:
		return "a default of the database competes with the id: drop default from the gorm tag"
	case !f.Creatable:
		return "it is read-only for inserts: drop -> or <- from the gorm tag"
	}
	return ""
}

// assignable reports whether a field of type t holds every id.
func assignable(t reflect.Type) bool {
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
// join table of a many-to-many relation has them too: GORM copies the key
// fields of both sides into it, tags included.
func foreignKeys(s *schema.Schema) map[string]bool {
	s.Relationships.Mux.RLock()
	defer s.Relationships.Mux.RUnlock()
	columns := make(map[string]bool)
	for name, rel := range s.Relationships.Relations {
		// Under these names parsing a parent files its has-one and has-many
		// relations, and goes on writing to them.
		if strings.HasPrefix(name, "_") || rel.Type != schema.BelongsTo {
			continue
		}
		for _, ref := range rel.References {
			columns[ref.ForeignKey.DBName] = true
		}
	}
	return columns
}

func fieldError(s *schema.Schema, f *schema.Field, reason string) error {
	return &FieldError{s.ModelType.String(), f.Name, reason}
}
