package chunk

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shardsnow/snow/merge/report"
)

// Whatever a row costs, transactions come near to the time that is aimed at.
func TestPaceFindsTheSize(t *testing.T) {
	const aim = 500 * time.Millisecond
	for _, row := range []time.Duration{10 * time.Microsecond, 100 * time.Microsecond, 2 * time.Millisecond, 50 * time.Millisecond} {
		p := NewPace(1_000_000, aim)
		for range 200 {
			n := p.Size()
			p.Observe(n, n*100, time.Duration(n)*row)
		}
		took := time.Duration(p.Size()) * row
		if p.Size() > Rows/4 && (took < aim/2 || took > aim*3/2) {
			t.Errorf("rows of %v: %d of them take %v, want about %v", row, p.Size(), took, aim)
		}
		if p.Size() < 1 || row == 50*time.Millisecond && p.Size() > Rows/4 {
			t.Errorf("rows of %v: %d of them", row, p.Size())
		}
	}
}

func TestPaceBounds(t *testing.T) {
	p := NewPace(40, time.Second)
	for range 50 {
		p.Observe(p.Size(), 0, 0)
	}
	if p.Size() != 40 {
		t.Errorf("got %d rows, want at most 40", p.Size())
	}
	p = NewPace(100_000, time.Hour)
	p.Observe(p.Size(), p.Size()*(1<<20), time.Millisecond)
	if got := p.Size(); got != MostBytes>>20 {
		t.Errorf("rows of a megabyte: %d of them, want %d", got, MostBytes>>20)
	}
}

func TestPauser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []report.EventKind
		tell := func(e report.Event) { told = append(told, e.Kind) }
		p := &Pauser{}
		if err := p.Wait(t.Context(), tell); err != nil || len(told) > 0 {
			t.Fatalf("no pause: %v, told %v", err, told)
		}
		p.Paused.Store(true)
		done := make(chan error)
		go func() { done <- p.Wait(t.Context(), tell) }()
		synctest.Wait()
		p.Paused.Store(false)
		if err := <-done; err != nil || len(told) != 2 || told[0] != report.EventPause || told[1] != report.EventResume {
			t.Errorf("after the pause: %v, told %v", err, told)
		}
		p.File = filepath.Join(t.TempDir(), "pause")
		if err := os.WriteFile(p.File, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := p.Wait(ctx, tell); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a pause file: got %v, want it to wait for ctx", err)
		}
	})
}
