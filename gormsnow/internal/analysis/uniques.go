package analysis

import (
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// A Unique is a set of columns whose values no two rows share.
type Unique struct {
	Columns []string
	Primary bool
	Where   string              // the condition of a partial index
	Target  []clause.Expression // the condition of a conflict target
}

// UniqueKeys returns the primary key of s, if any, and what its tags declare.
func UniqueKeys(s *schema.Schema) (all []Unique) {
	if len(s.PrimaryFields) > 0 {
		all = append(all, Unique{Columns: s.PrimaryFieldDBNames, Primary: true})
	}
	// ParseIndexes writes to the fields, which other goroutines read.
	var copied schema.Schema
	for _, f := range s.Fields {
		if f.DBName == "" || s.FieldsByDBName[f.DBName] != f {
			continue
		}
		if f.Unique {
			all = append(all, Unique{Columns: []string{f.DBName}})
		}
		copied.Fields = append(copied.Fields, &schema.Field{
			Name: f.Name, DBName: f.DBName, Tag: f.Tag, TagSettings: f.TagSettings, Schema: f.Schema,
		})
	}
	for _, index := range copied.ParseIndexes() {
		u := Unique{Where: index.Where}
		for _, f := range index.Fields {
			if f.Expression == "" {
				u.Columns = append(u.Columns, f.DBName)
			}
		}
		if index.Class == "UNIQUE" && len(u.Columns) == len(index.Fields) {
			all = append(all, u)
		}
	}
	return all
}
