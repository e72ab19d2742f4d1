package gormsnow

import (
	"context"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// Association is db.Association(name), whose Delete is right also where the
// foreign key is a *[snow.ID], or another pointer to a [database/sql.Scanner]:
//
//	err := gormsnow.Association(db.Model(&employee), "Company").Delete(&company)
//
// GORM's own Delete stores NULL but leaves such a pointer in the struct, and so
// the next Save stores it again. Where Company is a pointer, GORM empties what it
// points to, which Save then creates; here the field becomes nil, as it does not
// with Clear.
func Association(db *gorm.DB, name string) *gorm.Association {
	a := db.Association(name)
	if a.Error != nil || a.Relationship.JoinTable != nil {
		return a
	}
	// Copies: others use the schema at the same time.
	rel := *a.Relationship
	rel.Field = nullable(rel.Field)
	rel.References = make([]*schema.Reference, len(a.Relationship.References))
	for i, ref := range a.Relationship.References {
		r := *ref
		r.ForeignKey = nullable(ref.ForeignKey)
		rel.References[i] = &r
	}
	a.Relationship = &rel
	return a
}

// nullable returns f, where it is a pointer with a Set to which nil and an empty
// struct are nil. Of the copy it has what GORM reads of associations and never
// changes.
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
