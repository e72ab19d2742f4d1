package route

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
)

// An Option of [New].
type Option func(*router) error

// Global names models, such as &Product{}, whose rows are the same in every database. Queries ask the database
// of their transaction, or else any. A routed write is refused: write such rows in each database, with
// [snow.Shards.Each].
func Global(models ...any) Option {
	return func(r *router) error {
		for _, m := range models {
			stmt := &gorm.Statement{DB: r.first}
			if err := stmt.Parse(m); err != nil {
				return fmt.Errorf("global model %T: %w", m, err)
			}
			r.rules.global[stmt.Schema.ModelType] = true
		}
		return nil
	}
}

// Models names models of the program. New fails if a router can't route one of them. Besides, it learns which
// tables of many-to-many associations they have: Find and Count of [gorm.Association] need that.
func Models(models ...any) Option {
	return func(r *router) error {
		r.models = append(r.models, models...)
		return nil
	}
}

// New returns a database over all databases of shards, for ordinary GORM code:
//
//	db, err := route.New(shards, route.Global(&Product{}))
//	db.Create(&order)
//	db.First(&order, "id = ?", id)
//	db.Where("buyer_id = ?", buyer).Order("id").Limit(50).Find(&orders)
//
// A statement goes to the database of its shard, and fails with an [*Error] if it does not tell one shard. A
// transaction begins in the database of its first statement, and a later one of another shard fails with
// [ErrCrossShard].
//
// It uses the callbacks, the plugins and the settings of the first database; change them there before. Each
// database has the same dialect. gormsnow.New must be in use in the first one, with a source of the layout of
// shards. PrepareStmt is a setting of the databases, not of the router's sessions. dbresolver can't be in use.
//
// Refused are db.DB, db.Connection, AutoMigrate and the Migrator: use a database itself, or [MigrateAcross]. The
// Migrator's HasTable and the like report false, because GORM drops their errors. DryRun and ToSQL refuse
// nothing.
func New(shards *snow.Shards[*gorm.DB], options ...Option) (*gorm.DB, error) {
	db, err := open(shards, options)
	if err != nil {
		return nil, fmt.Errorf("route: %w", err)
	}
	return db, nil
}

// A router sends statements to the databases of its shards.
type router struct {
	shards *snow.Shards[*gorm.DB]
	first  *gorm.DB
	rules  *rules
	models []any // that Models names
}

func open(shards *snow.Shards[*gorm.DB], options []Option) (*gorm.DB, error) {
	if shards == nil || shards.Len() == 0 {
		return nil, errors.New("there are no shards: make them with snow.NewShards")
	}
	first := shards.At(0)
	for i := range uint64(shards.Len()) {
		if db := shards.At(i); db.Name() != first.Name() {
			return nil, fmt.Errorf("database %d has the dialect %s, and database 0 has %s", i, db.Name(), first.Name())
		}
	}
	if first.Callback().Create().Get("gormsnow:verify") == nil {
		return nil, errors.New("the first database has no plugin that makes keys: call db.Use(gormsnow.New(source))")
	}
	made, err := newRules(first, shards.Layout(), make(map[reflect.Type]bool))
	if err != nil {
		return nil, err
	}
	r := &router{shards: shards, first: first, rules: made}
	for _, option := range options {
		if err := option(r); err != nil {
			return nil, err
		}
	}
	for _, m := range r.models {
		if err := r.learn(m); err != nil {
			return nil, err
		}
	}
	// The callbacks are the first database's, and do nothing for its own statements.
	if first.Callback().Query().Get("gormsnow:route") == nil {
		if err := register(first, "gormsnow:route", routed); err != nil {
			return nil, err
		}
	}
	db := first.Session(&gorm.Session{NewDB: true})
	pool := &root{refuser{r}}
	db.Config.ConnPool, db.Config.PrepareStmt = pool, false
	db.Statement = &gorm.Statement{DB: db, ConnPool: pool, Context: context.Background(), Clauses: map[string]clause.Clause{}}
	return db, nil
}

// learn checks a model, and remembers the tables of its many-to-many associations.
func (r *router) learn(value any) error {
	stmt := &gorm.Statement{DB: r.first}
	if err := stmt.Parse(value); err != nil {
		return fmt.Errorf("model %T: %w", value, err)
	}
	switch m := r.rules.model(stmt.Schema); {
	case m.refused != "":
		return fmt.Errorf("model %s: %s", m.name, m.refused)
	case !m.global && !m.sharded():
		return fmt.Errorf("model %s has no shard tag: give its key one, or pass it to Global if its rows are in every database", m.name)
	}
	for _, rel := range stmt.Schema.Relationships.Many2Many {
		m := r.rules.model(rel.JoinTable)
		if m.refused != "" {
			return fmt.Errorf("the table %q of %s.%s: %s", rel.JoinTable.Table, stmt.Schema.ModelType, rel.Name, m.refused)
		}
		r.rules.tables[rel.JoinTable.Table] = m
	}
	return nil
}

// routed binds the statements of routers.
func routed(op string) func(*gorm.DB) {
	return func(tx *gorm.DB) {
		r, ok := routerOf(tx.Config.ConnPool)
		if !ok || tx.Error != nil || tx.DryRun {
			return
		}
		switch tx.Statement.ConnPool.(type) {
		case *root, *transaction:
			bind(tx.Statement, op, r, r.rules)
		case *bound:
		default:
			_ = tx.AddError((&bound{op: op}).refuse(nil, ErrUnrouted,
				fmt.Sprintf("its connection is a %T: use PrepareStmt in the databases, not in a session of the router, and no dbresolver", tx.Statement.ConnPool)))
		}
	}
}

// routerOf returns the router whose pool it is, also within GORM's prepared statements.
func routerOf(pool gorm.ConnPool) (*router, bool) {
	switch p := pool.(type) {
	case *root:
		return p.r, true
	case *transaction:
		return p.r, true
	case *gorm.PreparedStmtDB:
		return routerOf(p.ConnPool)
	}
	return nil, false
}

// admit implements gate.
func (r *router) admit(b *bound, p place) (gorm.ConnPool, *Error, error) {
	var m *model
	if b.stmt.Schema != nil {
		m = b.rules.model(b.stmt.Schema)
	}
	tx, _ := b.parent.(*transaction)
	switch {
	case p.any && tx != nil:
		return tx.any(), nil, nil
	case p.any:
		return r.pool(0), nil, nil
	case len(p.shards) == 1 && tx != nil:
		pool, pinned, err := tx.at(p.shards[0])
		if pool == nil && err == nil {
			return nil, b.refuse(m, ErrCrossShard, fmt.Sprintf("the transaction is in the shard %d, and this belongs to %s: use a transaction for each", pinned, list(p.shards))), nil
		}
		return pool, nil, err
	case len(p.shards) == 1:
		return r.pool(p.shards[0]), nil, nil
	}
	if b.op == opQuery || b.op == opRow {
		pool, refused := r.scatter(b, m, p)
		return pool, refused, nil
	}
	return nil, b.spread(m, p), nil
}

// spread refuses a statement about several shards.
func (b *bound) spread(m *model, p place) *Error {
	remedy := "write in each shard on its own, because the writes are not atomic together"
	if b.op == opCreate {
		remedy = "create the rows of each shard on their own, or use CreateAcross"
	}
	return b.refuse(m, ErrSpread, "it is about "+list(p.shards)+": "+remedy)
}

// pool returns the connections of a logical shard's database.
func (r *router) pool(shard uint64) gorm.ConnPool { return r.shards.At(shard).Config.ConnPool }
