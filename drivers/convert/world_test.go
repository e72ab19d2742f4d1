package convert_test

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

// A world is a database that is converted, and its writers.
type world struct {
	*testing.T
	dialect sqlsnow.Dialect
	dsn     string
	db      *sql.DB
	tables  map[string]*table
	order   []string          // of tables, parents first as far as there is no circle
	found   map[string]string // references that no key declares
	wide    map[string]string // by table: the key that new programs give; filled when there is a plan
	blocked *blocked
	source  snow.Source
	bulk    map[string]int64 // rows that no model has
	sum     string           // of these rows
	circles bool             // deletions may come back to a table
	random  *rand.Rand
	models  []model

	mu   sync.Mutex
	pool model // rows that all share
	last int   // number of a writer
}

// A server is what a conversion is tested on.
type server struct {
	dialect sqlsnow.Dialect
	start   func(tb testing.TB, options ...string) *dbtest.Server
}

var servers = map[string]server{
	"MySQL":      {sqlsnow.MySQL, dbtest.MariaDB},
	"PostgreSQL": {sqlsnow.Postgres, dbtest.Postgres},
}

// trusting are the options of a server of MySQL on which an account without SUPER makes triggers. MariaDB of the tests
// has no binary log.
func trusting() []string {
	if os.Getenv("SNOW_MYSQL_SERVER") == "" {
		return nil
	}
	return []string{"log_bin_trust_function_creators=1"}
}

// newWorld makes a database with these statements, and some rows.
func newWorld(t *testing.T, s server, statements []string, found map[string]string, seed uint64) *world {
	t.Helper()
	var options []string
	if s.dialect == sqlsnow.MySQL {
		options = trusting()
	}
	on := s.start(t, options...)
	w := &world{
		T: t, dialect: s.dialect, dsn: on.DSN(on.CreateDatabase(t)), found: found, wide: make(map[string]string), blocked: new(blocked),
		bulk: make(map[string]int64), random: rand.New(rand.NewPCG(seed, 1)), pool: make(model),
	}
	w.db = w.open(4)
	session, err := w.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if w.dialect == sqlsnow.MySQL { // tables come in any order
		statements = append([]string{"SET foreign_key_checks = 0"}, append(statements, "SET foreign_key_checks = 1")...)
	}
	for _, statement := range statements {
		if _, err := session.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%v: %s", err, statement)
		}
	}
	var version string
	if err := session.QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	w.circles = w.dialect == sqlsnow.Postgres || strings.Contains(version, "MariaDB")
	t.Log(version)
	if w.tables, err = catalog(t.Context(), w.db, s.dialect, found); err != nil {
		t.Fatal(err)
	}
	w.sort()
	worker, err := snow.Fixed(snow.DefaultLayout(), 1+uint64(os.Getpid())%1000)
	if err == nil {
		w.source, err = snow.NewGenerator(worker, snow.Config{})
	}
	if err != nil {
		t.Fatal(err)
	}
	w.share(false, 3)
	return w
}

// open returns a pool for the database.
func (w *world) open(most int) *sql.DB {
	w.Helper()
	driver := "mysql"
	if w.dialect == sqlsnow.Postgres {
		driver = "pgx"
	}
	db, err := sql.Open(driver, w.dsn)
	if err != nil {
		w.Fatal(err)
	}
	db.SetMaxOpenConns(most)
	w.Cleanup(func() {
		if err := db.Close(); err != nil {
			w.Error(err)
		}
	})
	return db
}

// sort orders the tables.
func (w *world) sort() {
	left := slices.Sorted(maps.Keys(w.tables))
	for len(left) > 0 {
		waits := func(name string, circles bool) bool {
			return slices.ContainsFunc(w.tables[name].foreign, func(f *reference) bool {
				nullable := circles && w.tables[name].column(f.columns[0]).nullable
				return f.table != name && !nullable && slices.Contains(left, f.table)
			})
		}
		i := slices.IndexFunc(left, func(n string) bool { return !waits(n, false) })
		if i < 0 {
			i = max(0, slices.IndexFunc(left, func(n string) bool { return !waits(n, true) }))
		}
		w.order = append(w.order, left[i])
		left = slices.Delete(left, i, i+1)
	}
}

