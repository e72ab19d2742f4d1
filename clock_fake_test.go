package snow

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// A fakeTime is a machine whose clocks a test turns by hand. Sleeping passes
// the time at once.
type fakeTime struct {
	running atomic.Int64 // monotonic
	ahead   atomic.Int64 // wall minus monotonic
	slept   atomic.Int64
	onSleep func() // called before a sleep
}

func newFakeTime(wall time.Time) *fakeTime {
	f := new(fakeTime)
	f.ahead.Store(wall.UnixNano())
	return f
}

func (f *fakeTime) mono() time.Duration { return time.Duration(f.running.Load()) }

func (f *fakeTime) wall() (int64, time.Duration) {
	running := f.running.Load()
	return f.ahead.Load() + running, time.Duration(running)
}

func (f *fakeTime) sleep(ctx context.Context, d time.Duration) error {
	if f.onSleep != nil {
		f.onSleep()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	f.slept.Add(int64(d))
	f.pass(d)
	return nil
}

func (f *fakeTime) pass(d time.Duration) { f.running.Add(int64(d)) }
func (f *fakeTime) step(d time.Duration) { f.ahead.Add(int64(d)) } // of the wall clock
func (f *fakeTime) now() time.Time       { wall, _ := f.wall(); return time.Unix(0, wall).UTC() }

type fakeWorker struct{ grant *Grant }

func (w fakeWorker) Grant() *Grant { return w.grant }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newTest returns a generator on a fake machine, past its first wait.
func newTest(t *testing.T, l Layout, cfg Config) (*Generator, *fakeTime) {
	t.Helper()
	f := newFakeTime(noon)
	g := newOn(t, l, 1, cfg, f)
	mustNext(t, g)
	f.pass(time.Second)
	f.slept.Store(0)
	return g, f
}

// newWorker returns worker 1 on the machine's own clocks. As in a process of its own,
// it shares nothing with the workers of other tests.
func newWorker(t *testing.T, l Layout) Worker {
	t.Helper()
	grant, err := newFixed(l, 0, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fakeWorker{grant}
}

// newReal returns a generator for worker 1 on the machine's own clocks.
func newReal(t *testing.T, l Layout) *Generator {
	t.Helper()
	g, err := NewGenerator(newWorker(t, l), Config{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func newOn(t *testing.T, l Layout, worker uint64, cfg Config, f *fakeTime) *Generator {
	t.Helper()
	grant, err := newFixed(l, 0, worker, f)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGenerator(fakeWorker{grant}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func mustNext(t *testing.T, g *Generator) ID {
	t.Helper()
	id, err := g.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}
