//go:build unix

package page_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

// A fleet is how many processes a namespace has, and how many of them are late.
type fleet struct {
	name       string
	held, late int
}

// fleets are 200 workers in six namespaces. Nine of them are late.
func fleets() []fleet {
	return []fleet{{"analytics", 40, 0}, {"chat", 29, 3}, {"game-eu", 48, 0}, {"inventory", 20, 0}, {"orders", 34, 6}, {"sessions", 20, 0}}
}

// spaces returns the namespaces of the fleets.
func spaces() (all []sqlsnow.Namespace) {
	for _, f := range fleets() {
		all = append(all, sqlsnow.Namespace{Name: f.name, Layout: snow.DefaultLayout()})
	}
	return all
}

// hostile is a holder of 250 characters that would be a script, if it were not escaped.
func hostile() string {
	return `"><script>alert(1)</script>` + strings.Repeat("very-long-name-of-a-pod-", 10)[:223]
}

// live keeps the fleets renewing until the test ends. On a busy machine a browser may need minutes to look.
func (d database) live(t *testing.T) {
	t.Helper()
	d.occupy(t)
	stop, stopped := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop); <-stopped })
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(15 * time.Second):
				d.occupy(t)
			}
		}
	}()
}

// occupy writes rows as leases would have written them: one statement for each, in one transaction.
func (d database) occupy(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	now, err := sqlsnow.Clock(ctx, d.DB, d.dialect)
	if err != nil {
		t.Error(err)
		return
	}
	tx, err := d.BeginTx(ctx, nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = tx.Rollback() }()
	layout := snow.DefaultLayout()
	tick := func(at time.Time) int64 { return int64(at.Sub(layout.Epoch()) / layout.Tick()) }
	put := func(namespace string, number, state int, claimed, renewed, ceiling time.Time, holder string) {
		mark := func(i int) string {
			if d.dialect == sqlsnow.Postgres {
				return fmt.Sprintf("$%d", i)
			}
			return "?"
		}
		statement := fmt.Sprintf(`UPDATE snow_workers SET state = %s, fence = 3, floor_tick = %s, ceiling_tick = %s, claimed_at_ms = %s, renewed_at_ms = %s, holder = %s
			WHERE namespace = %s AND worker_id = %s`, mark(1), mark(2), mark(3), mark(4), mark(5), mark(6), mark(7), mark(8))
		if _, err := tx.ExecContext(ctx, statement, state, tick(claimed), tick(ceiling), claimed.UnixMilli(), renewed.UnixMilli(), holder, namespace, number); err != nil {
			t.Error(err)
		}
	}
	for _, f := range fleets() {
		for i := range f.held + f.late {
			number, renewed := (i*37)%1024, now.Add(-time.Duration(i%20)*time.Second)
			holder := fmt.Sprintf("%s-7c9f6d5b8-%05x/1", f.name, 0x1b3a7+i*7919)
			if i >= f.held {
				renewed = now.Add(-7*time.Minute - time.Duration(i)*time.Second)
			}
			if f.name == "orders" && i == f.held {
				holder = hostile()
			}
			put(f.name, number, int(sqlsnow.Granted), now.Add(-26*time.Hour), renewed, renewed.Add(10*time.Minute), holder)
		}
		for i := range 5 { // given back a moment ago
			put(f.name, 700+i*31, int(sqlsnow.Free), now.Add(-26*time.Hour), now.Add(-time.Minute), now.Add(9*time.Minute), "gone")
		}
		for i := range 8 {
			put(f.name, 1016+i, int(sqlsnow.Reserved), now, now, layout.Epoch(), "import")
		}
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
}