func (w *world) writer(fresh bool) *writer {
	w.last++
	n := &writer{
		world: w, number: w.last, fresh: fresh, source: w.source, db: w.open(1), random: rand.New(rand.NewPCG(w.random.Uint64(), uint64(w.last))),
		rows: make(model), met: make(map[string]int),
	}
	w.models = append(w.models, n.rows)
	return n
}

// share inserts rows that nobody changes, each so many in a table, and to which the rows of all writers refer.
func (w *world) share(fresh bool, each int) {
	w.Helper()
	seed := w.writer(fresh)
	for range each {
		for _, name := range w.order {
			if fresh && w.isLookup(w.tables[name]) {
				continue
			}
			var apply func()
			err := seed.transaction(w.Context(), func(q querier) (err error) {
				apply, err = seed.insert(w.Context(), q, w.tables[name], 1)
				return err
			})
			if err == nil {
				apply()
			} else if !errors.Is(err, errNoParent) {
				w.Fatalf("%s: %v", name, err)
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range w.order {
		for _, r := range seed.rows.sorted(name) {
			w.pool.put(r)
		}
	}
}

// shared returns a row that nobody changes, or nil.
func (w *writer) shared(name string) *row {
	w.mu.Lock()
	defer w.mu.Unlock()
	rows := w.pool.sorted(name)
	if len(rows) == 0 {
		return nil
	}
	return rows[w.random.IntN(len(rows))]
}

// A shift is writers at work.
type shift struct {
	writers []*writer
	stop    context.CancelFunc
	group   sync.WaitGroup
	done    chan struct{} // gets something for each transaction, if there is room
	err     chan error    // the first error
}

// begin lets writers work until they are stopped.
func (w *world) begin(writers ...*writer) *shift {
	ctx, stop := context.WithCancel(w.Context())
	s := &shift{writers: writers, stop: stop, done: make(chan struct{}), err: make(chan error, len(writers))}
	for _, each := range writers {
		s.group.Go(func() {
			if err := each.work(ctx, w.Context(), s.done); err != nil {
				s.err <- err
				stop()
			}
		})
	}
	return s
}

// more waits until the writers have done n transactions more.
func (w *world) more(s *shift, n int) {
	w.Helper()
	for range n {
		select {
		case <-s.done:
		case err := <-s.err:
			w.Fatal(err)
		}
	}
}

// end stops them, and fails if one met what it should not.
func (w *world) end(s *shift) {
	w.Helper()
	s.stop()
	s.group.Wait()
	select {
	case err := <-s.err:
		w.Fatal(err)
	default:
	}
	for _, each := range s.writers {
		w.Logf("writer %d, new program: %v: %d transactions, %v tried again", each.number, each.fresh, each.done, each.met)
		if each.done == 0 {
			w.Errorf("writer %d did nothing", each.number)
		}
	}
}

// restart is what the gate before Count asks for: programs that read numbers of 64 bits. Their connections are new, and
// have no statements any more that were prepared for narrow columns.
func (w *world) restart(s *shift) *shift {
	w.Helper()
	w.end(s)
	for _, each := range s.writers {
		each.db = w.open(1)
	}
	return w.begin(s.writers...)
}

// check compares the database with what all writers were told.
func (w *world) check() {
	w.Helper()
	differences, err := compare(w.Context(), w.db, w.dialect, w.tables, w.bulk, w.models)
	if err != nil {
		w.Fatal(err)
	}
	astray, err := orphans(w.Context(), w.db, w.dialect, w.tables)
	if err != nil {
		w.Fatal(err)
	}
	for i, d := range append(differences, astray...) {
		if w.Error(d); i == 10 {
			w.Fatalf("and %d more", len(differences)+len(astray)-i)
		}
	}
	for _, m := range w.models {
		for name, rows := range m {
			for id, r := range rows {
				if key := w.wide[name]; r.table.counted != "" && !r.fresh && key != "" {
					if n, err := strconv.ParseInt(r.values[key].String, 10, 64); err != nil || n > math.MaxInt32 {
						w.Errorf("%s %s: an old program was told this number, %v; it must stay small", name, id, err)
					}
				}
			}
		}
	}
}

// script returns the statements of a file in testdata.
func script(t *testing.T, name string) (statements []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "--") {
			kept = append(kept, line)
		}
	}
	for statement := range strings.SplitSeq(strings.Join(kept, ""), ";\n") {
		if statement = strings.TrimSpace(statement); statement != "" {
			statements = append(statements, strings.TrimSuffix(statement, ";"))
		}
	}
	return statements
}
