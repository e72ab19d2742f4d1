package rows

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/shardsnow/snow"
)

// A Table is what a key cost where many connections inserted at once.
type Table struct {
	Engine       string // one of the engines' names
	Version      string // what the server says
	Pool         int64  // size of the buffer pool in bytes, for the tables of all keys
	Connections  int
	PerStatement int    // rows of an INSERT statement
	Key          string // one of the keys' names
	Rows         int

	// Index is the size in bytes of what is in the order of the primary key: the clustered index, which has the
	// rows, or PostgreSQL's index of the primary key, which does not.
	Index int64
	Bytes int64 // of the table with all indexes

	Blocks []float64 // rows per second of each turn
}

// A Load is how tables are filled.
type Load struct {
	Connections  int // at most 512
	PerStatement int // rows of an INSERT statement, at most 500
	Rows         int // of each table; rounded up to whole statements of all connections in each of 20 turns
}

// ConcurrentOptions say what to measure.
type ConcurrentOptions struct {
	Engines  []string          // none means MariaDB, MySQL and PostgreSQL
	Loads    []Load            // each has a server of its own
	Progress func(line string) // if not nil, is called with a line to show
}

// Concurrently fills a table for each key from many connections. For each load one server has all tables, and the
// keys take turns of a twentieth of the rows, so that other work on the machine affects all of them. The buffer
// pool is smaller than the tables if they have 100,000 rows or more. Each connection makes ids with its own worker
// number, as a process of its own would; for the keys of one process all connections share one. Otherwise it is
// as [Measure], and returns the tables that were measured and the errors of the other loads.
func Concurrently(ctx context.Context, opts ConcurrentOptions) ([]Table, error) {
	engines, err := choose(opts.Engines, &mariadb, &mysql, &postgres)
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	if opts.Progress == nil {
		opts.Progress = func(string) {}
	}
	var all []Table
	var failed error
	for _, e := range engines {
		for _, l := range opts.Loads {
			if l.Connections <= 0 || l.Connections > 512 || l.PerStatement <= 0 || l.PerStatement > batch || l.Rows <= 0 {
				return nil, fmt.Errorf("rows: load %+v: want 1 to 512 connections, 1 to %d rows a statement, and rows", l, batch)
			}
			name := fmt.Sprintf("%s, %d connections, %d rows a statement", e.name, l.Connections, l.PerStatement)
			tables, err := l.fill(ctx, e, func(line string) { opts.Progress(name + ": " + line) })
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("rows: %s: %w", name, err))
				continue
			}
			all = append(all, tables...)
		}
	}
	return all, failed
}

// A concurrentKey is a kind of key, with a source of them for each connection, or one for all.
type concurrentKey struct {
	name   string
	fill   func(connection int) (fill, error)
	common bool // all connections belong to one process and share its source of ids
}

var concurrentKeys = []concurrentKey{
	{name: AutoIncrement, fill: func(int) (fill, error) { return nil, nil }},
	{name: Snow, fill: func(c int) (fill, error) { return worker(snow.DefaultLayout(), c, snow.Config{}) }},
	{name: Clustered, fill: func(c int) (fill, error) { return worker(snow.Clustered(), c, snow.Config{}) }},
	{name: OneProcess, fill: func(c int) (fill, error) { return worker(snow.Clustered(), c, snow.Config{}) }, common: true},
	{name: OneLane, fill: func(c int) (fill, error) { return worker(snow.Clustered(), c, snow.Config{OneLane: true}) }},
	{name: UUIDv7, fill: func(int) (fill, error) { return fillUUID(uuid.NewV7, binary), nil }},
	{name: UUIDv4, fill: func(int) (fill, error) { return fillUUID(uuid.NewRandom, binary), nil }},
}

// concurrentKeys returns the keys for which the engine has a column.
func (e *engine) concurrentKeys() []concurrentKey {
	return slices.DeleteFunc(slices.Clone(concurrentKeys), func(k concurrentKey) bool { return e.columns[k.name] == "" })
}

func worker(l snow.Layout, number int, cfg snow.Config) (fill, error) {
	w, err := snow.Fixed(l, uint64(number))
	if err != nil {
		return nil, err
	}
	gen, err := snow.NewGenerator(w, cfg)
	if err != nil {
		return nil, err
	}
	return fillSnow(gen), nil
}

