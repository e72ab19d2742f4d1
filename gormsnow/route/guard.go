package route

import (
	"fmt"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
)

// Guard returns a plugin for database i of shards, for programs that choose the database themselves, with
// [snow.Shards.At] and Of:
//
//	for i := range shards.Len() {
//		err := databases[i].Use(route.Guard(shards, i))
//	}
//
// A statement whose rows belong to another database fails with [ErrCrossShard], or with [ErrSpread] if only some
// do, and is not sent. One that tells no shard fails with [ErrUnrouted]: a query without a condition on the key
// or the field of the shard tag, raw SQL, a subquery. [On] says to which shard it belongs, and [Scatter] that it
// is about all rows of the database, as gormsnow.FindAcross, Shards.Each and AutoMigrate need it:
//
//	orders, err := gormsnow.FindAcross[Order](ctx, shards, gormsnow.After(last, 50), route.Scatter)
//	err = route.Scatter(databases[i]).AutoMigrate(&Order{})
//
// An UPDATE that would give a row another shard fails with [ErrMoves]. Models without a shard tag pass. The
// databases must be in shards already.
func Guard(shards *snow.Shards[*gorm.DB], i int) gorm.Plugin { return &guard{shards: shards, index: i} }

type guard struct {
	shards *snow.Shards[*gorm.DB]
	index  int
	rules  *rules
}

// Name implements [gorm.Plugin].
func (g *guard) Name() string { return "gormsnow/route:guard" }

// Initialize implements [gorm.Plugin].
func (g *guard) Initialize(db *gorm.DB) error {
	if g.shards == nil || g.index < 0 || g.index >= g.shards.Len() {
		return fmt.Errorf("route: guard: there is no database %d among the shards", g.index)
	}
	r, err := newRules(db, g.shards.Layout(), nil)
	if err != nil {
		return fmt.Errorf("route: guard: %w", err)
	}
	g.rules = r
	err = register(db, "gormsnow:guard", func(op string) func(*gorm.DB) {
		return func(tx *gorm.DB) {
			if _, routed := routerOf(tx.Config.ConnPool); !routed && tx.Error == nil && !tx.DryRun && g.watches(tx.Statement) {
				bind(tx.Statement, op, g, r)
			}
		}
	})
	if err != nil {
		return fmt.Errorf("route: guard: %w", err)
	}
	return nil
}

// watches reports whether a statement is about rows of shards.
func (g *guard) watches(stmt *gorm.Statement) bool {
	plain := stmt.SQL.Len() == 0 && stmt.Schema != nil && stmt.TableExpr == nil && len(stmt.Joins) == 0 && !ownFrom(stmt)
	return !plain || g.rules.model(stmt.Schema).sharded()
}

// admit implements gate.
func (g *guard) admit(b *bound, p place, _ string) (gorm.ConnPool, *Error, error) {
	elsewhere, database := 0, 0
	for _, s := range p.shards {
		if at := g.shards.Index(s); at != g.index {
			elsewhere++
			database = at
		}
	}
	m := b.model()
	switch {
	case elsewhere == 0:
		b.database = g.index
		return b.parent, nil, nil
	case len(p.shards) == 1:
		return nil, b.refuse(m, ErrCrossShard, fmt.Sprintf("it belongs to %s in database %d, and this is database %d: use Shards.Of or At", list(p.shards), database, g.index)), nil
	}
	return nil, b.refuse(m, ErrSpread, fmt.Sprintf("it is about %s, and %d of them are not in database %d: ask each database for its own", list(p.shards), elsewhere, g.index)), nil
}
