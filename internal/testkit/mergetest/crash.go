package mergetest

import (
	"database/sql"
	"errors"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/fuse"
	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// Crash merges random worlds in processes that die: the first one at its first
// statement, the next one at its second, and so on until one comes to the end. The
// engines share the worlds: i of n engines has every n-th of them. Where tests are
// not to take long, each has three, and processes die at later and later statements.
func Crash(t *testing.T, e Engine, i, n uint64) {
	for seed := range uint64(testscale.Of(3, 6)) {
		if testscale.Long() && seed%n != i {
			continue
		}
		t.Run(strconv.FormatUint(seed+1, 10), func(t *testing.T) { crash(t, e, seed+1, false) })
	}
	// A merge of a server that a merge has made.
	t.Run("chain", func(t *testing.T) { (&counters{T: t, Engine: e, kind: plan.IDsDense}).chain() })
	// A merge into a target that has rows of an earlier one, which get values of others.
	t.Run("again", func(t *testing.T) { crash(t, e, 15073592063060497265, true) })
}

// dieOften runs processes that die at later and later statements, until one comes to its end, and returns how many
// died. After each of them it calls dead, if that is not nil.
func dieOften(t testing.TB, target *sql.DB, first int, step func(left int) int, run func(f *fuse.Fuse, dying *sql.DB) error, dead func()) (died int) {
	t.Helper()
	for left := first; ; left += step(left) {
		f := &fuse.Fuse{Left: left, Done: died%2 == 1}
		dying := f.Pool(target)
		err := run(f, dying)
		if err := dying.Close(); err != nil {
			t.Fatal(err)
		}
		if err == nil {
			return died
		}
		if !errors.Is(err, fuse.ErrBlown) {
			t.Fatalf("the process that was to die at statement %d: %v", left, err)
		}
		died++
		if dead != nil {
			dead()
		}
		// there may be no such table yet
		_, _ = target.ExecContext(t.Context(), "UPDATE snow_merge_lease SET until_us = 0")
	}
}

func crash(t *testing.T, e Engine, seed uint64, again bool) {
	w := newWorld(t, seed)
	w.addSlots(seed)
	w.loseRows(seed)
	w.contend(seed)
	if !again {
		w.merges = [][]*source{w.sources}
	}
	w.combine(seed)
	t.Logf("seed %d: %v", seed, w)
	target := w.start(t, e)
	last := len(w.merges) - 1
	if again && last == 0 {
		t.Fatal("the world has one merge only")
	}
	for i, earlier := range w.merges[:last] {
		w.merge(t, e, target, earlier, i == 0)
	}
	sources, p := w.inspect(t, e, w.merges[last])
	if !again {
		w.schema(t, target, p)
	}
	cfg := merge.Config{
		Namespace: namespace, ChunkRows: 20 + w.random.IntN(40), Writers: 1 + w.random.IntN(3), WithoutForeignKeys: w.tight, PackRows: w.packRows, Lease: time.Hour,
	}
	refused := false
	died := dieOften(t, target, 1, func(left int) int { return testscale.Of(1+left/4, 1) }, func(_ *fuse.Fuse, dying *sql.DB) error {
		m, err := merge.New(e.Dialect, dying, sources, p, cfg)
		if err != nil {
			return err
		}
		found, err := m.Run(t.Context())
		if !isFine(err) {
			return err
		}
		if err := found.Err(); !isFine(err) {
			t.Error(err)
		}
		if err == nil {
			w.finished++
		}
		return nil
	}, func() {
		// The lease of a dead process outlives it.
		var until int64
		if err := target.QueryRowContext(t.Context(), "SELECT until_us FROM snow_merge_lease").Scan(&until); err != nil || until == 0 || refused {
			return // it may not have come to make the table
		}
		refused = true
		second, err := merge.New(e.Dialect, target, sources, p, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := second.Run(t.Context()); !errors.As(err, new(*report.RunningError)) {
			t.Errorf("a second run: got %v, want a *report.RunningError", err)
		}
	})
	t.Logf("%d processes died", died)
	if again {
		var joined int
		if err := target.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM snow_merge_changes WHERE kind = 'combined'").Scan(&joined); err != nil || joined == 0 {
			t.Errorf("%d values of rows that were there before have changed: %v", joined, err)
		}
	}
	if !refused {
		t.Error("no process died with the lease")
	}
	newOracle(t, e, w, target).check()
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

// chain merges a server that a merge has made, in processes that die once they copy its ledger: when one comes to
// its end, the ids of the servers from before are found, and the ledgers of both merges say the same of them.
func (c *counters) chain() {
	eu, us, asia := c.server("eu", 6, 3), c.server("us", 5, 2), c.server("asia", 3, 2)
	empty := func(p *plan.Plan) *sql.DB {
		statements, err := p.Schema()
		if err != nil {
			c.Fatal(err)
		}
		target := c.Open(c)
		c.exec(target, statements...)
		return target
	}
	p := c.plan(0, eu, us)
	m12 := merge.Source{Name: "m12", DB: empty(p)}
	c.mergeAll(m12.DB, p, eu, us)
	p = c.plan(0, m12, asia)
	target := empty(p)
	inherited := map[int64]bool{}
	died := dieOften(c.T, target, 1, func(int) int { return 1 }, func(f *fuse.Fuse, dying *sql.DB) error {
		f.Unlit = true
		m, err := merge.New(c.Dialect, dying, []merge.Source{m12, asia}, p, merge.Config{Events: func(e report.Event) {
			if e.Phase == "inherit" {
				f.Light()
			}
		}})
		if err != nil {
			return err
		}
		_, err = m.Run(c.Context())
		return err
	}, func() {
		var n int64
		if err := target.QueryRowContext(c.Context(), earlierRows).Scan(&n); err == nil {
			inherited[n] = true
		}
	})
	c.Logf("%d processes died, after which there were so many rows of the ledger of the first merge: %v", died, inherited)
	if len(inherited) < 3 {
		c.Error("no process died while it copied the ledger")
	}
	c.find(target, "m12/eu", eu.DB)
	c.find(target, "m12/us", us.DB)
	c.find(target, "/asia", asia.DB)
	if got, want := c.number(target, earlierRows), c.number(m12.DB, "SELECT COUNT(*) FROM snow_merge_map"); got != want {
		c.Errorf("the map has %d rows of the first merge, want %d", got, want)
	}
}

const earlierRows = "SELECT COUNT(*) FROM snow_merge_map WHERE source_table IN (SELECT source_table FROM snow_merge_earlier)"
