package route

import (
	"context"
	"database/sql"
	"strings"
	"unsafe"

	"gorm.io/gorm"
)

// hintKey is the setting of a statement that On and Scatter make.
const hintKey = "gormsnow:route"

// A hint says what the conditions of a statement need not tell.
type hint struct {
	shard   uint64
	kind    hintKind
	replica bool
}

type hintKind uint8

const (
	none hintKind = iota
	on
	scatter
)

// On returns a session whose statements belong to the logical shard, for SQL that tells no shard: raw SQL, joins
// in text, subqueries. The shard is what [snow.Shards.At] takes, for example snow.HashShard(buyer), or
// layout.Shard(id).
//
//	route.On(db, snow.HashShard(buyer)).Raw("SELECT …").Scan(&rows)
//	route.On(db, shard).Transaction(func(tx *gorm.DB) error { … })
//
// The program vouches for what the SQL says. A statement whose conditions or rows are of another shard is
// refused all the same, with [ErrMismatch].
func On(db *gorm.DB, shard uint64) *gorm.DB {
	return session(db, func(h *hint) { h.kind, h.shard = on, shard })
}

// Scatter returns a session whose queries may be about the rows of all shards. It is also a scope, for db.Scopes
// and gormsnow.FindAcross. With [Guard] these are the rows of the guarded database, and writes and AutoMigrate
// may have it too. Raw SQL must be a SELECT whose rows can follow one another: without functions, joins, groups,
// an order and a limit.
//
//	route.Scatter(db).Model(&Order{}).Where("state = ?", "open").Count(&n)
func Scatter(db *gorm.DB) *gorm.DB { return session(db, func(h *hint) { h.kind = scatter }) }

// session returns a session whose hint is changed.
func session(db *gorm.DB, change func(*hint)) *gorm.DB {
	tx := db.Set(hintKey+":session", true) // a session of db, if db is none: it may have no settings of db's statement
	h := hintOf(tx.Statement)
	change(&h)
	tx.Statement.Settings.Store(hintKey, h)
	if tx == db {
		return tx // a statement that is being made, as in a scope
	}
	return tx.Session(&gorm.Session{})
}

func hintOf(stmt *gorm.Statement) (h hint) {
	// A first look into a sync.Map allocates, and most statements have no settings. reflect's IsZero takes a fifth of
	// what the router costs.
	if *(*[unsafe.Sizeof(stmt.Settings)]byte)(unsafe.Pointer(&stmt.Settings)) == ([unsafe.Sizeof(stmt.Settings)]byte{}) {
		return h
	}
	if v, ok := stmt.Settings.Load(hintKey); ok {
		h, _ = v.(hint)
	}
	return h
}

// A gate lets statements pass, or refuses them.
type gate interface {
	// admit returns the connection for a statement, or refuses it.
	admit(b *bound, p place, query string) (gorm.ConnPool, *Error, error)
}

// bound is the connection of one statement while GORM executes it. It decides when GORM has built the SQL. It is
// also the statement's context, which says what it decided.
type bound struct {
	context.Context
	gate   gate
	rules  *rules
	stmt   *gorm.Statement
	parent gorm.ConnPool
	pool   gorm.ConnPool // after the decision
	op     string
	hint   hint
	raw    bool // the SQL is the caller's
	from   bool // the caller has added a FROM clause
	known  *model
	sql    string
	found  found

	decided   bool
	replica   bool
	place     place
	database  int
	databases []int // if they are several
}

// text returns what the rules read.
func (b *bound) text(m *model) text { return text{b.sql, b.stmt.Table, m, b.op == opCreate} }

// model returns the statement's model, or nil.
func (b *bound) model() *model {
	if b.known == nil && b.stmt.Schema != nil {
		b.known = b.rules.model(b.stmt.Schema)
	}
	return b.known
}

func bind(stmt *gorm.Statement, op string, g gate, r *rules) {
	b := &bound{gate: g, rules: r, stmt: stmt, parent: stmt.ConnPool, op: op, raw: op == opRaw || stmt.SQL.Len() > 0, from: ownFrom(stmt)}
	b.hint, b.Context = hintOf(stmt), stmt.Context
	if former, ok := stmt.Context.(*bound); ok { // of this statement, or of the one that it belongs to
		b.Context = former.Context
	}
	stmt.ConnPool, stmt.Context = b, b
}

func (b *bound) refuse(m *model, err error, reason string) *Error {
	e := &Error{Op: b.op, Reason: reason, Err: err}
	if m != nil {
		e.Model = m.name
	}
	return e
}

// decide returns the connection for the statement. What belongs to it, such as the plugin's look for rows that
// an insert has met, goes the same way.
func (b *bound) decide(query string, args []any) (gorm.ConnPool, error) {
	if b.pool != nil {
		return b.pool, nil
	}
	if b.stmt.DryRun {
		return nil, notRouted()
	}
	p, refused := b.rules.place(b, query, args)
	if refused == nil {
		var err error
		if b.pool, refused, err = b.gate.admit(b, p, query); err != nil {
			return nil, err
		}
	}
	if refused != nil {
		if r, ok := b.gate.(*router); ok {
			refused = r.counts.refuse(refused)
		}
		return nil, refused
	}
	b.place, b.decided = p, true
	return b.pool, nil
}

// ExecContext implements [gorm.ConnPool].
func (b *bound) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if b.op == opRaw && len(args) == 0 && savepoint(query) {
		return unprepared(b.parent).ExecContext(ctx, query)
	}
	pool, err := b.decide(query, args)
	if err != nil {
		return nil, err
	}
	return pool.ExecContext(ctx, query, args...)
}

// QueryContext implements [gorm.ConnPool].
func (b *bound) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	pool, err := b.decide(query, args)
	if err != nil {
		return nil, err
	}
	return pool.QueryContext(ctx, query, args...)
}

// QueryRowContext implements [gorm.ConnPool].
func (b *bound) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	pool, err := b.decide(query, args)
	if err != nil {
		return failedRow(ctx, err)
	}
	return pool.QueryRowContext(ctx, query, args...)
}

// PrepareContext implements [gorm.ConnPool]. GORM calls it for sessions with PrepareStmt only, whose pool is
// around this one.
func (b *bound) PrepareContext(context.Context, string) (*sql.Stmt, error) {
	return nil, b.refuse(nil, ErrUnrouted, "a prepared statement has no rows yet: use a session with PrepareStmt")
}

// savepoint reports whether a statement is what GORM sends for nested transactions, and nothing more.
func savepoint(query string) bool {
	for _, prefix := range []string{"SAVEPOINT ", "ROLLBACK TO SAVEPOINT ", "ROLLBACK TO "} {
		if rest, ok := strings.CutPrefix(query, prefix); ok {
			return rest != "" && strings.IndexFunc(rest, func(r rune) bool {
				return r > 0x7f || !letter(byte(r)) && !digit(byte(r))
			}) < 0
		}
	}
	return false
}

// failedRow returns a row whose Scan fails with err. The database of nobody asks its context before anything else.
func failedRow(ctx context.Context, err error) *sql.Row {
	return new(sql.DB).QueryRowContext(failed{ctx, err}, "")
}

// failed is a context that has ended with an error.
type failed struct {
	context.Context
	err error
}

// Done implements [context.Context].
func (failed) Done() <-chan struct{} {
	ended := make(chan struct{})
	close(ended)
	return ended
}

// Err implements [context.Context].
func (f failed) Err() error { return f.err }