// fill fills the tables of all keys on a server of their own.
func (l Load) fill(ctx context.Context, e *engine, progress func(string)) (tables []Table, err error) {
	err = Hosted(func(tb testing.TB) error {
		kinds := e.concurrentKeys()
		pool := int64(len(kinds)) * poolSize(l.Rows)
		options := append(e.options(pool), fmt.Sprintf("max-connections=%d", len(kinds)*l.Connections+20))
		server := e.start(tb, options...)
		var writers [][]*writer
		var databases []*sql.DB
		for _, k := range kinds {
			db, err := sql.Open(e.driver, server.DSN(server.CreateDatabase(tb)))
			if err != nil {
				return err
			}
			defer db.Close()
			db.SetMaxIdleConns(l.Connections)
			t := Table{Engine: e.name, Connections: l.Connections, PerStatement: l.PerStatement, Key: k.name}
			if err := db.QueryRowContext(ctx, e.info).Scan(&t.Version, &t.Pool); err != nil {
				return fmt.Errorf("ask the server: %w", err)
			}
			for _, statement := range e.schema(e.columns[k.name]) {
				if _, err := db.ExecContext(ctx, statement); err != nil {
					return fmt.Errorf("create the table: %w", err)
				}
			}
			var ws []*writer
			var keys fill
			for c := range l.Connections {
				if c == 0 || !k.common {
					if keys, err = k.fill(c); err != nil {
						return err
					}
				}
				w, err := l.writer(ctx, e, db, c, keys)
				if err != nil {
					return err
				}
				defer w.close()
				ws = append(ws, w)
			}
			tables, databases, writers = append(tables, t), append(databases, db), append(writers, ws)
		}
		for block := range blocks {
			for i := range tables {
				i = (i + block) % len(tables) // each goes first as often as the others
				if err := l.turn(ctx, &tables[i], writers[i]); err != nil {
					return fmt.Errorf("%s: %w", tables[i].Key, err)
				}
			}
			progress(fmt.Sprintf("%d of %d turns", block+1, blocks))
		}
		for i := range tables {
			if err := tables[i].weigh(ctx, e, databases[i]); err != nil {
				return fmt.Errorf("%s: %w", tables[i].Key, err)
			}
		}
		return nil
	})
	return tables, err
}

// turn inserts a twentieth of the rows of a table from all connections.
func (l Load) turn(ctx context.Context, t *Table, writers []*writer) error {
	round := l.Connections * l.PerStatement
	statements := (l.Rows + blocks*round - 1) / (blocks * round)
	errs := make([]error, len(writers))
	var all sync.WaitGroup
	start := time.Now()
	for i, w := range writers {
		all.Go(func() {
			for range statements {
				if errs[i] = w.insert(ctx); errs[i] != nil {
					return
				}
			}
		})
	}
	all.Wait()
	took := time.Since(start)
	t.Rows += statements * round
	t.Blocks = append(t.Blocks, float64(statements*round)/took.Seconds())
	return errors.Join(errs...)
}

// weigh asks for the sizes, when everything is written.
func (t *Table) weigh(ctx context.Context, e *engine, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := execute(ctx, conn, e.flush); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return cmp.Or(conn.QueryRowContext(ctx, e.index).Scan(&t.Index), conn.QueryRowContext(ctx, e.size).Scan(&t.Bytes))
}

// A writer is a connection that inserts.
type writer struct {
	conn   *sql.Conn
	stmt   *sql.Stmt
	fill   fill // nil if the database makes the keys
	orders *orders
	ids    []any
	args   []any
}

func (l Load) writer(ctx context.Context, e *engine, db *sql.DB, number int, keys fill) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	stmt, err := conn.PrepareContext(ctx, e.insert(l.PerStatement, keys != nil))
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &writer{conn: conn, stmt: stmt, fill: keys, orders: newOrders(l.Rows, uint64(number)+2), ids: make([]any, l.PerStatement)}, nil
}

func (w *writer) close() {
	w.stmt.Close()
	w.conn.Close()
}

func (w *writer) insert(ctx context.Context) error {
	if w.fill != nil {
		if err := w.fill(ctx, 0, w.ids); err != nil {
			return err
		}
	}
	w.args = w.args[:0]
	for _, id := range w.ids {
		if w.fill != nil {
			w.args = append(w.args, id)
		}
		w.args = w.orders.append(w.args)
	}
	_, err := w.stmt.ExecContext(ctx, w.args...)
	return err
}
