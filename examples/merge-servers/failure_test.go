//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// execute changes a database of a stage.
func (s *stage) execute(t *testing.T, dsn string, statements ...string) {
	t.Helper()
	db := s.open(t, dsn)
	for _, text := range statements {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// A run whose verification fails prints its report all the same, with more rows
// than the error names.
func TestFailedVerification(t *testing.T) {
	s := newStage(t, "sqlite", 400)
	target := s.world(t)
	s.execute(t, target, "CREATE TRIGGER spoil AFTER INSERT ON items BEGIN UPDATE items SET amount = amount + 1 WHERE id = NEW.id; END")
	for _, args := range [][]string{s.run(target), s.run(target, "-wait", "10s"), s.command("verify", target)} {
		got := runMerge(t, args...)
		if n := strings.Count(got.stdout, "items"); got.code != 1 || n < 5 || !strings.Contains(got.stderr, "found wrong") {
			t.Errorf("%s: exit status %d, stderr %q, %d times items in stdout:\n%s", args[0], got.code, got.stderr, n, got.stdout)
		}
		got = runMerge(t, append(args, "-json")...)
		found := new(report.Report)
		if err := json.Unmarshal([]byte(got.stdout), found); err != nil || got.code != 1 || len(found.Failures) < 5 || found.Failures[0].Row == "" {
			t.Errorf("%s -json: exit status %d, %v, failures %v", args[0], got.code, err, found.Failures)
		}
	}
}

// A circle of foreign keys without NULL takes a flag, which each step of a merge has.
func TestWithoutForeignKeys(t *testing.T) {
	dir := t.TempDir()
	s := &stage{name: "sqlite", s1: filepath.Join(dir, "s1.db"), plan: filepath.Join(dir, "plan.yaml")}
	target := filepath.Join(dir, "world.db")
	s.execute(t, s.s1, "PRAGMA foreign_keys = off",
		"CREATE TABLE guilds (id INTEGER PRIMARY KEY, leader_id INTEGER NOT NULL REFERENCES players (id))",
		"CREATE TABLE players (id INTEGER PRIMARY KEY, guild_id INTEGER NOT NULL REFERENCES guilds (id))",
		"BEGIN", "INSERT INTO guilds VALUES (1, 2)", "INSERT INTO players VALUES (2, 1)", "COMMIT")
	s.do(t, "inspect", "-dialect", s.name, "-source", "s1="+s.s1, "-plan", s.plan)
	s.decide(t)
	s.prepare(t, target)
	for _, name := range []string{"dry-run", "run", "verify"} {
		args := []string{name, "-dialect", s.name, "-source", "s1=" + s.s1, "-target", target, "-plan", s.plan, "-namespace", "game"}
		got := runMerge(t, args...)
		if got.code != 1 || !strings.Contains(got.stderr, "-without-foreign-keys") || strings.Contains(got.stderr, "Config") {
			t.Errorf("%s: exit status %d, stderr %q", name, got.code, got.stderr)
		}
		s.do(t, append(args, "-without-foreign-keys")...)
	}
}

// A mistyped path is an error that quotes it, and no empty database.
func TestMistypedPath(t *testing.T) {
	s := newStage(t, "sqlite", 400)
	world, dir := s.world(t), t.TempDir()
	wrong := filepath.Join(dir, "wrogn.db")
	where := []string{"-source", "s1=" + s.s1, "-source", "s2=" + s.s2, "-plan", s.plan, "-namespace", "game"}
	source := slices.Replace(slices.Clone(where), 3, 4, "s2="+wrong)
	for _, args := range [][]string{
		{"inspect", "-source", "s1=" + wrong, "-plan", filepath.Join(dir, "plan.yaml")},
		{"inspect", "-source", "s1=file:" + wrong + "?_pragma=journal_mode(wal)", "-plan", filepath.Join(dir, "plan.yaml")},
		{"inspect", "-source", "s1=file:" + wrong + "?mode=ro", "-plan", filepath.Join(dir, "plan.yaml")},
		append([]string{"dry-run", "-target", world}, source...),
		append([]string{"run", "-target", world}, source...),
		append([]string{"dry-run", "-target", wrong}, where...),
		append([]string{"run", "-target", wrong}, where...),
		append([]string{"verify", "-target", wrong}, where...),
		append([]string{"verify", "-target", world, "-registry", wrong}, where...),
		{"export", "-target", wrong},
		{"lookup", "-target", wrong, "s1", "players", "1"},
	} {
		got := runMerge(t, slices.Insert(args, 1, "-dialect", s.name)...)
		if got.code != 1 || !strings.Contains(got.stderr, wrong+`": `) {
			t.Errorf("%q: exit status %d, stderr %q", args, got.code, got.stderr)
		}
	}
	if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
		t.Errorf("made %v, %v", made, err)
	}
}

func TestInspectOfNoTables(t *testing.T) {
	s := newStage(t, "sqlite", 400)
	empty, plan := s.create(t), filepath.Join(t.TempDir(), "plan.yaml")
	s.execute(t, empty, "PRAGMA user_version = 1")
	for _, sources := range [][]string{{"-source", "s2=" + empty}, {"-source", "s1=" + s.s1, "-source", "s2=" + empty}} {
		got := runMerge(t, append([]string{"inspect", "-dialect", s.name, "-plan", plan}, sources...)...)
		if got.code != 1 || !strings.Contains(got.stderr, "source s2 has no tables") {
			t.Errorf("%q: exit status %d, stderr %q", sources, got.code, got.stderr)
		}
	}
	if _, err := os.Stat(plan); err == nil {
		t.Error("there is a plan")
	}
}

// A decision that no person has taken, and a column that looks like ids and that nobody has decided on, are told of
// before the copy and after it, and the exit status says so.
func TestLeftOpen(t *testing.T) {
	s := newStage(t, "sqlite", 400)
	const accepted = "mails.body: json to players, items (certainty 0.97)"
	s.edit(t, func(p *plan.Plan) {
		p.Accepted = []string{accepted}
		for _, table := range p.Tables {
			if c := table.Column("recipient_id"); c != nil {
				c.Role, c.Refers, c.Decided, c.Suspects = plan.RolePlain, nil, false, nil
			}
		}
	})
	target := s.world(t)
	for _, tt := range []struct {
		args    []string
		verdict string
	}{
		{s.command("dry-run", target), "Nothing would stop a run, but "},
		{s.run(target), "Nothing was found wrong, but "},
		{append(s.command("verify", target), "-witness-all"), "Nothing was found wrong, but "},
	} {
		got := runMerge(t, tt.args...)
		if got.code != 3 || !strings.Contains(got.stdout, tt.verdict) || !strings.Contains(got.stdout, "OPEN: accepted: "+accepted) ||
			!strings.Contains(got.stdout, "OPEN: undecided, mails.recipient_id, source s1: it is plain, but it is named like ids") || strings.Contains(got.stdout, "Everything") {
			t.Errorf("%s: exit status %d, stderr %q, stdout:\n%s", tt.args[0], got.code, got.stderr, got.stdout)
		}
	}
}

// What an interrupted run says is that it was interrupted, not that the
// connection, which ends with the statement under way, is closed.
func TestInterrupted(t *testing.T) {
	s := newStage(t, "postgres", 4000)
	target := s.world(t)
	s.execute(t, target, "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END'",
		"CREATE TRIGGER wait BEFORE INSERT ON items FOR EACH ROW EXECUTE FUNCTION wait()")
	db := s.open(t, target)
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(t.Context(), "SELECT pg_advisory_xact_lock(1)"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said := new(bytes.Buffer)
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, merging(s.run(target, "-chunk-rows", "500")), said, said) }()
	for waits := 0; waits == 0; {
		if err := tx.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted").Scan(&waits); err != nil {
			t.Fatal(err)
		}
		if len(ended) > 0 {
			t.Fatalf("it ended with %d: %s", <-ended, said)
		}
	}
	cancel()
	if code := <-ended; code != 1 || !strings.HasPrefix(said.String(), "snow: interrupted: ") || strings.Count(said.String(), "\n") != 1 {
		t.Errorf("exit status %d, said %q", code, said)
	}
}
