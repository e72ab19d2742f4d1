package rows

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"testing"
)

// A host takes the place of a test, because dbtest starts servers only for tests. It has the methods that dbtest calls.
type host struct {
	testing.TB // nil; it has the unexported method
	cleanups   []func()
	err        error
}

// Hosted calls do as a test would, and returns its failure. When it returns, everything that do started has ended.
func Hosted(do func(tb testing.TB) error) error {
	// dbtest reads -short, which exists only after this. -help does not show these flags, because the program's flags
	// have been parsed before.
	testing.Init()
	if !flag.Parsed() {
		if err := flag.CommandLine.Parse(nil); err != nil {
			return err
		}
	}
	h := new(host)
	ended := make(chan struct{})
	go func() { // a goroutine that Fatalf can end
		defer close(ended)
		defer h.cleanup()
		if err := do(h); err != nil {
			h.err = errors.Join(h.err, err)
		}
	}()
	<-ended
	return h.err
}

// cleanup calls all cleanups, the last one first, even if one of them ends the goroutine.
func (h *host) cleanup() {
	for _, f := range h.cleanups {
		defer f()
	}
}

func (h *host) Helper() {}

func (h *host) Cleanup(f func()) { h.cleanups = append(h.cleanups, f) }

// Failed reports whether the log of the server is needed.
func (h *host) Failed() bool { return h.err != nil && !errors.Is(h.err, context.Canceled) }

func (h *host) Errorf(format string, args ...any) {
	h.err = errors.Join(h.err, fmt.Errorf(format, args...))
}

// Logf adds to the error: dbtest logs only after a failure.
func (h *host) Logf(format string, args ...any) { h.Errorf(format, args...) }

func (h *host) Fatalf(format string, args ...any) {
	h.Errorf(format, args...)
	runtime.Goexit()
}

// Skipf fails: nothing can be measured without a server.
// Fatal is Fatalf.
func (h *host) Fatal(args ...any) { h.Fatalf("%s", fmt.Sprint(args...)) }

// Skip is Fatal: what is missing can't be measured.
func (h *host) Skip(args ...any) { h.Fatal(args...) }

func (h *host) Skipf(format string, args ...any) { h.Fatalf(format, args...) }
