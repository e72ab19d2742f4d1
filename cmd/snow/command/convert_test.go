//go:build unix

package command

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/testscale"
)

// childVariable makes the test's program the command, for tests that kill it.
const childVariable = "SNOW_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(Run(context.Background(), os.Args[1:], Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	os.Exit(m.Run())
}

// A shop is a database that is converted, with programs that know nothing of that.
type shop struct {
	*testing.T
	db   *sql.DB
	d    sqldialect.Dialect
	plan string

	done    atomic.Int64  // statements of programs
	working chan struct{} // has something after each
	rows    map[string]int64
	mu      sync.Mutex
}

func eachShop(t *testing.T, test func(s *shop)) {
	for _, d := range []sqldialect.Dialect{sqldialect.MySQL, sqldialect.Postgres} {
		t.Run(d.String(), func(t *testing.T) {
			var dsn string
			if d == sqldialect.MySQL {
				server := dbtest.MariaDB(t)
				dsn = server.DSN(server.CreateDatabase(t))
			} else {
				server := dbtest.Postgres(t)
				dsn = server.DSN(server.CreateDatabase(t))
			}
			t.Setenv("SNOW_DSN", dsn)
			t.Setenv("SNOW_DIALECT", map[sqldialect.Dialect]string{sqldialect.MySQL: "mysql", sqldialect.Postgres: "postgres"}[d])
			db, _, err := database.Open(t.Context(), "--dsn", "env:SNOW_DSN", "", database.Existing, dialTimeout)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			text := `CREATE TABLE people (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, boss INT, name VARCHAR(40) NOT NULL UNIQUE,
					FOREIGN KEY (boss) REFERENCES people (id) ON DELETE SET NULL);
				CREATE TABLE orders (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, person INT NOT NULL, name VARCHAR(40) NOT NULL UNIQUE, total INT NOT NULL DEFAULT 0,
					FOREIGN KEY (person) REFERENCES people (id) ON DELETE CASCADE);
				INSERT INTO people (name) VALUES ('Ada')`
			if d == sqldialect.Postgres {
				text = strings.ReplaceAll(text, "INT NOT NULL AUTO_INCREMENT", "SERIAL")
			}
			for statement := range strings.SplitSeq(text, ";") {
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
			test(&shop{T: t, db: db, d: d, plan: filepath.Join(t.TempDir(), "plan.yaml"), working: make(chan struct{}, 1), rows: map[string]int64{}})
		})
	}
}

// dialTimeout bounds how long a test server may take to answer.
const dialTimeout = 10 * 60 * 1e9

var gateName = regexp.MustCompile(`gate "([a-z0-9-]+)"`)

func (s *shop) convert(line string) outcome {
	s.Helper()
	return execute(s.T, append([]string{"convert"}, strings.Fields(line)...)...)
}

// The commands of a conversion, from the plan to the end.
func TestConvert(t *testing.T) {
	eachShop(t, func(s *shop) {
		at := " --plan " + s.plan
		if got := s.convert("plan --declared-only" + at); got.status != 0 || !strings.Contains(got.stdout, "people") || !strings.Contains(got.stdout, "snow convert run") {
			s.Fatalf("plan: %+v", got)
		}
		if got := s.convert("plan" + at); got.status != 1 || !strings.Contains(got.stderr, "exists already") {
			s.Errorf("a second plan: %+v", got)
		}
		if got := s.convert("status" + at); got.status != 0 || !strings.Contains(got.stdout, "it has not begun") {
			s.Fatalf("status: %+v", got)
		}
		if got := s.convert("run" + at); got.status != 4 || !strings.Contains(got.stderr, "It blocks") {
			s.Errorf("run without an answer: %+v", got)
		}
		if got := s.convert("run --until nothing" + at); got.status != 2 || !strings.Contains(got.stderr, "--until") {
			s.Errorf("a step that does not exist: %+v", got)
		}
		var gates []string
		for {
			line := "run --yes --max-busy -1" + at
			for _, gate := range gates {
				line += " --ready " + gate
			}
			got := s.convert(line)
			if verified := s.convert("verify" + at); verified.status != 0 || !strings.Contains(verified.stdout, "all is as it should be") {
				s.Fatalf("verify after %v: %+v", gates, verified)
			}
			if got.status == 0 {
				break
			}
			gate := gateName.FindStringSubmatch(got.stderr)
			if got.status != 3 || gate == nil || len(gates) > 3 || !strings.Contains(got.stderr, "--ready "+gate[1]) {
				s.Fatalf("run: %+v", got)
			}
			if shown := s.convert("status" + at); !strings.Contains(shown.stdout, "it waits at gate "+gate[1]) {
				s.Errorf("status: %+v", shown)
			}
			gates = append(gates, gate[1])
		}
		var status struct {
			Finished bool
			Steps    []struct{ Name, State string }
		}
		got := s.convert("status --json" + at)
		if err := json.Unmarshal([]byte(got.stdout), &status); err != nil || !status.Finished || len(status.Steps) == 0 || status.Steps[0].State != "verified" {
			s.Errorf("status: %v, %+v", err, got)
		}
	})
}

// The whole way back.
func TestConvertBack(t *testing.T) {
	eachShop(t, func(s *shop) {
		at := " --plan " + s.plan
		for _, line := range []string{"plan --declared-only" + at, "run --yes --until widen --max-busy -1" + at} {
			if got := s.convert(line); got.status != 0 {
				s.Fatalf("%s: %+v", line, got)
			}
		}
		if got := s.convert("back" + at); got.status != 4 || !strings.Contains(got.stderr, "Take it back now?") {
			s.Errorf("back without an answer: %+v", got)
		}
		if got := s.convert("back --yes --max-busy -1" + at); got.status != 0 || !strings.Contains(got.stdout, "the conversion is taken back") {
			s.Errorf("back: %+v", got)
		}
		if got := s.convert("verify" + at); got.status != 0 {
			s.Errorf("verify: %+v", got)
		}
	})
}

// The command is killed again and again, beside programs that insert, change and delete rows.
func TestConvertKilled(t *testing.T) {
	eachShop(t, func(s *shop) {
		at := " --plan " + s.plan
		if got := s.convert("plan --declared-only" + at); got.status != 0 {
			s.Fatalf("plan: %+v", got)
		}
		b, err := os.ReadFile(s.plan) // of small tables, too, the online way
		if err != nil {
			s.Fatal(err)
		}
		b = []byte(regexp.MustCompile(`method: alter\n\s+why: .*`).ReplaceAllString(string(b), "method: online"))
		if err := os.WriteFile(s.plan, b, 0o600); err != nil {
			s.Fatal(err)
		}
		ctx, stop := context.WithCancel(s.Context())
		var programs sync.WaitGroup
		for i := range 2 {
			programs.Go(func() { s.program(ctx, i) })
		}
		kills, gates := 0, []string{}
		for ended := false; !ended; {
			line := []string{"convert", "run", "--yes", "--max-busy", "-1", "--plan", s.plan}
			for _, gate := range gates {
				line = append(line, "--ready", gate)
			}
			patience := int64(1_000_000_000)
			if kills < testscale.Of(6, 50) {
				patience = rand.Int64N(60)
			}
			status, said := s.killed(line, patience)
			switch gate := gateName.FindStringSubmatch(said); {
			case status < 0:
				kills++
			case status == 0:
				ended = true
			case status == 3 && gate != nil && len(gates) < 4:
				gates = append(gates, gate[1])
				if gate[1] == "finish" { // no old program is left
					stop()
					programs.Wait()
				}
			default:
				s.Fatalf("after %d kills: status %d: %s", kills, status, said)
			}
		}
		stop()
		programs.Wait()
		s.Logf("%d kills, %d statements of programs", kills, s.done.Load())
		if got := s.convert("verify" + at); got.status != 0 {
			s.Errorf("verify: %+v", got)
		}
		s.compare()
	})
}

// killed runs the command in a process, and kills it after so many statements of the programs. A status below 0 means
// that it was killed.
func (s *shop) killed(args []string, patience int64) (status int, said string) {
	s.Helper()
	c := exec.CommandContext(s.Context(), os.Args[0], args...)
	c.Env = append(os.Environ(), childVariable+"=yes")
	var out strings.Builder
	c.Stderr = &out
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Wait()
	}()
	until := s.done.Load() + patience
	for {
		select {
		case <-ended:
			return c.ProcessState.ExitCode(), out.String()
		case <-s.working:
			if s.done.Load() >= until {
				_ = c.Process.Kill() // it may have ended
				<-ended
				return c.ProcessState.ExitCode(), out.String()
			}
		}
	}
}

