package numbers

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/sqlsnow"
)

// A simWorld is a database with failovers. It answers the statements of package numbers as PostgreSQL would, and knows
// nothing of claims: to it, pending is a text.
type simWorld struct {
	plan  simPlan
	texts map[string]simStatement
	begun time.Time

	mu      sync.Mutex
	random  *rand.Rand
	servers []*simServer // the last one is the primary
	marks   int64
	calm    bool
	lost    int // commits
}

type simStatement struct {
	name  string
	names []string
}

// A simServer has rows, and what undoes each commit.
type simServer struct {
	rows map[simKey]simRow
	log  []simUndo
}

type simKey struct{ series, scope string }

type simRow struct {
	pattern, zone               string
	kind, restarts, state, last int64
	pending                     string
}

type simUndo struct {
	at    time.Time
	key   simKey
	row   simRow
	found bool
}

type simError struct{ state string }

func (e *simError) Error() string    { return "SQLSTATE " + e.state }
func (e *simError) SQLState() string { return e.state }

var errSimLost = errors.New("connection reset by peer")

func newSimWorld(seed uint64, plan simPlan) (*simWorld, *dbserver.Engine, error) {
	e, err := dbserver.NumbersFor(sqlsnow.Postgres)
	if err != nil {
		return nil, nil, err
	}
	e = e.In(dbserver.Info{Schema: "shop"})
	w := &simWorld{
		plan: plan, random: rand.New(rand.NewPCG(seed, 11)), texts: map[string]simStatement{}, begun: time.Now(),
		servers: []*simServer{{rows: map[simKey]simRow{}}},
	}
	for name, text := range map[string]string{
		"selectSeries": selectSeries, "insertSeries": insertSeries, "updateSeries": updateSeries, "insertCounter": insertCounter,
		"selectCounter": selectCounter, "updateTake": updateTake, "updateTurn": updateTurn, "updateFence": updateFence,
	} {
		s := e.Compile(text)
		w.texts[s.Text] = simStatement{name, s.Names()}
	}
	return w, e, nil
}

// primary returns the server that takes writes.
func (w *simWorld) primary() *simServer { return w.servers[len(w.servers)-1] }

// failOver makes a replica the primary. It lacks the commits of the last while, at most of LossWindow. The server
// before it goes on answering queries, and refuses writes.
func (w *simWorld) failOver() {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.primary()
	next := &simServer{rows: maps.Clone(old.rows), log: append([]simUndo(nil), old.log...)}
	before := time.Now().Add(-time.Duration(w.random.Int64N(int64(w.plan.loss) + 1)))
	for n := len(next.log); n > 0 && next.log[n-1].at.After(before); n = len(next.log) {
		u := next.log[n-1]
		next.log = next.log[:n-1]
		w.lost++
		if delete(next.rows, u.key); u.found {
			next.rows[u.key] = u.row
		}
	}
	w.servers = append(w.servers, next)
}

func (w *simWorld) upTo(d time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Duration(w.random.Int64N(int64(d) + 1))
}

func (w *simWorld) bad() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.calm && w.random.Float64() < w.plan.message
}

// execute carries a statement to the server and its row back.
func (w *simWorld) execute(c *simConn, query string, args []driver.NamedValue) ([]driver.Value, error) {
	if w.bad() { // it arrives late or never, and nobody hears of it
		if late := w.upTo(2 * w.plan.loss); w.bad() || w.upTo(1) == 0 {
			go func() {
				time.Sleep(late)
				w.mu.Lock()
				defer w.mu.Unlock()
				_, _ = w.run(c.server, query, args)
			}()
		}
		time.Sleep(w.upTo(time.Second))
		return nil, errSimLost
	}
	time.Sleep(w.upTo(2 * time.Millisecond))
	w.mu.Lock()
	row, err := w.run(c.server, query, args)
	w.mu.Unlock()
	time.Sleep(w.upTo(2 * time.Millisecond))
	if w.bad() {
		time.Sleep(w.upTo(time.Second))
		return nil, errSimLost
	}
	return row, err
}

