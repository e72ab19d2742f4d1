package convert_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// blocked remembers how long statements of writers took, and which step of a conversion was under way.
type blocked struct {
	mu    sync.Mutex
	waits []wait
	steps []stepTime
}

type (
	wait     struct{ from, to time.Time }
	stepTime struct {
		name     string
		from, to time.Time
	}
)

// long is what is remembered: most statements take a millisecond.
const long = 20 * time.Millisecond

func (b *blocked) note(from time.Time) {
	to := time.Now()
	if to.Sub(from) < long {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waits = append(b.waits, wait{from, to})
}

// begin says that a step begins now, and that the one before is over.
func (b *blocked) begin(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if n := len(b.steps); n > 0 {
		b.steps[n-1].to = now
	}
	b.steps = append(b.steps, stepTime{name, now, time.Time{}})
}

// table returns the longest wait in each step, beside what the plan says of it. It leaves out steps in which nobody
// waited longer than usual.
func (b *blocked) table(says map[string]string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	longest, took := make(map[string]time.Duration), make(map[string]time.Duration)
	var names []string
	for _, s := range b.steps {
		if s.to.IsZero() {
			s.to = time.Now()
		}
		if took[s.name] == 0 {
			names = append(names, s.name)
		}
		took[s.name] += s.to.Sub(s.from)
		for _, w := range b.waits {
			from, to := w.from, w.to
			if from.Before(s.from) {
				from = s.from
			}
			if to.After(s.to) {
				to = s.to
			}
			longest[s.name] = max(longest[s.name], to.Sub(from))
		}
	}
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(longest[y], longest[x]) })
	var out strings.Builder
	for _, n := range names {
		if longest[n] >= long {
			fmt.Fprintf(&out, "%8v of %8v  %-40s %s\n", longest[n].Round(time.Millisecond), took[n].Round(time.Millisecond), n, says[n])
		}
	}
	return out.String()
}

// timed is a transaction whose statements are timed.
type timed struct {
	tx *sql.Tx
	b  *blocked
}

func (t timed) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	defer t.b.note(time.Now())
	return t.tx.ExecContext(ctx, query, args...)
}

func (t timed) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	defer t.b.note(time.Now())
	return t.tx.QueryContext(ctx, query, args...) //nolint:sqlclosecheck // the caller does
}

func (t timed) commit() error {
	defer t.b.note(time.Now())
	return t.tx.Commit()
}
