package route

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"

	"gorm.io/gorm"
)

// A refuser is a connection that sends nothing. What reaches it has not been routed.
type refuser struct{ r *router }

func notRouted() error {
	return &Error{Op: "connection", Err: ErrUnrouted, Reason: "a router has no connection of its own: use one of its databases, or On for SQL"}
}

// PrepareContext implements [gorm.ConnPool].
func (*refuser) PrepareContext(context.Context, string) (*sql.Stmt, error) { return nil, notRouted() }

// ExecContext implements [gorm.ConnPool].
func (*refuser) ExecContext(context.Context, string, ...any) (sql.Result, error) {
	return nil, notRouted()
}

// QueryContext implements [gorm.ConnPool].
func (*refuser) QueryContext(context.Context, string, ...any) (*sql.Rows, error) {
	return nil, notRouted()
}

// QueryRowContext implements [gorm.ConnPool].
func (*refuser) QueryRowContext(ctx context.Context, _ string, _ ...any) *sql.Row {
	return failedRow(ctx, notRouted())
}

// GetDBConn implements [gorm.GetDBConnector].
func (*refuser) GetDBConn() (*sql.DB, error) { return nil, notRouted() }

// root is the connection of a router's *gorm.DB. It only begins transactions.
type root struct{ refuser }

// BeginTx implements [gorm.ConnPoolBeginner].
func (p *root) BeginTx(ctx context.Context, options *sql.TxOptions) (gorm.ConnPool, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &transaction{refuser: refuser{p.r}, ctx: ctx, options: options}, nil
}

// A transaction begins with its first statement that tells a shard, in the database of that shard. It has no
// BeginTx, or GORM would begin another one inside.
type transaction struct {
	refuser
	ctx     context.Context
	options *sql.TxOptions

	mu       sync.Mutex
	tx       gorm.ConnPool // nil before the first statement
	shard    uint64
	database int
	saves    []string // savepoints before the first statement
	ended    bool
}

// at returns the connection, if the transaction is in the shard or begins there. Otherwise it returns nil and
// the shard of the transaction.
func (t *transaction) at(shard uint64, prepares bool) (pool gorm.ConnPool, pinned uint64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended:
		return nil, 0, sql.ErrTxDone
	case t.tx != nil && shard == t.shard:
		return t.pool(prepares), shard, nil
	case t.tx != nil:
		return nil, t.shard, nil
	}
	var tx gorm.ConnPool
	database := t.r.shards.Index(shard)
	switch p := t.r.targets[database].pool(false).(type) {
	case gorm.TxBeginner:
		// A nil *sql.Tx must not become a connection.
		begun, failed := p.BeginTx(t.ctx, t.options)
		if failed != nil {
			return nil, 0, failed
		}
		tx = begun
	case gorm.ConnPoolBeginner:
		if tx, err = p.BeginTx(t.ctx, t.options); err != nil {
			return nil, 0, err
		}
	default:
		return nil, 0, gorm.ErrInvalidTransaction
	}
	t.tx, t.shard, t.database = tx, shard, database
	for _, s := range t.saves {
		if _, err := unprepared(t.tx).ExecContext(t.ctx, s); err != nil {
			return nil, 0, err
		}
	}
	return t.pool(prepares), shard, nil
}

// pool returns the connection of a transaction that has begun.
func (t *transaction) pool(prepares bool) gorm.ConnPool {
	if tx, ok := t.tx.(gorm.Tx); ok && prepares {
		if _, already := preparing(tx); !already {
			return &gorm.PreparedStmtTX{Tx: tx, PreparedStmtDB: t.r.targets[t.database].statements()}
		}
	}
	return t.tx
}

// pinned returns the shard of a transaction that has begun.
func (t *transaction) pinned() (shard uint64, ok bool) {
	if t == nil {
		return 0, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shard, t.tx != nil
}

// StmtContext implements [gorm.Tx], for sessions with PrepareStmt. The statement fails: it may be of another database.
func (*transaction) StmtContext(ctx context.Context, stmt *sql.Stmt) *sql.Stmt {
	return new(sql.Tx).StmtContext(failed{ctx, notRouted()}, stmt)
}

// any returns a connection for a query to which every database has the same answer.
func (t *transaction) any(prepares bool) (pool gorm.ConnPool, database int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tx != nil {
		return t.pool(prepares), t.database
	}
	return t.r.targets[0].pool(prepares), 0
}

// ExecContext sends savepoints, and keeps them until the transaction has begun.
func (t *transaction) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case len(args) > 0 || !savepoint(query):
		return nil, notRouted()
	case t.tx != nil:
		return unprepared(t.tx).ExecContext(ctx, query)
	case strings.HasPrefix(query, "SAVEPOINT "):
		t.saves = append(t.saves, query)
	}
	// Before the first statement a rollback to a savepoint has nothing to undo, and the savepoint stays.
	return nothing{}, nil
}

// Commit implements [gorm.TxCommitter].
func (t *transaction) Commit() error { return t.end(gorm.TxCommitter.Commit) }

// Rollback implements [gorm.TxCommitter].
func (t *transaction) Rollback() error { return t.end(gorm.TxCommitter.Rollback) }

func (t *transaction) end(how func(gorm.TxCommitter) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tx == nil {
		if t.ended {
			return sql.ErrTxDone
		}
		t.ended = true
		return nil
	}
	t.ended = true
	c, ok := t.tx.(gorm.TxCommitter)
	if !ok {
		return errors.New("route: the connection of the database has no Commit")
	}
	return how(c)
}

type nothing struct{}

// LastInsertId implements [sql.Result].
func (nothing) LastInsertId() (int64, error) { return 0, nil }

// RowsAffected implements [sql.Result].
func (nothing) RowsAffected() (int64, error) { return 0, nil }
