package gormsnow

import (
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
)

// A Model is [gorm.Model] with a key that is unique across databases. Embed it:
//
//	type Order struct {
//		gormsnow.Model
//		Amount int64
//	}
//
// The plugin assigns the key; register it with db.Use. A shard tag goes on the
// embedded field:
//
//	type Order struct {
//		gormsnow.Model `snow:"shard=BuyerID"`
//		BuyerID        snow.ID
//	}
type Model struct {
	ID        snow.ID `gorm:"primaryKey;snowflake;not null"`
	CreatedAt time.Time
	UpdatedAt time.Time
	DeletedAt gorm.DeletedAt `gorm:"index" json:"-"`
}

// A SoftModel is a [Model] that clients see as they saw [gorm.Model]: DeletedAt is in
// its JSON, and null for a row that is not deleted. Embed it where programs read
// that field. Its ID is a string in JSON, as every [snow.ID] is; docs/edges.md has a
// field for clients that need a number.
//
// Both models delete softly: Delete sets DeletedAt, and queries leave such rows out
// unless they are Unscoped. Their tables are the same.
type SoftModel struct {
	ID        snow.ID `gorm:"primaryKey;snowflake;not null"`
	CreatedAt time.Time
	UpdatedAt time.Time
	DeletedAt gorm.DeletedAt `gorm:"index"`
}

// BeforeCreate is a GORM hook. When Create calls it, the plugin has assigned the
// id. It returns [ErrNoPlugin] for a row without an id if the database has no
// plugin; the row would be stored with a zero id otherwise.
//
// Called outside of Create, it assigns an id to a row that has none, or returns the
// error of the source. It ignores a shard tag on the struct that embeds the Model.
//
// A model that defines its own BeforeCreate replaces this one and loses only that
// check. GORM runs no hooks for maps and with SkipHooks.
func (m *Model) BeforeCreate(tx *gorm.DB) error {
	if m == nil { // a model embeds *Model, and nobody allocated it
		return beforeCreate(tx, nil)
	}
	return beforeCreate(tx, &m.ID)
}

// BeforeCreate is a GORM hook. It does what [Model.BeforeCreate] does.
func (m *SoftModel) BeforeCreate(tx *gorm.DB) error {
	if m == nil {
		return beforeCreate(tx, nil)
	}
	return beforeCreate(tx, &m.ID)
}

// beforeCreate is the hook of a model with this key, or of a nil one.
func beforeCreate(tx *gorm.DB, key *snow.ID) error {
	if key != nil && !key.IsZero() {
		return nil
	}
	if !registered(tx) {
		return fmt.Errorf("gormsnow: %w", ErrNoPlugin)
	}
	p := pluginOf(tx)
	if key == nil || p == nil || tx.Statement.Schema != nil {
		return nil // within Create an association may be about to set the id
	}
	var ids [1]snow.ID
	if err := p.draw(tx.Statement.Context, ids[:], 0); err != nil {
		return fmt.Errorf("gormsnow: assign an id: %w", err)
	}
	*key = ids[0]
	return nil
}
