package gormsnow

import (
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow/internal/idcolumn"

	"github.com/shardsnow/snow/gormsnow/internal/analysis"
)

// signs finds foreign keys that AutoMigrate can't create, because MySQL requires
// both columns to be signed or both to be unsigned. A key that was a uint is still
// unsigned in its table, because AutoMigrate does not change it.
func (c *check) signs(s *schema.Schema) {
	if c.db.Name() != "mysql" || c.db.DisableForeignKeyConstraintWhenMigrating || c.db.IgnoreRelationshipsWhenMigrating {
		return
	}
	all := &s.Relationships
	for _, rel := range slices.Concat(all.BelongsTo, all.HasOne, all.HasMany, all.Many2Many) {
		if rel.Polymorphic != nil || rel.Field.IgnoreMigration || rel.Field.TagSettings["CONSTRAINT"] == "-" {
			continue
		}
		for _, ref := range rel.References {
			if ref.PrimaryKey != nil && analysis.IsKey(ref.PrimaryKey) {
				c.sign(s, rel, ref)
			}
		}
	}
}

func (c *check) sign(s *schema.Schema, rel *schema.Relationship, ref *schema.Reference) {
	key, foreign := ref.PrimaryKey, ref.ForeignKey
	name := foreign.Schema.Table + "." + foreign.DBName
	column, ok := c.columnOf(key)
	if !ok || c.signed[name] {
		return // AutoMigrate will create the table, or the other side of the relation was checked
	}
	c.signed[name] = true
	unsigned := func(typ string) bool { return strings.Contains(strings.ToLower(typ), "unsigned") }
	// GORM gives a new foreign key the type that the model has for the key.
	typ := "bigint"
	if kind := key.IndirectFieldType.Kind(); kind == reflect.Uint64 || kind == reflect.Uint {
		typ = "bigint unsigned"
	}
	if live, ok := c.columnOf(foreign); ok {
		typ = live.Type
	}
	if column.Kind != idcolumn.Integer || unsigned(column.Type) == unsigned(typ) {
		return
	}
	at := key.Schema.Table + "." + key.DBName
	c.find(CheckError{
		Model: s.ModelType.String(), Field: rel.Name, Column: at,
		Problem: "it is " + column.Type + ", and AutoMigrate creates a foreign key to it from " + name + ", which is " + typ +
			": MySQL refuses that with error 3780 or errno 150",
		Remedy: "before AutoMigrate drop the foreign keys to " + at + ", make it and the columns that refer to it " +
			"BIGINT, and create them again; or migrate with DisableForeignKeyConstraintWhenMigrating",
	})
}

// columnOf returns the live column of a field, and false if there is none.
func (c *check) columnOf(f *schema.Field) (idcolumn.Column, bool) {
	live := newLiveTable(f.Schema.Table)
	if err := c.read(c.db, live); err != nil {
		return idcolumn.Column{}, false // the check of its own model reports the error
	}
	column, ok := live.columns[f.DBName]
	return column, ok
}
