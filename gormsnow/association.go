package gormsnow

import (
	"context"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// Association is db.Association(name) with a Delete and a Replace that also work if
// the foreign key is a *[snow.ID], or another pointer to a [database/sql.Scanner]:
//
//	err := gormsnow.Association(db.Model(&employee), "Company").Delete(&company)
//
// GORM's own Delete stores NULL but leaves such a pointer in the struct, so that
// the next Save stores it again. If Company is a pointer, GORM's Delete also
// zeroes the struct that it points to, and the next Save creates an empty company;
// this Delete sets the field to nil. Clear has neither problem.
//
// For a belongs-to association, Unscoped().Replace, and Append, which does the same,
// delete the row that the foreign key referred to before. GORM's own deletes the new
// row instead, because it keeps the pointer. As in GORM, the old row is deleted even
// if it is also the new one. Unscoped().Clear deletes the old row, where GORM's own
// sends a DELETE of another table, whatever the type of the foreign key is.
func Association(db *gorm.DB, name string) *gorm.Association {
	a := db.Association(name)
	// Otherwise the conditions of one statement stay for the next one.
	a.DB = a.DB.Session(&gorm.Session{})
	if a.Error != nil || a.Relationship.JoinTable != nil {
		return a
	}
	// Copies, because other goroutines use the schema.
	rel := *a.Relationship
	rel.Field = nullable(rel.Field)
	rel.References = make([]*schema.Reference, len(a.Relationship.References))
	for i, ref := range a.Relationship.References {
		r := *ref
		r.ForeignKey = nullable(ref.ForeignKey)
		if r.ForeignKey != ref.ForeignKey {
			r.ForeignKey.ValueOf = pointedTo(ref.ForeignKey)
		}
		rel.References[i] = &r
	}
	a.Relationship = &rel
	return a
}

// nullable returns f. If f is a pointer, it returns a copy whose Set stores nil for
// nil and for an empty struct. The copy has only those members that associations
// read and GORM never changes.
func nullable(f *schema.Field) *schema.Field {
	if f.FieldType.Kind() != reflect.Pointer {
		return f
	}
	return &schema.Field{
		Name: f.Name, DBName: f.DBName, BindNames: f.BindNames, Schema: f.Schema, OwnerSchema: f.OwnerSchema,
		FieldType: f.FieldType, IndirectFieldType: f.IndirectFieldType, StructField: f.StructField,
		Tag: f.Tag, TagSettings: f.TagSettings, ValueOf: f.ValueOf, ReflectValueOf: f.ReflectValueOf,
		Set: func(ctx context.Context, row reflect.Value, value any) error {
			v := reflect.ValueOf(value)
			if v.Kind() == reflect.Pointer && v.IsNil() || v.Kind() == reflect.Struct && v.IsZero() {
				f.ReflectValueOf(ctx, row).SetZero()
				return nil
			}
			return f.Set(ctx, row, value)
		},
	}
}

// pointedTo returns a ValueOf that gives what the pointer f points to. GORM keeps the
// old foreign key while it stores the new one in the same variable.
func pointedTo(f *schema.Field) func(context.Context, reflect.Value) (any, bool) {
	return func(ctx context.Context, row reflect.Value) (any, bool) {
		value, zero := f.ValueOf(ctx, row)
		if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer && !v.IsNil() {
			return v.Elem().Interface(), zero
		}
		return value, zero
	}
}
