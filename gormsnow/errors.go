package gormsnow

import (
	"errors"

	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow/gormsnow/internal/analysis"
)

// Errors that callers branch on. They are wrapped: use errors.Is.
var (
	// ErrNoPlugin is returned by the BeforeCreate hooks of [Model] and [SoftModel], and by [Check]
	// and [Created], if the database has no plugin.
	ErrNoPlugin = errors.New("plugin not registered: call db.Use(gormsnow.New(source)) after gorm.Open")

	// ErrNoSource is returned by db.Use for a plugin made without a source.
	ErrNoSource = errors.New("the plugin has no source of ids: pass one to gormsnow.New")

	// ErrBadSource is returned by an insert if the source reported success but
	// returned ids that are not positive and ascending.
	ErrBadSource = errors.New("source broke its contract")
)

// A FieldError says why a key can't be assigned. The INSERT was not sent. What
// associations sent before it is rolled back with the transaction, if there is one.
type FieldError struct {
	// Go type of the model, for example "shop.Order"; "many2many:" and the table for a join table without one
	Model  string
	Field  string // name of the field in the model
	Reason string // what is wrong and what to do about it
}

// Error returns the model, the field and the reason.
func (e *FieldError) Error() string {
	return "model " + e.Model + ", field " + e.Field + ": " + e.Reason
}

func fieldError(s *schema.Schema, f *schema.Field, reason string) error {
	return &FieldError{analysis.Name(s), f.Name, reason}
}
