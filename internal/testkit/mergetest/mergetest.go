// Package mergetest tests package merge on a database: it makes random schemas
// and data, merges them, and takes the result apart again.
//
// Each row has a tag, a text that tells where it comes from and that no merge
// changes. So the new ids are known without asking the program that made them.
//
// The package imports no driver: the tests that run it open the databases.
package mergetest

import (
	"database/sql"
	"errors"
	"flag"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// An Engine is a kind of database.
type Engine struct {
	Dialect sqlsnow.Dialect
	Open    func(tb testing.TB) *sql.DB // an empty database, which is closed at the end of the test
}

// has reports whether case number i of many runs on the engine: each case runs on one of the three engines, and on all
// of them if tests may take minutes. It is for cases where every engine runs the same code of package merge.
func (e Engine) has(i int) bool {
	engines := map[sqlsnow.Dialect]int{sqlsnow.Postgres: 0, sqlsnow.MySQL: 1, sqlsnow.SQLite: 2}
	return testscale.Long() || i%len(engines) == engines[e.Dialect]
}

var (
	worlds   = flag.Int("merge.worlds", testscale.Of(6, 12), "merge at least so many random worlds on each database")
	worldFor = flag.Duration("merge.for", testscale.Of(0, time.Minute), "merge new random worlds for so long")
)

// Open opens a database, and closes it at the end of the test.
func Open(tb testing.TB, driver, dsn string) *sql.DB {
	tb.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

// Run merges random worlds: fixed seeds first, then new ones until the time is
// over. Each is a test named by its seed; -run Test/SEED merges that world alone,
// whichever it is.
func Run(t *testing.T, e Engine) {
	_, wanted, _ := strings.Cut(flag.Lookup("test.run").Value.String(), "/")
	seed, err := strconv.ParseUint(strings.Trim(wanted, "^$"), 10, 64)
	isOne, n := err == nil, *worlds
	if isOne {
		n = 1
	}
	for i, begin := 0, time.Now(); i < n || !isOne && time.Since(begin) < *worldFor; i++ {
		switch {
		case isOne:
		case i < n/2:
			seed = uint64(i + 1)
		default:
			seed = rand.Uint64()
		}
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { random(t, e, seed) })
	}
}

// namespace is the namespace of new ids.
const namespace = "mergetest"

// layout is the layout of all ids, kept and new ones.
func layout(tb testing.TB) snow.Layout { return layoutOf(tb, 4) }

// layoutOf is the same with so many bits of the shard. Servers make new ids only
// where there are none.
func layoutOf(tb testing.TB, shard uint8) snow.Layout {
	tb.Helper()
	l, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 8, Sequence: 14 - shard, Shard: shard})
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// random merges the random world of a seed, in one merge or in two, and compares
// what comes of it with what there was.
func random(t *testing.T, e Engine, seed uint64) {
	w := newWorld(t, seed)
	w.addSlots(seed)
	w.loseRows(seed)
	w.contend(seed)
	w.combine(seed)
	t.Logf("seed %d: %v", seed, w)
	target := w.start(t, e)
	for i, sources := range w.merges {
		w.merge(t, e, target, sources, i == 0)
	}
	o := newOracle(t, e, w, target)
	o.check()
	w.fullSlots(t, e, o)
	for _, s := range w.sources {
		before := s.rows
		if err := w.read(t.Context(), e.Dialect, s); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(before, s.rows) {
			t.Errorf("source %s is not what it was", s.name)
		}
	}
}

// start opens a target, and makes and reads the sources.
func (w *world) start(t *testing.T, e Engine) *sql.DB {
	t.Helper()
	target := w.open(t, e)
	for _, s := range w.sources {
		s.db = e.Open(t)
		if err := w.build(t.Context(), e.Dialect, s); err != nil {
			t.Fatalf("source %s: %v", s.name, err)
		}
		if err := w.read(t.Context(), e.Dialect, s); err != nil {
			t.Fatalf("source %s: %v", s.name, err)
		}
	}
	return target
}

// open opens a target.
func (w *world) open(t *testing.T, e Engine) *sql.DB {
	t.Helper()
	target := e.Open(t)
	if err := sqlsnow.Migrate(t.Context(), target, e.Dialect); err != nil {
		t.Fatal(err)
	}
	if err := sqlsnow.Init(t.Context(), target, e.Dialect, sqlsnow.Namespace{Name: namespace, Layout: w.layout, Workers: 32}); err != nil {
		t.Fatal(err)
	}
	if _, err := target.ExecContext(t.Context(), "CREATE TABLE afterwards (n INT)"); err != nil {
		t.Fatal(err)
	}
	return target
}

// merge does one merge of some sources.
func (w *world) merge(t *testing.T, e Engine, target *sql.DB, names []*source, first bool) {
	t.Helper()
	sources, p := w.inspect(t, e, names)
	if first {
		w.schema(t, target, p)
	}
	m, err := merge.New(e.Dialect, target, sources, p, merge.Config{
		Namespace: namespace, ChunkRows: 1 + w.random.IntN(40), Writers: 1 + w.random.IntN(3), WithoutForeignKeys: w.tight, PackRows: w.packRows, WitnessAll: true,
	})
	if err != nil {
		t.Fatalf("new: %v", err)
	}
	if forecast, err := m.DryRun(t.Context()); err != nil {
		t.Errorf("dry run: %v", err)
	} else if err := forecast.Err(); !isFine(err) {
		t.Errorf("the dry run of what a run does: %v", err)
	}
	if _, err := m.Run(t.Context()); !isFine(err) {
		t.Fatalf("run: %v", err)
	} else if err == nil {
		w.finished++
	}
}

// isFine reports whether nothing is open but paths that lead to nothing: in a small world arrays in JSON may all be
// empty.
func isFine(err error) bool {
	var open *report.OpenError
	return err == nil || errors.As(err, &open) && !slices.ContainsFunc(open.Open, func(o report.Open) bool { return !strings.Contains(o.Reason, "anything at path") })
}

// inspect returns the plan for some sources, as people would decide on it.
func (w *world) inspect(t *testing.T, e Engine, names []*source) ([]merge.Source, *plan.Plan) {
	t.Helper()
	var sources []merge.Source
	for _, s := range names {
		sources = append(sources, merge.Source{Name: s.name, DB: s.db})
	}
	p, err := merge.Inspect(t.Context(), e.Dialect, sources...)
	if err != nil {
		t.Fatalf("inspect: %v", err)
	}
	shortened(t, e, p, sources)
	w.missed(t, p, names)
	w.decide(t, p, names)
	p = reread(t, e, p, sources, w.random)
	if err := p.Check(); err != nil {
		t.Fatalf("check: %v", err)
	}
	return sources, p
}

// schema makes the target's tables.
func (w *world) schema(t *testing.T, target *sql.DB, p *plan.Plan) {
	t.Helper()
	statements, err := p.Schema()
	if err != nil {
		t.Fatalf("schema: %v", err)
	}
	for _, s := range statements {
		if _, err := target.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}