// run executes a statement on a server.
func (w *simWorld) run(on *simServer, query string, args []driver.NamedValue) ([]driver.Value, error) {
	now := time.Now()
	clock := now.UnixMicro()
	isPrimary := on == w.primary()
	if strings.HasPrefix(query, "VALUES (") { // the check of a session
		w.marks++
		return []driver.Value{w.marks, ""}, nil
	}
	if strings.Contains(query, "pg_is_in_recovery") {
		return []driver.Value{strconv.FormatInt(clock, 10), strconv.FormatBool(!isPrimary), "on", "", "true", "shop", "false", "", "", "", "", ""}, nil
	}
	statement, known := w.texts[query]
	if !known {
		return nil, fmt.Errorf("unknown statement: %s", query)
	}
	values := map[string]any{}
	for i, name := range statement.names {
		values[name] = args[i].Value
	}
	text := func(name string) string { s, _ := values[name].(string); return s }
	number := func(name string) int64 { n, _ := values[name].(int64); return n }
	key := simKey{text("series"), text("scope")}
	row, found := on.rows[key]
	has := found && strings.Contains(row.pending, strings.Trim(text("has"), "%"))
	switch statement.name {
	case "selectSeries":
		if !found {
			return nil, nil
		}
		return []driver.Value{row.pattern, row.zone, row.kind, row.restarts, clock}, nil
	case "selectCounter":
		if !found {
			return nil, nil
		}
		return []driver.Value{row.state, row.last, row.pending, clock}, nil
	}
	if !isPrimary {
		if w.plan.flaws.read && statement.name == "updateTurn" && has { // as if the claim had been read only
			return []driver.Value{row.last + number("count")}, nil
		}
		return nil, &simError{"25006"}
	}
	before := row
	switch statement.name {
	case "insertSeries", "insertCounter":
		if found {
			return nil, &simError{"23505"}
		}
		row = simRow{text("pattern"), text("zone"), number("kind"), number("restarts"), stateOpen, 0, "!"}
	case "updateFence":
		if !found || row.state != stateOpen || row.last >= number("least") {
			return nil, nil
		}
		row.state = stateFenced
	case "updateSeries":
		if !has || row.pattern != text("pattern") || row.zone != text("zone") || row.kind != number("kind") || row.restarts != number("restarts") {
			return nil, nil
		}
	case "updateTurn", "updateTake":
		if statement.name == "updateTurn" && !has && !w.plan.flaws.blind || !found || row.state != stateOpen ||
			row.last < number("least") || row.last > number("room") || clock < number("begin") || clock >= number("end") {
			return nil, nil
		}
		row.last += number("count")
	}
	if text("new") != "" {
		row.pending = strings.Replace(strings.ReplaceAll(row.pending, text("old"), ""), "!", text("new"), 1)
		row.pending = row.pending[:min(len(row.pending), 8101)]
	}
	on.rows[key] = row
	on.log = append(on.log, simUndo{now, key, before, found})
	return []driver.Value{row.last}, nil
}

// A simConn is a connection to the server that was the primary when it was opened, or to the one before that.
type simConn struct {
	world  *simWorld
	server *simServer
}

func (w *simWorld) open() *sql.DB         { return sql.OpenDB(w) }
func (w *simWorld) Driver() driver.Driver { return nil }
func (w *simWorld) Connect(context.Context) (driver.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.servers)
	if n > 1 && !w.calm && w.random.IntN(4) == 0 {
		return &simConn{w, w.servers[n-2]}, nil
	}
	return &simConn{w, w.primary()}, nil
}

func (*simConn) Prepare(string) (driver.Stmt, error) { return nil, errSimLost }
func (*simConn) Begin() (driver.Tx, error)           { return nil, errSimLost }
func (*simConn) Close() error                        { return nil }

func (c *simConn) QueryContext(_ context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	row, err := c.world.execute(c, query, args)
	return &simRows{row: row, done: row == nil}, err
}

func (c *simConn) ExecContext(_ context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	row, err := c.world.execute(c, query, args)
	return driver.RowsAffected(min(1, len(row))), err
}

type simRows struct {
	row  []driver.Value
	done bool
}

func (r *simRows) Columns() []string { return make([]string, len(r.row)) }
func (r *simRows) Close() error      { return nil }

func (r *simRows) Next(dest []driver.Value) error {
	if r.done {
		return io.EOF
	}
	r.done = true
	copy(dest, r.row)
	return nil
}
