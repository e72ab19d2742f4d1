package sqlsnowtest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"

	"github.com/shardsnow/snow/sqlsnow"
)

// goroutineLabel marks the goroutines of a clause, and all that they start.
const goroutineLabel = "sqlsnowtest"

// watched runs check, and fails the test if goroutines of package sqlsnow are left at the end.
func watched(t *testing.T, check func()) {
	s := &suite{T: t}
	t.Cleanup(func() { // runs last, because it is registered first
		left := ""
		if !s.reached(func() bool {
			left = goroutines(t.Name())
			return left == "" || t.Failed()
		}) {
			t.Errorf("goroutines are left:\n%s", left)
		}
	})
	pprof.Do(t.Context(), pprof.Labels(goroutineLabel, t.Name()), func(context.Context) { check() })
}

// goroutines returns the stacks of the goroutines of package sqlsnow that bear a label.
func goroutines(label string) string {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return err.Error()
	}
	mark := fmt.Sprintf("%q:%q", goroutineLabel, label)
	code := reflect.TypeFor[sqlsnow.Lease]().PkgPath() + "."
	var found []string
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		if strings.Contains(stack, mark) && strings.Contains(stack, code) {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}

// A journal is a slog.Handler that keeps what it gets.
type journal struct {
	mu     sync.Mutex
	events []slog.Record
}

func (j *journal) Enabled(context.Context, slog.Level) bool { return true }

func (j *journal) Handle(_ context.Context, r slog.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, r.Clone())
	return nil
}

// WithAttrs and WithGroup ignore their arguments: the messages identify the events.
func (j *journal) WithAttrs([]slog.Attr) slog.Handler { return j }
func (j *journal) WithGroup(string) slog.Handler      { return j }

// find returns the nth event whose message has a word in it.
func (j *journal) find(word string, n uint64) (slog.Record, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.events {
		if strings.Contains(r.Message, word) {
			if n--; n == 0 {
				return r, true
			}
		}
	}
	return slog.Record{}, false
}

// awaitEvent waits for the nth event whose message has a word in it.
func (s *suite) awaitEvent(j *journal, word string, n uint64) (event slog.Record) {
	s.Helper()
	s.await(fmt.Sprintf("event %q in the log", word), func() (ok bool) {
		event, ok = j.find(word, n)
		return ok
	})
	if debug := word == "renewed"; (event.Level < slog.LevelInfo) != debug {
		s.Errorf("event %q: got level %v", event.Message, event.Level)
	}
	return event
}

// awaitLoss waits for the nth loss in the log.
func (s *suite) awaitLoss(j *journal, n uint64, reason sqlsnow.Loss) {
	s.Helper()
	var got string
	s.awaitEvent(j, "lost", n).Attrs(func(a slog.Attr) bool {
		if a.Key == "reason" {
			got = a.Value.String()
		}
		return true
	})
	if got != reason.String() {
		s.Errorf("got reason %q in the log, want %q", got, reason)
	}
}
