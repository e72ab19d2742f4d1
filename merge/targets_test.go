//go:build unix

package merge_test

import (
	"testing"

	"github.com/shardsnow/snow/sqlsnow"
)

// Two pairs of servers, each merged into a target of its own by one plan, share
// no id where they share a namespace, though their rows are the same.
func TestTargetsOfOneNamespace(t *testing.T) {
	f := newFixture(t, "", players, somePlayers("a", 50))
	f.tables()
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	first := f.target
	again := newFixture(t, "", players, somePlayers("a", 50))
	again.config.Registry = f.config.Registry
	again.tables()
	if err := again.run(); err != nil {
		t.Fatal(err)
	}
	workers, err := sqlsnow.Workers(t.Context(), f.config.Registry, sqlsnow.MySQL, "game")
	if err != nil {
		t.Fatal(err)
	}
	reserved := 0
	for _, w := range workers {
		if w.State == sqlsnow.Reserved {
			reserved++
		}
	}
	if reserved != 2 {
		t.Errorf("%d worker numbers are reserved, want 2: %+v", reserved, workers)
	}
	const ids = "SELECT id FROM players ORDER BY id"
	if f.rows(first, ids) == again.rows(again.target, ids) {
		t.Error("both targets have the same ids")
	}
}
