package route

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"gorm.io/gorm"
)

// A target is a database of a router, or a replica of one.
type target struct {
	db       *gorm.DB
	replicas []*target
	turn     atomic.Uint64 // which replica is next
	sent     atomic.Uint64 // statements

	once     sync.Once
	prepared *gorm.PreparedStmtDB // of sessions with PrepareStmt, unless the database has it
}

// pool returns the connections of the database. A session with PrepareStmt has the statements that it prepared
// there, and no others: GORM finds them by their text.
func (t *target) pool(prepares bool) gorm.ConnPool {
	if prepares {
		return t.statements()
	}
	return t.db.Config.ConnPool
}

func (t *target) statements() *gorm.PreparedStmtDB {
	if p, ok := t.db.Config.ConnPool.(*gorm.PreparedStmtDB); ok {
		return p
	}
	t.once.Do(func() {
		t.prepared = gorm.NewPreparedStmtDB(t.db.Config.ConnPool, t.db.PrepareStmtMaxSize, t.db.PrepareStmtTTL)
	})
	return t.prepared
}

// Replicas gives replicas to the databases: a list for each, in the order of the shards. Only the queries of
// [Replica] ask them.
//
//	db, err := route.New(shards, route.Replicas([]*gorm.DB{replica0}, []*gorm.DB{replica1a, replica1b}))
//
// Make replicas read-only in their servers, too: route does not know which functions in a SELECT write.
func Replicas(lists ...[]*gorm.DB) Option {
	return func(r *router) error {
		if len(lists) != len(r.targets) {
			return fmt.Errorf("there are replicas for %d databases, and %d databases: give each a list, or an empty one", len(lists), len(r.targets))
		}
		for i, list := range lists {
			for j, db := range list {
				switch {
				case db == nil:
					return fmt.Errorf("replica %d of database %d is nil", j, i)
				case db.Name() != r.first.Name():
					return fmt.Errorf("replica %d of database %d has the dialect %s, and database 0 has %s", j, i, db.Name(), r.first.Name())
				}
				r.targets[i].replicas = append(r.targets[i].replicas, &target{db: db})
			}
		}
		return nil
	}
}

// Replica returns a session whose queries ask a replica of the database, in turn, if it has some. It is also a
// scope. Its rows may be old: use it where that does no harm. A replica that fails is an error, like a database
// that does.
//
//	route.Replica(db).Where("buyer_id = ?", buyer).Order("id desc").Limit(50).Find(&orders)
//
// Transactions, queries that lock, and raw SQL that may do more than read go to the database itself. Writes of
// the session are refused with [ErrReplica], since they may follow from old rows, as in FirstOrCreate.
func Replica(db *gorm.DB) *gorm.DB { return session(db, func(h *hint) { h.replica = true }) }

// choose returns the database, or one of its replicas if the statement may be answered by one. Those of transactions
// are not asked: they have a connection.
func choose(b *bound, t *target, query string) *target {
	if !b.hint.replica || len(t.replicas) == 0 || b.op != opQuery && b.op != opRow || !reads(query, b.rules.dialect) {
		return t
	}
	b.replica = true
	return t.replicas[(t.turn.Add(1)-1)%uint64(len(t.replicas))]
}

// reads reports whether SQL is a SELECT without locks and without INTO.
func reads(sql, dialect string) bool {
	s := scanner{sql: sql, dialect: dialect}
	if s.next().kind != query {
		return false
	}
	for {
		is := func(t token, word string) bool { return strings.EqualFold(t.text, word) }
		switch t := s.next(); {
		case t.kind == end:
			return s.refused == ""
		case t.kind == last && (is(t, "FOR") || is(t, "LOCK")), t.kind == name && is(t, "INTO"), t.kind == with:
			return false
		}
	}
}
