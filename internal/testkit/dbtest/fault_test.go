//go:build unix

package dbtest

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestSetClock(t *testing.T) {
	t.Parallel()
	seconds := map[string]string{
		"MariaDB": "SELECT UNIX_TIMESTAMP()", "MySQL": "SELECT UNIX_TIMESTAMP()", "PostgreSQL": "SELECT extract(epoch FROM clock_timestamp())::bigint",
	}
	each(t, func(t *testing.T, start func(testing.TB, ...string) *Server) {
		s := start(t)
		var p *process // since the first call
		for _, offset := range []time.Duration{0, -time.Hour, time.Hour, 24 * time.Hour, 0} {
			s.SetClock(t, offset)
			unix, err := strconv.ParseInt(s.run(t, s.dsn, seconds[s.engine.name()]), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			// The machine's own clock has moved on by less than the steps are apart.
			if got := time.Until(time.Unix(unix, 0)).Round(20 * time.Minute); got != offset {
				t.Errorf("clock: got %v from the machine's, want %v", got, offset)
			}
			if p != nil && s.process != p {
				t.Error("the server was restarted for it")
			}
			p = s.process
		}
		s.SetClock(t, time.Hour)
		s.Kill(t)
		if left, _ := filepath.Glob(fmt.Sprintf("/dev/shm/*faketime_*_%d", p.cmd.Process.Pid)); len(left) > 0 {
			t.Errorf("shared memory is left: %q", left)
		}
		s.Restart(t)
		if unix := s.run(t, s.dsn, seconds[s.engine.name()]); unix < fmt.Sprint(time.Now().Add(30*time.Minute).Unix()) {
			t.Errorf("clock after a restart: got %s, want an hour from %d", unix, time.Now().Unix())
		}
	})
}

func TestSetClockWithoutLibrary(t *testing.T) {
	found := fakers
	fakers = []string{filepath.Join(t.TempDir(), "*")}
	t.Cleanup(func() { fakers = found })
	each(t, func(t *testing.T, start func(testing.TB, ...string) *Server) {
		s := start(t)
		for required, want := range map[string]string{"": "skip", "1": "fatal"} {
			t.Setenv("SNOW_REQUIRE_DB", required)
			want += ": dbtest: libfaketime not found: apt-get install libfaketime"
			if got := record(t, func(tb testing.TB) { s.SetClock(tb, 0) }); got != want {
				t.Errorf("required %q:\ngot  %s\nwant %s", required, got, want)
			}
		}
	})
}

func TestPutBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, start func(testing.TB, ...string) *Server) {
		s := start(t)
		db, addr := s.DSN(s.CreateDatabase(t)), s.Addr()
		if end := record(t, s.PutBack); !strings.Contains(end, "put back: ") {
			t.Errorf("put back before keep: got %q, want a failure", end)
		}
		s.Restart(t)
		s.run(t, db, "CREATE TABLE rows_kept (id BIGINT PRIMARY KEY)")
		for round := range 3 {
			s.run(t, db, fmt.Sprintf("INSERT INTO rows_kept VALUES (%d)", round))
			s.Keep(t)
			s.run(t, db, "INSERT INTO rows_kept VALUES (100)") // would be refused the next time, were it not lost
			s.PutBack(t)
			if got, want := s.run(t, db, "SELECT count(*) FROM rows_kept"), fmt.Sprint(round+1); got != want {
				t.Fatalf("rows in round %d: got %s, want %s", round, got, want)
			}
		}
		s.PutBack(t) // again, while it runs
		if s.Addr() != addr {
			t.Errorf("address: got %s, want %s as before", s.Addr(), addr)
		}
	})
}
