//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

var kills = flag.Int("kills", testscale.Of(4, 200), "kill the process that merges as often on each database")

// asProgram makes the test binary the program itself.
const asProgram = "MERGE_SERVERS_IS_THE_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// dialects by the name that --dialect takes.
var dialects = map[string]sqlsnow.Dialect{"sqlite": sqlsnow.SQLite, "mysql": sqlsnow.MySQL, "postgres": sqlsnow.Postgres}

// A stage is two servers, a plan, and as many worlds to merge them into as a test wants.
type stage struct {
	name   string // what --dialect takes
	create func(testing.TB) string
	s1, s2 string
	plan   string
	rows   int
}

// newStage makes a stage of small databases. Options go to the servers.
func newStage(t *testing.T, name string, rows int, options ...string) *stage {
	t.Helper()
	s := &stage{name: name, rows: rows, plan: filepath.Join(t.TempDir(), "plan.yaml")}
	switch name {
	case "sqlite":
		dir, n := t.TempDir(), 0
		s.create = func(testing.TB) string {
			n++
			return fmt.Sprintf("file:%s/%d.db?_pragma=journal_mode(wal)", dir, n)
		}
	case "mysql":
		server := dbtest.MariaDB(t, options...)
		s.create = func(tb testing.TB) string { return reference(tb, server.DSN(server.CreateDatabase(tb))) }
	case "postgres":
		server := dbtest.Postgres(t, options...)
		s.create = func(tb testing.TB) string { return reference(tb, server.DSN(server.CreateDatabase(tb))) }
	}
	s.s1, s.s2 = s.create(t), s.create(t)
	for i, dsn := range []string{s.s1, s.s2} {
		db := s.open(t, dsn)
		err := fillServer(t.Context(), db, dialects[name], server{
			name: fmt.Sprintf("s%d", i+1), rows: rows, seed: uint64(i + 1), counts: i == 0, worker: 5, opened: time.Date(2024+i, 2, 1, 0, 0, 0, 0, time.UTC),
		})
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	s.do(t, "inspect", "-dialect", name, "-source", "s1="+s.s1, "-source", "s2="+s.s2, "-plan", s.plan)
	s.decide(t)
	return s
}

// sources returns the flags of the sources.
func (s *stage) sources() (flags []string) {
	for _, source := range s.dsns() {
		flags = append(flags, "-source", source.name+"="+source.dsn)
	}
	return flags
}

func (s *stage) dsns() []namedDSN {
	if s.s2 == "" {
		return []namedDSN{{"s1", s.s1}}
	}
	return []namedDSN{{"s1", s.s1}, {"s2", s.s2}}
}

// decide answers the questions of the plan.
func (s *stage) decide(t *testing.T) {
	t.Helper()
	s.edit(t, func(p *plan.Plan) { decide(p, []string{"s1"}) })
}

func (s *stage) edit(t *testing.T, do func(*plan.Plan)) {
	t.Helper()
	dsns := s.dsns()
	for i := range dsns {
		dsns[i].dsn = resolved(t, dsns[i].dsn)
	}
	if err := editPlan(t.Context(), dialects[s.name], s.plan, dsns, do); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := open(t.Context(), dialects[s.name], resolved(t, dsn))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// resolved returns the DSN that a reference stands for.
func resolved(t *testing.T, reference string) string {
	t.Helper()
	file, ok := strings.CutPrefix(reference, "@")
	if !ok {
		return reference
	}
	dsn, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(dsn)
}

func (s *stage) do(t *testing.T, args ...string) {
	t.Helper()
	if got := runMerge(t, args...); got.code != 0 {
		t.Fatalf("%q: exit status %d, stderr:\n%s\nstdout:\n%s", args, got.code, got.stderr, got.stdout)
	}
}

// world makes a target with empty tables.
func (s *stage) world(t *testing.T) string {
	t.Helper()
	dsn := s.create(t)
	s.prepare(t, dsn)
	return dsn
}

func (s *stage) prepare(t *testing.T, dsn string) {
	t.Helper()
	s.do(t, "namespace", "-dialect", s.name, "-target", dsn, "-namespace", "game", "-workers", "8")
	s.do(t, append([]string{"schema", "-dialect", s.name, "-plan", s.plan, "-target", dsn}, s.sources()...)...)
}

// run returns the arguments of a run.
func (s *stage) run(target string, more ...string) []string {
	return append(s.command("run", target), append([]string{"-chunk-rows", "50", "-pack-rows", "1", "-lease", "1s"}, more...)...)
}

func (s *stage) command(name, target string) []string {
	return []string{
		name, "-dialect", s.name, "-source", "s1=" + s.s1, "-source", "s2=" + s.s2, "-target", target, "-plan", s.plan, "-namespace", "game",
		"-assert", "gold=SELECT SUM(gold) FROM players",
	}
}

// process starts the program in a process of its own.
func (s *stage) process(t *testing.T, args []string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	said := new(bytes.Buffer)
	cmd := exec.Command(program, merging(args)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, said
}

// expire ends the lease of a process that was killed, as time would. It returns
// how many ranges of rows are done.
func (s *stage) expire(t *testing.T, dsn string) (ranges int) {
	t.Helper()
	db := s.open(t, dsn)
	defer db.Close()
	for _, table := range []string{"snow_merge_lease", "snow_merge_chunks"} {
		var found string
		err := db.QueryRowContext(t.Context(), map[string]string{
			"sqlite": "SELECT name FROM sqlite_schema WHERE name = '" + table + "'", "mysql": "SHOW TABLES LIKE '" + table + "'",
			"postgres": "SELECT relname FROM pg_class WHERE relname = '" + table + "'",
		}[s.name]).Scan(&found)
		if errors.Is(err, sql.ErrNoRows) {
			return 0 // it was killed while it made the ledger
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE snow_merge_lease SET until_us = 0"); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM snow_merge_chunks").Scan(&ranges); err != nil {
		t.Fatal(err)
	}
	return ranges
}

// dump returns all rows of the game's tables as text.
func (s *stage) dump(t *testing.T, dsn string) string {
	t.Helper()
	db := s.open(t, dsn)
	defer db.Close()
	var b strings.Builder
	for _, table := range tables {
		if err := dumpTable(t.Context(), db, table, &b); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
	}
	return b.String()
}

func dumpTable(ctx context.Context, db *sql.DB, table string, b *strings.Builder) error {
	order := map[string]string{"friendships": "player_id, friend_id", "ranks": "board, slot"}[table]
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+table+" ORDER BY "+cmp.Or(order, "id"))
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, dest := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range dest {
		dest[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		fmt.Fprintln(b, table, values)
	}
	return rows.Err()
}

// The program is killed at random points and started again until it ends by itself. What
// comes of it is, row for row and id for id, what comes of a run that nobody killed.
func TestKilled(t *testing.T) {
	for _, name := range []string{"sqlite", "mysql", "postgres"} {
		t.Run(name, func(t *testing.T) {
			if name != "sqlite" {
				testscale.NeedLong(t)
			}
			t.Parallel()
			s := newStage(t, name, testscale.Of(300, 1000))
			calm := s.world(t)
			begin := time.Now()
			s.do(t, s.run(calm)...)
			longest := time.Since(begin) / 4 // life of a process
			want := s.dump(t, calm)
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			r := rand.New(rand.NewPCG(seed, 1))
			times := *kills
			if name == "postgres" {
				times /= 4
			}
			worlds, refused, amid := 0, 0, 0
			for killed := 0; killed < times; {
				target := s.world(t)
				worlds++
				lives, done := 0, 0
				for over := false; !over; {
					cmd, said := s.process(t, s.run(target, "-wait", "1m"))
					timer := time.AfterFunc(time.Duration(r.Int64N(int64(longest))), func() { _ = cmd.Process.Kill() })
					err := cmd.Wait()
					timer.Stop()
					status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
					switch {
					case err == nil:
						over = true
					case status.Signaled() && status.Signal() == syscall.SIGKILL:
						killed++
						if lives++; lives%20 == 0 {
							longest += longest / 2
						}
						if ranges := s.expire(t, target); ranges > done {
							done = ranges
							amid++
						}
					case strings.Contains(said.String(), "the lease of the merge is lost"):
						refused++ // the machine was so busy that the lease ran out: another run is all that it takes
					default:
						t.Fatalf("after %d kills: %v:\n%s", killed, err, said)
					}
				}
				if lives < 8 { // a merge takes about ten
					longest -= longest / 4
				}
				if got := s.dump(t, target); got != want {
					t.Fatalf("after %d kills the world is another one: %s", killed, difference(got, want))
				}
				s.do(t, s.command("verify", target)...)
			}
			t.Logf("%d kills in %d merges, %d of them after some rows; the lease ran out %d times", times, worlds, amid, refused)
		})
	}
}

// difference returns the first lines that differ.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		switch {
		case i >= len(g):
			return fmt.Sprintf("%d lines, want %d", len(g), len(w))
		case i >= len(w) || g[i] != w[i]:
			return fmt.Sprintf("line %d: got %q, want %q", i, g[i], w[min(i, len(w)-1)])
		}
	}
	return "none"
}

// A disk that is full ends a run. With more room the next one goes on.
func TestFullDisk(t *testing.T) {
	s := newStage(t, "sqlite", 1000)
	calm := s.world(t)
	s.do(t, s.run(calm)...)
	want := s.dump(t, calm)
	target := s.world(t)
	failed := 0
	for pages := 40; ; pages += testscale.Of(60, 20) {
		got := runMerge(t, s.run(fmt.Sprintf("%s&_pragma=max_page_count(%d)", target, pages), "-wait", "10s")...)
		if got.code == 0 {
			break
		}
		if failed++; !strings.Contains(got.stderr, "full") || failed > 1000 {
			t.Fatalf("with %d pages: %s", pages, got.stderr)
		}
	}
	if failed == 0 {
		t.Error("the disk was never full")
	}
	if got := s.dump(t, target); got != want {
		t.Errorf("after %d times: %s", failed, difference(got, want))
	}
}

// Two runs at once: the second one is refused, and says by whom.
func TestTwoAtOnce(t *testing.T) {
	for _, name := range []string{"sqlite", "mysql", "postgres"} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, name, 400)
			target := s.world(t)
			pause := filepath.Join(t.TempDir(), "pause")
			if err := os.WriteFile(pause, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			first := make(chan int, 1)
			said := new(signalled)
			said.word, said.seen = "paused", make(chan struct{})
			go func() { first <- run(ctx, merging(s.run(target, "-pause-file", pause)), said, said) }()
			select {
			case <-said.seen:
			case code := <-first:
				t.Fatalf("the first run ended with %d: %s", code, said)
			}
			got := runMerge(t, s.run(target)...)
			if got.code != 1 || !strings.Contains(got.stderr, "is merging into the target") {
				t.Errorf("the second run: exit status %d, stderr %q", got.code, got.stderr)
			}
			if err := os.Remove(pause); err != nil {
				t.Fatal(err)
			}
			if code := <-first; code != 0 {
				t.Errorf("the first run ended with %d: %s", code, said)
			}
		})
	}
}
