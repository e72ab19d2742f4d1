package dbserver

import (
	"context"
	"database/sql"
	"sync"

	"github.com/shardsnow/snow/internal/sqldialect"
)

// A Kept is a connection that an engine keeps between calls, so that it has one when all others of the pool are in use, perhaps by
// callers that wait for what the engine is to do. Its zero value has none yet. Its methods are safe for concurrent use.
type Kept struct {
	mu    sync.Mutex
	conn  *sql.Conn
	ended bool
}

// Keeping returns an engine that keeps in k the last connection that it used. It keeps none of SQLite, where one connection
// writes at a time, and none of a pool that has only one: somebody else may need it.
func (e *Engine) Keeping(k *Kept) *Engine {
	keeping := *e
	if e.Dialect != sqldialect.SQLite {
		keeping.kept = k
	}
	return &keeping
}

// take returns the connection, or nil if there is none or it is in use.
func (k *Kept) take() (conn *sql.Conn) {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	conn, k.conn = k.conn, nil
	return conn
}

// keep keeps a connection, and reports false if it has one or needs none any more.
func (k *Kept) keep(db *sql.DB, conn *sql.Conn) bool {
	if k == nil || db.Stats().MaxOpenConnections == 1 {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended || k.conn != nil {
		return false
	}
	k.conn = conn
	return true
}

// Revive replaces the connection if it is dead. It also keeps it alive where something on its way ends idle ones.
func (k *Kept) Revive(ctx context.Context, db *sql.DB) {
	conn := k.take()
	if conn == nil {
		return // nobody has used one yet, or somebody does
	}
	if conn.PingContext(ctx) != nil {
		_ = conn.Close()
		var err error
		if conn, err = db.Conn(ctx); err != nil {
			return
		}
	}
	if !k.keep(db, conn) {
		_ = conn.Close()
	}
}

// Close gives the connection back to its pool.
func (k *Kept) Close() {
	conn := k.take()
	k.mu.Lock()
	k.ended = true
	k.mu.Unlock()
	if conn != nil {
		_ = conn.Close()
	}
}
