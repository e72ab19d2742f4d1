package gormsnow

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/internal/analysis"
)

const (
	pluginName = "gormsnow"
	assignName = "gormsnow:assign"
	verifyName = "gormsnow:verify"
	settleName = "gormsnow:settle"
)

// New returns the plugin that assigns the keys of new rows from src:
//
//	err := db.Use(gormsnow.New(generator))
//
// Use fails with [ErrNoSource] if src is nil, and with [gorm.ErrRegistered] if db
// already has such a plugin. One plugin may serve several databases. It is safe
// for concurrent use if src is.
func New(src snow.Source) gorm.Plugin { return &plugin{source: src} }

type plugin struct {
	source snow.Source
	models sync.Map // *schema.Schema → *model
	named  atomic.Int64
}

// Name implements [gorm.Plugin]. It returns another name at each call. For a known name, db.Use would return a bare
// [gorm.ErrRegistered] without calling Initialize, whose error says what is registered.
func (p *plugin) Name() string { return fmt.Sprintf("%s %p %d", pluginName, p, p.named.Add(1)) }

// Initialize implements [gorm.Plugin].
func (p *plugin) Initialize(db *gorm.DB) error {
	if v := reflect.ValueOf(p.source); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return fmt.Errorf("gormsnow: %w", ErrNoSource)
	}
	if registered(db) {
		return fmt.Errorf("gormsnow: the database has this plugin, or another one made by gormsnow.New: %w", gorm.ErrRegistered)
	}
	create := db.Callback().Create()
	for _, c := range []struct {
		name, before string
		step         func(*gorm.Statement, *model) error
	}{
		// Hooks see the ids. Callbacks before this one are not registered in every configuration.
		{assignName, "gorm:before_create", p.assign},
		// Hooks and belongs-to associations are done by then.
		{verifyName, "gorm:create", p.verify},
		// Has-one, has-many and many-to-many associations copy the ids.
		{settleName, "gorm:save_after_associations", p.settle},
	} {
		// If the anchor is missing, GORM would run the callback last, after the insert.
		if create.Get(c.before) == nil {
			return fmt.Errorf("gormsnow: register %s: the database has no callback %s", c.name, c.before)
		}
		if err := create.Before(c.before).Register(c.name, p.callback(c.step)); err != nil {
			return fmt.Errorf("gormsnow: register %s: %w", c.name, err)
		}
	}
	return nil
}

// pluginOf returns the plugin of db, or nil.
func pluginOf(db *gorm.DB) *plugin {
	for _, p := range db.Plugins {
		if p, ok := p.(*plugin); ok {
			return p
		}
	}
	return nil
}

// registered reports whether inserts of db pass through the plugin. It looks at
// the callbacks, because db.Plugins lists the plugin even if its callback was
// removed.
func registered(db *gorm.DB) bool {
	return db.Callback().Create().Get(assignName) != nil
}

// callback returns step as a GORM callback, which does nothing if an earlier
// callback has failed, or if the insert has no model.
func (p *plugin) callback(step func(*gorm.Statement, *model) error) func(*gorm.DB) {
	return func(db *gorm.DB) {
		if db.Error != nil || db.Statement.Schema == nil {
			return
		}
		if err := step(db.Statement, p.model(db.Statement.Schema)); err != nil {
			_ = db.AddError(fmt.Errorf("gormsnow: %w", err))
		}
	}
}

// A model is what the plugin knows about a schema.
type model struct {
	*analysis.Model
	err      error         // why the plugin can't assign keys of the model
	numbered *schema.Field // that needs the plugin of Numbers, or nil
}

// analyse finds the keys of s.
func analyse(s *schema.Schema) *model {
	m := &model{Model: analysis.Of(s)}
	if m.Err != nil {
		m.err = (*FieldError)(m.Err)
	}
	if all, err := analysis.Numbers(s); err != nil && m.err == nil {
		m.err = (*FieldError)(err)
	} else if len(all) > 0 {
		m.numbered = all[0].Field
	}
	return m
}

// model returns what is known about a schema, which is analysed once.
func (p *plugin) model(s *schema.Schema) *model {
	if m, ok := p.models.Load(s); ok {
		return m.(*model)
	}
	m := analyse(s)
	if m.err == nil {
		m.err = p.checkSource(s, m)
	}
	stored, _ := p.models.LoadOrStore(s, m)
	return stored.(*model)
}
