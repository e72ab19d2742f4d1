// Package schema is the input of ent's code generator.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"

	"github.com/shardsnow/snow"
)

// counted is false: the database must not make the column AUTO_INCREMENT.
var counted = false

// Order has a key that the program makes.
type Order struct{ ent.Schema }

// Fields implements [ent.Interface].
func (Order) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Positive().Immutable().Annotations(entsql.Annotation{Incremental: &counted}),
		field.String("buyer"),
	}
}

// Plain has a key without the annotation.
type Plain struct{ ent.Schema }

// Fields implements [ent.Interface].
func (Plain) Fields() []ent.Field { return []ent.Field{field.Int64("id")} }

// Typed has a key that is a snow.ID in Go.
type Typed struct{ ent.Schema }

// Fields implements [ent.Interface].
func (Typed) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").GoType(snow.ID(0)).Immutable().Annotations(entsql.Annotation{Incremental: &counted}),
		field.String("code").Unique(),
	}
}