// program inserts, changes and deletes rows without ids, and remembers what the server has confirmed.
func (s *shop) program(ctx context.Context, number int) {
	var mine []string
	until := ctx
	ctx = context.WithoutCancel(ctx) // a statement that is cancelled may have been done
	for n := 0; until.Err() == nil; n++ {
		name := fmt.Sprintf("%d-%d", number, n)
		person, err := s.insert(ctx, "INSERT INTO people (boss, name) VALUES (1, %s)", name)
		if err == nil {
			order, failed := s.insert(ctx, fmt.Sprintf("INSERT INTO orders (person, name) VALUES (%d, %%s)", person), name)
			s.remember("people "+name, person)
			if failed == nil {
				s.remember("orders "+name, order)
			}
			mine, err = append(mine, name), failed
		}
		if n%5 == 4 && len(mine) > 3 {
			gone := mine[rand.IntN(len(mine))]
			if _, err = s.db.ExecContext(ctx, "DELETE FROM people WHERE name = "+s.d.Literal(gone)); err == nil {
				s.remember("people "+gone, 0)
				s.remember("orders "+gone, 0)
			}
		}
		if n%3 == 2 && len(mine) > 0 {
			_, err = s.db.ExecContext(ctx, "UPDATE orders SET total = total + 1 WHERE name = "+s.d.Literal(mine[rand.IntN(len(mine))]))
		}
		// A statement that was prepared before the columns changed may fail once on PostgreSQL, as docs/convert.md
		// says.
		if err != nil && s.d.Classify(err) != sqldialect.Busy && sqldialect.Code(err) != "0A000" {
			s.Errorf("program %d: %v", number, err)
			return
		}
		s.done.Add(1)
		select {
		case s.working <- struct{}{}:
		default:
		}
	}
}

