//go:build unix

package mysql

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/internal/testkit/testscale"
)

var errKilled = errors.New("the program was killed")

// A killer makes sessions that all end at a statement: before it is sent, or after it was done.
type killer struct {
	sqldriver.Connector
	left  atomic.Int64 // statements
	after bool
	dead  atomic.Bool

	mu       sync.Mutex
	sessions []*mortal
}

func (k *killer) Connect(ctx context.Context) (sqldriver.Conn, error) {
	if k.dead.Load() {
		return nil, errKilled
	}
	conn, err := k.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	m := &mortal{Conn: conn, killer: k}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sessions = append(k.sessions, m)
	return m, nil
}

// strike reports whether the program is dead, and with which statement it dies.
func (k *killer) strike() (dead, last bool) {
	if k.dead.Load() {
		return true, false
	}
	if k.left.Add(-1) != 0 {
		return false, false
	}
	k.dead.Store(true)
	return !k.after, true
}

func (k *killer) bury() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, m := range k.sessions {
		_ = m.Conn.Close()
	}
}

// mortal is a session.
type mortal struct {
	sqldriver.Conn
	killer *killer
}

func (m *mortal) ExecContext(ctx context.Context, query string, args []sqldriver.NamedValue) (sqldriver.Result, error) {
	dead, last := m.killer.strike()
	if dead {
		return nil, errKilled
	}
	done, err := m.Conn.(sqldriver.ExecerContext).ExecContext(ctx, query, args)
	if last {
		return nil, errKilled
	}
	return done, err
}

func (m *mortal) QueryContext(ctx context.Context, query string, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	dead, last := m.killer.strike()
	if dead || last {
		return nil, errKilled
	}
	return m.Conn.(sqldriver.QueryerContext).QueryContext(ctx, query, args)
}

func (m *mortal) BeginTx(ctx context.Context, options sqldriver.TxOptions) (sqldriver.Tx, error) {
	if dead, last := m.killer.strike(); dead || last {
		return nil, errKilled
	}
	tx, err := m.Conn.(sqldriver.ConnBeginTx).BeginTx(ctx, options)
	return &mortalTx{tx, m.killer}, err
}

func (m *mortal) CheckNamedValue(v *sqldriver.NamedValue) error {
	return m.Conn.(sqldriver.NamedValueChecker).CheckNamedValue(v)
}

type mortalTx struct {
	sqldriver.Tx
	killer *killer
}

func (t *mortalTx) Commit() error {
	dead, last := t.killer.strike()
	if dead {
		return errKilled
	}
	err := t.Tx.Commit()
	if last {
		return errKilled
	}
	return err
}

// killed does something with sessions that end at the n-th statement, and reports whether they have ended.
func (h *house) killed(step string, n int, after bool, do func(context.Context, *job.Run) error) bool {
	h.Helper()
	config, err := driver.ParseDSN(h.server.DSN(h.name) + "&interpolateParams=true")
	if err != nil {
		h.Fatal(err)
	}
	connector, err := driver.NewConnector(config)
	if err != nil {
		h.Fatal(err)
	}
	k := &killer{Connector: connector, after: after}
	k.left.Store(int64(n))
	db := sql.OpenDB(k)
	defer db.Close()
	run, err := h.run(h.Context(), db, step)
	if err == nil {
		err = do(h.Context(), run)
	}
	k.bury()
	if err != nil && !k.dead.Load() {
		h.Fatalf("%s: %v", step, err)
	}
	return k.dead.Load()
}

// TestKills ends the program at statements of each step, before and after the server has done them. Then the step is
// done again, or taken back. Meanwhile, writers go on.
func TestKills(t *testing.T) {
	h := newHouse(t, shop)
	h.needNativeKeys(t)
	h.fill(20)
	w := startWriters(h, 2, 7)
	stride, kills := testscale.Of(200, 1), 0
	for i, s := range h.steps() {
		last := i == len(h.steps())-1
		for n := 1 + i%5; ; n += stride {
			struck := h.killed(s.Name, n, n%2 == 0, s.Do)
			if struck {
				kills++
			}
			if struck && n%3 == 0 && s.Undo != nil { // back from where it was
				h.undo(s)
			}
			h.do(s)
			if !struck || last || t.Failed() {
				break
			}
			if s.Undo == nil {
				h.exec("DELETE FROM test_steps WHERE name = " + literal(s.Name))
				continue
			}
			if h.killed(s.Name, n, n%2 == 1, s.Undo) {
				kills++
				h.undo(s)
			}
		}
		if t.Failed() {
			break
		}
	}
	w.stop()
	h.compare()
	t.Logf("%d kills", kills)
}
