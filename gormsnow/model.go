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
// The plugin assigns the key; it must be registered with db.Use.
type Model struct {
	ID        snow.ID `gorm:"primaryKey;snowflake"`
	CreatedAt time.Time
	UpdatedAt time.Time
	DeletedAt gorm.DeletedAt `gorm:"index" json:"-"`
}

// BeforeCreate is a GORM hook. It assigns nothing: by the time that it runs the
// plugin has. It returns [ErrNoPlugin] for a row without an id where the
// database has no plugin, which would otherwise store a zero id.
//
// A model that defines a BeforeCreate of its own replaces this one and loses
// only that check. GORM runs no hooks for maps and with SkipHooks.
func (m *Model) BeforeCreate(tx *gorm.DB) error {
	// m is nil where a model embeds *Model and nobody allocated it.
	if m != nil && !m.ID.IsZero() || registered(tx) {
		return nil
	}
	return fmt.Errorf("gormsnow: %w", ErrNoPlugin)
}
