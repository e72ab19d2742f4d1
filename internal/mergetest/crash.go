package mergetest

import (
	"errors"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/shardsnow/snow/sqlsnow/merge"
)

// Crash merges random worlds in processes that die: the first one at its first
// statement, the next one at its second, and so on until one comes to the end.
func Crash(t *testing.T, e Engine) {
	for seed := range uint64(*worlds / 5) {
		t.Run(strconv.FormatUint(seed+1, 10), func(t *testing.T) { crash(t, e, seed+1) })
	}
}

func crash(t *testing.T, e Engine, seed uint64) {
	w := newWorld(t, seed)
	w.merges = [][]*source{w.sources}
	t.Logf("seed %d: %v", seed, w)
	target := w.start(t, e)
	sources, plan := w.inspect(t, e, w.sources)
	w.schema(t, target, plan)
	cfg := merge.Config{
		Namespace: namespace, BatchRows: 20 + w.random.IntN(40), Writers: 1 + w.random.IntN(3), WithoutForeignKeys: w.tight, PackRows: w.packRows, Lease: time.Hour,
	}
	refused := false
	for n := 1; ; n++ {
		f := &fuse{left: n, done: n%2 == 0}
		dying := f.pool(target)
		m, err := merge.New(e.Dialect, dying, sources, plan, cfg)
		if err != nil {
			t.Fatal(err)
		}
		report, err := m.Run(t.Context())
		if err := dying.Close(); err != nil {
			t.Fatal(err)
		}
		if err == nil {
			if err := report.Err(); err != nil {
				t.Error(err)
			}
			t.Logf("%d processes died", n-1)
			break
		}
		if !errors.Is(err, errBlown) {
			t.Fatalf("process %d: %v", n, err)
		}
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
			if _, err := second.Run(t.Context()); !errors.As(err, new(*merge.HeldError)) {
				t.Errorf("a second run: got %v, want a HeldError", err)
			}
		}
		if _, err := target.ExecContext(t.Context(), "UPDATE snow_merge_lease SET until_us = 0"); err != nil {
			t.Fatal(err)
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
