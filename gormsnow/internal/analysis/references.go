package analysis

import (
	"reflect"
	"slices"

	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
)

// checkReferences refuses a model with an association whose foreign key can't
// hold an id: GORM would convert the id without an error. It reads the lists of
// relations, which are complete once s is parsed; GORM adds to the map of
// relations when it parses other models.
func checkReferences(s *schema.Schema) *Error {
	all := &s.Relationships
	for _, rel := range slices.Concat(all.HasOne, all.HasMany, all.BelongsTo, all.Many2Many) {
		if !rel.Field.Creatable && !rel.Field.Updatable {
			continue // GORM never saves it
		}
		for _, ref := range rel.References {
			// The type column of a polymorphic association refers to no key.
			if ref.PrimaryKey == nil || !IsKey(ref.PrimaryKey) {
				continue
			}
			if reason := refuseReference(ref.ForeignKey, ref.PrimaryKey); reason != "" {
				return newError(ref.ForeignKey.Schema, ref.ForeignKey, reason)
			}
		}
	}
	return nil
}

// IsKey reports whether f, a field of any model, holds an id.
func IsKey(f *schema.Field) bool {
	tagged, _ := keyTag(f)
	return tagged || f.IndirectFieldType == reflect.TypeFor[snow.ID]()
}

// refuseReference returns why foreign can't hold the ids of key, or nothing.
// Structs, such as sql.NullInt64, are left to their own Scan.
func refuseReference(foreign, key *schema.Field) string {
	to := "the id of " + Name(key.Schema) + " that it refers to"
	switch t, from := foreign.IndirectFieldType, key.IndirectFieldType; t.Kind() {
	case reflect.String:
		// Go converts a number to a string of one character. GORM formats only
		// the predeclared integer types.
		if from.Kind() != reflect.String && from.PkgPath() != "" {
			return t.String() + " would get a character instead of " + to + ": make it a snow.ID, or the id an int64 or a string with the tag snowflake"
		}
	case reflect.Bool, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		if !Assignable(t) {
			return t.String() + " is too small for " + to + ": make it a snow.ID or a 64-bit integer"
		}
	}
	return ""
}
