package main

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

// jobFor returns a job for one order in a database with tables.
func jobFor(t *testing.T) (job, *database) {
	t.Helper()
	dir := t.TempDir()
	s := &story{}
	if err := s.prepare(); err != nil {
		t.Fatal(err)
	}
	registry := filepath.Join(dir, "registry.db")
	if err := makeRegistry(t.Context(), registry, s.layout); err != nil {
		t.Fatal(err)
	}
	dbs, closeAll, err := openDatabases(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := closeAll(); err != nil {
			t.Error(err)
		}
	})
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	return job{Registry: registry, Database: dbs[0].location, Halt: -1, Purchases: []Purchase{
		{FileLine: 2, Buyer: "anna", Item: "tea", Cents: 300, Time: at}, {FileLine: 3, Buyer: "kim", Item: "cup", Cents: 990, Time: at},
	}}, dbs[0]
}

func (d *database) mustCount(t *testing.T) int {
	t.Helper()
	n, err := d.count(&Order{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A process that does the job again stores nothing twice.
func TestJobIsDoneOnce(t *testing.T) {
	j, d := jobFor(t)
	for _, want := range []int{2, 0} {
		p, err := startProcess(t.Context(), j)
		if err != nil {
			t.Fatal(err)
		}
		if n := d.mustCount(t); n != 2-want {
			t.Errorf("%d orders before the word to start, want %d", n, 2-want)
		}
		if err := p.begin(); err != nil {
			t.Fatal(err)
		}
		if stored, err := p.finish(); stored != want || err != nil || d.mustCount(t) != 2 {
			t.Errorf("stored %d, %v; want %d", stored, err, want)
		}
		if err := p.kill(); err != nil {
			t.Error(err)
		}
	}
}

// A killed process leaves whole transactions, and its number stays taken.
func TestKilledProcess(t *testing.T) {
	j, d := jobFor(t)
	j.Halt = 1
	p, err := startProcess(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.begin(); err != nil {
		t.Fatal(err)
	}
	if n, err := p.next(); n.Stored != 0 || n.Done || err != nil {
		t.Fatalf("%+v, %v", n, err)
	}
	if err := p.kill(); err != nil || d.mustCount(t) != 0 {
		t.Errorf("%v; %d orders, want none", err, d.mustCount(t))
	}
	pool, err := sql.Open("sqlite3", sqliteDSN(j.Registry))
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, pool)
	workers, err := sqlsnow.Workers(t.Context(), pool, sqlsnow.SQLite, namespace)
	if err != nil {
		t.Fatal(err)
	}
	if w := workers[p.worker]; w.State != sqlsnow.Granted || time.Until(w.Ceiling) < 9*time.Minute {
		t.Errorf("the number of the killed process: %+v", w)
	}
}

// A process whose parent is gone ends, whatever it waits for.
func TestOrphans(t *testing.T) {
	j, d := jobFor(t)
	j.Halt = 1
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	for _, stdin := range []string{"", string(text[:20]), string(text), string(text) + `"start"`} {
		var out strings.Builder
		if err := work(t.Context(), strings.NewReader(stdin), &out); err == nil || !strings.Contains(err.Error(), errLeft.Error()) {
			t.Errorf("after %d bytes: %v", len(stdin), err)
		}
	}
	if n := d.mustCount(t); n != 0 {
		t.Errorf("%d orders, want none", n)
	}
}

// The error of a process names the process, and shows no password.
func TestProcessThatFails(t *testing.T) {
	j, _ := jobFor(t)
	j.Database = location{Name: "B", DSN: "joe:" + secret + "@tcp(127.0.0.1:1)/shop"}
	if _, err := startProcess(t.Context(), j); err == nil || !strings.HasPrefix(err.Error(), "the process of database B: can't reach shop on 127.0.0.1:1: ") ||
		strings.Contains(err.Error(), secret) {
		t.Errorf("got %v", err)
	}
	j.Registry = filepath.Join(t.TempDir(), "none.db")
	if _, err := startProcess(t.Context(), j); err == nil || !strings.Contains(err.Error(), "sqlsnow.Migrate") {
		t.Errorf("got %v", err)
	}
}
