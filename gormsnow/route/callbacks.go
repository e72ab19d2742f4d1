package route

import (
	"fmt"
	"hash/maphash"
	"reflect"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
)

// newRules returns the rules for a database whose plugin has the layout of the shards.
func newRules(db *gorm.DB, layout snow.Layout, global map[reflect.Type]bool) (*rules, error) {
	switch db.Name() {
	case "mysql", "postgres", "sqlite":
	default:
		return nil, fmt.Errorf("the dialect is %q: want mysql, postgres or sqlite", db.Name())
	}
	if layout.Bits().Shard == 0 {
		return nil, fmt.Errorf("the layout %s has no shard bits", layout)
	}
	for _, p := range db.Plugins {
		if p, ok := p.(interface{ Layout() snow.Layout }); ok && p.Layout() != layout {
			return nil, fmt.Errorf("the plugin makes keys of the layout %s, and the shards have %s", p.Layout(), layout)
		}
	}
	r := &rules{layout: layout, dialect: db.Name(), global: global, tables: make(map[string]*model)}
	r.read.seed = maphash.MakeSeed()
	for i := range uint64(1) << min(layout.Bits().Shard, 12) {
		r.each = append(r.each, i)
	}
	return r, nil
}

// register adds a callback just before GORM executes a statement, and unbind just after. It must name both
// neighbours: with one of them GORM may put the second callback after the commit.
func register(db *gorm.DB, prefix string, before func(op string) func(*gorm.DB)) error {
	all := db.Callback()
	end := func(tx *gorm.DB) {
		if b, ok := tx.Statement.ConnPool.(*bound); ok {
			if r, ok := b.gate.(*router); ok && tx.DryRun {
				explain(b, r)
			}
			tx.Statement.ConnPool = b.parent
		}
	}
	type registrar interface {
		Register(name string, fn func(*gorm.DB)) error
	}
	create := all.Create()
	// The plugin looks at the connection before the insert, and asks it for rows that the insert has met.
	first, then := create.Before("gorm:create"), create.After("gorm:create")
	if create.Get("gormsnow:verify") != nil {
		first, then = create.After("gormsnow:verify"), create.After("gormsnow:settle")
	}
	for _, c := range []struct {
		anchored    bool
		before, end registrar
		op          string
	}{
		{create.Get("gorm:create") != nil && create.Get("gorm:save_after_associations") != nil, first.Before("gorm:create"), then.Before("gorm:save_after_associations"), opCreate},
		{all.Query().Get("gorm:query") != nil && all.Query().Get("gorm:preload") != nil, all.Query().Before("gorm:query"), all.Query().After("gorm:query").Before("gorm:preload"), opQuery},
		{all.Update().Get("gorm:update") != nil && all.Update().Get("gorm:save_after_associations") != nil, all.Update().Before("gorm:update"), all.Update().After("gorm:update").Before("gorm:save_after_associations"), opUpdate},
		{all.Delete().Get("gorm:delete") != nil && all.Delete().Get("gorm:after_delete") != nil, all.Delete().Before("gorm:delete"), all.Delete().After("gorm:delete").Before("gorm:after_delete"), opDelete},
		{all.Row().Get("gorm:row") != nil, all.Row().Before("gorm:row"), all.Row().After("gorm:row"), opRow},
		{all.Raw().Get("gorm:raw") != nil, all.Raw().Before("gorm:raw"), all.Raw().After("gorm:raw"), opRaw},
	} {
		if !c.anchored {
			return fmt.Errorf("the database lacks GORM's callbacks for %s", c.op)
		}
		if err := c.before.Register(prefix, before(c.op)); err != nil {
			return fmt.Errorf("register %s: %w", prefix, err)
		}
		if err := c.end.Register(prefix+"_end", end); err != nil {
			return fmt.Errorf("register %s: %w", prefix, err)
		}
	}
	return nil
}
