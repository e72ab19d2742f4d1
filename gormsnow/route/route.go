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
// shards. With PrepareStmt, in the databases or in a session of the router, each database has prepared statements
// of its own. dbresolver can't be in use.
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
	shards  *snow.Shards[*gorm.DB]
	first   *gorm.DB
	rules   *rules
	targets []*target // by index of the database
	models  []any     // that Models names
	counts  counts
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
	for i := range uint64(shards.Len()) {
		r.targets = append(r.targets, &target{db: shards.At(i)})
	}
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
		if !ok || tx.Error != nil {
			return
		}
		if tx.DryRun {
			if _, explained := tx.Statement.Settings.Load(explainKey); !explained {
				return
			}
		}
		if _, again := tx.Statement.ConnPool.(*bound); again {
			return
		}
		if of, _ := routerOf(tx.Statement.ConnPool); of == r {
			bind(tx.Statement, op, r, r.rules)
			return
		}
		_ = tx.AddError(r.counts.refuse((&bound{op: op}).refuse(nil, ErrUnrouted, fmt.Sprintf("its connection is a %T: is dbresolver in use?", tx.Statement.ConnPool))))
	}
}

// routerOf returns the router whose pool it is, also within GORM's prepared statements.
func routerOf(pool gorm.ConnPool) (*router, bool) {
	switch p := pool.(type) {
	case *root:
		return p.r, true
	case *transaction:
		return p.r, true
	}
	if inner, ok := preparing(pool); ok {
		return routerOf(inner)
	}
	return nil, false
}

// preparing returns the connection within the one of a session with PrepareStmt. GORM's own is not used: it finds
// statements by their text, also the ones that the first database has prepared.
func preparing(pool gorm.ConnPool) (inner gorm.ConnPool, ok bool) {
	switch p := pool.(type) {
	case *gorm.PreparedStmtDB:
		return p.ConnPool, true
	case *gorm.PreparedStmtTX:
		return p.Tx, true
	}
	return nil, false
}

// unprepared returns the connection without prepared statements, for savepoints, which MySQL does not prepare.
func unprepared(pool gorm.ConnPool) gorm.ConnPool {
	if inner, ok := preparing(pool); ok {
		return inner
	}
	return pool
}

func transactionOf(pool gorm.ConnPool) (tx *transaction, ok bool) {
	tx, ok = unprepared(pool).(*transaction)
	return tx, ok
}

// admit implements gate.
func (r *router) admit(b *bound, p place, query string) (gorm.ConnPool, *Error, error) {
	tx, _ := transactionOf(b.parent)
	_, prepares := preparing(b.parent)
	m := b.model()
	send := func(database int) gorm.ConnPool {
		t := choose(b, r.targets[database], query)
		t.sent.Add(1)
		b.database = database
		return t.pool(prepares)
	}
	switch {
	case b.hint.replica && b.op != opQuery && b.op != opRow:
		return nil, b.refuse(m, ErrReplica, "a session of Replica only reads: use one without it"), nil
	case p.any && tx != nil:
		pool, database := tx.any(prepares)
		r.targets[database].sent.Add(1)
		b.database = database
		return pool, nil, nil
	case p.any:
		return send(0), nil, nil
	case len(p.shards) == 1 && tx != nil:
		pool, pinned, err := tx.at(p.shards[0], prepares)
		switch {
		case err != nil:
			return nil, nil, err
		case pool == nil:
			return nil, crossing(b, m, pinned, p), nil
		}
		b.database = r.shards.Index(p.shards[0])
		r.targets[b.database].sent.Add(1)
		return pool, nil, nil
	case len(p.shards) == 1:
		return send(r.shards.Index(p.shards[0])), nil, nil
	case b.op != opQuery && b.op != opRow:
		return nil, spread(b, m, p), nil
	}
	asked, refused := r.scatter(b, m, p)
	if refused != nil {
		return nil, refused, nil
	}
	for _, database := range asked.databases {
		asked.pools = append(asked.pools, send(database))
	}
	if len(asked.databases) > 1 {
		b.databases = asked.databases
		r.counts.scattered.Add(1)
		r.counts.asked.Add(uint64(len(asked.databases)))
	}
	return asked, nil, nil
}

// databases returns which databases admit would let a statement pass to.
func (r *router) databases(b *bound, m *model, p place) ([]int, *Error) {
	tx, _ := transactionOf(b.parent)
	switch {
	case b.hint.replica && b.op != opQuery && b.op != opRow:
		return nil, b.refuse(m, ErrReplica, "a session of Replica only reads: use one without it")
	case p.any:
		return []int{0}, nil
	case len(p.shards) == 1:
		if pinned, ok := tx.pinned(); ok && pinned != p.shards[0] {
			return nil, crossing(b, m, pinned, p)
		}
		return []int{r.shards.Index(p.shards[0])}, nil
	case b.op != opQuery && b.op != opRow:
		return nil, spread(b, m, p)
	}
	asked, refused := r.scatter(b, m, p)
	if refused != nil {
		return nil, refused
	}
	return asked.databases, nil
}

func crossing(b *bound, m *model, pinned uint64, p place) *Error {
	return b.refuse(m, ErrCrossShard, fmt.Sprintf("the transaction is in the shard %d, and this belongs to %s: use a transaction for each", pinned, list(p.shards)))
}

// spread refuses a statement about several shards.
func spread(b *bound, m *model, p place) *Error {
	remedy := "write in each shard on its own, because the writes are not atomic together"
	if b.op == opCreate {
		remedy = "create the rows of each shard on their own, or use CreateAcross"
	}
	return b.refuse(m, ErrSpread, "it is about "+list(p.shards)+": "+remedy)
}