func (s *shop) insert(ctx context.Context, query, name string) (id int64, err error) {
	query = fmt.Sprintf(query, s.d.Literal(name))
	if s.d == sqldialect.Postgres {
		err = s.db.QueryRowContext(ctx, query+" RETURNING id").Scan(&id)
		return id, err
	}
	result, err := s.db.ExecContext(ctx, query)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

func (s *shop) remember(row string, id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows[row] = id
}

// compare looks whether each row is there once, with the id that its program was told, and no other row.
func (s *shop) compare() {
	s.Helper()
	for _, table := range []string{"people", "orders"} {
		rows, err := s.db.QueryContext(s.Context(), "SELECT id, name FROM "+table+" WHERE name <> 'Ada'")
		if err != nil {
			s.Fatal(err)
		}
		defer rows.Close()
		found := map[string]int64{}
		for rows.Next() {
			var id int64
			var name string
			if err := rows.Scan(&id, &name); err != nil {
				s.Fatal(err)
			}
			found[table+" "+name] = id
		}
		if err := rows.Err(); err != nil {
			s.Fatal(err)
		}
		for row, id := range s.rows {
			if strings.HasPrefix(row, table) && found[row] != id {
				s.Errorf("%s has id %d, and its program was told %d", row, found[row], id)
			}
			delete(found, row)
		}
		if len(found) > 0 {
			s.Errorf("rows of nobody: %v", found)
		}
	}
}
