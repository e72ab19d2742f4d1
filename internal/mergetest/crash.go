package mergetest

import (
	"errors"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testscale"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/report"
)

// Crash merges random worlds in processes that die: the first one at its first
// statement, the next one at its second, and so on until one comes to the end.
// Where tests are not to take long, they die at later and later statements.
func Crash(t *testing.T, e Engine) {
	for seed := range uint64(testscale.Of(3, 6)) {
		t.Run(strconv.FormatUint(seed+1, 10), func(t *testing.T) { crash(t, e, seed+1, false) })
	}
	// A merge into a target that has rows of an earlier one, which get values of others.
	t.Run("again", func(t *testing.T) { crash(t, e, 15073592063060497265, true) })
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
	sources, plan := w.inspect(t, e, w.merges[last])
	if !again {
		w.schema(t, target, plan)
	}
	cfg := merge.Config{
		Namespace: namespace, ChunkRows: 20 + w.random.IntN(40), Writers: 1 + w.random.IntN(3), WithoutForeignKeys: w.tight, PackRows: w.packRows, Lease: time.Hour,
	}
	refused := false
	died := 0
	for n := 1; ; n += testscale.Of(1+n/4, 1) {
		f := &fuse{left: n, done: died%2 == 1}
		dying := f.pool(target)
		m, err := merge.New(e.Dialect, dying, sources, plan, cfg)
		if err != nil {
			t.Fatal(err)
		}
		found, err := m.Run(t.Context())
		if err := dying.Close(); err != nil {
			t.Fatal(err)
		}
		if isFine(err) {
			if err := found.Err(); !isFine(err) {
				t.Error(err)
			}
			t.Logf("%d processes died", died)
			if err == nil {
				w.finished++
			}
			break
		}
		if !errors.Is(err, errBlown) {
			t.Fatalf("process %d: %v", n, err)
		}
		died++
		// The lease of a dead process outlives it.
		var until int64
		if err := target.QueryRowContext(t.Context(), "SELECT until_us FROM snow_merge_lease").Scan(&until); err != nil {
			continue // nor did it come to make the table
		}
		if until > 0 && !refused {
			refused = true
			second, err := merge.New(e.Dialect, target, sources, plan, cfg)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := second.Run(t.Context()); !errors.As(err, new(*report.RunningError)) {
				t.Errorf("a second run: got %v, want a *report.RunningError", err)
			}
		}
		if _, err := target.ExecContext(t.Context(), "UPDATE snow_merge_lease SET until_us = 0"); err != nil {
			t.Fatal(err)
		}
	}
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
