//go:build unix

package dbtest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var products = []struct {
	engine engine
	start  func(testing.TB, ...string) *Server
}{
	{mariadb{}, MariaDB},
	{postgres{}, Postgres},
	{mysql{installation: newer("mysql")}, MySQL},
}

// each runs a test against a private server of each product.
func each(t *testing.T, test func(t *testing.T, start func(testing.TB, ...string) *Server)) {
	for _, p := range products {
		t.Run(p.engine.name(), func(t *testing.T) {
			if _, err := p.engine.find(p.engine.programs()[0]); err != nil && p.engine.name() == "MySQL" {
				t.Skipf("%v: %s", err, p.engine.packages()) // whatever is required: no system has it
			}
			need(t, p.engine, p.engine.programs())
			test(t, p.start)
		})
	}
}

// These tests are about private servers, whatever others are given.
func TestMain(m *testing.M) {
	os.Unsetenv("SNOW_MYSQL_DSN")
	os.Unsetenv("SNOW_POSTGRES_DSN")
	os.Unsetenv("SNOW_MYSQL_SERVER")
	os.Unsetenv("SNOW_POSTGRES_SERVER")
	os.Exit(m.Run())
}

func TestServersAtTheSameTime(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, start func(testing.TB, ...string) *Server) {
		// A goroutine must not end the test, hence the recorders.
		var servers [3]*Server
		var ends [3]string
		var wg sync.WaitGroup
		for i := range servers {
			wg.Go(func() { ends[i] = record(t, func(tb testing.TB) { servers[i] = start(tb) }) })
		}
		wg.Wait()
		for i, s := range servers {
			if s == nil {
				t.Fatal(ends[i])
			}
			s.run(t, s.dsn, "CREATE DATABASE same_name") // would be refused if two of them were one
		}
	})
}

func TestCommittedRowsSurviveKill(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, start func(testing.TB, ...string) *Server) {
		s := start(t)
		db, addr := s.DSN(s.CreateDatabase(t)), s.Addr()
		s.run(t, db, "CREATE TABLE rows_kept (id BIGINT PRIMARY KEY)")
		for round := range 3 {
			s.run(t, db, fmt.Sprintf("INSERT INTO rows_kept VALUES (%d)", round))
			s.Kill(t)
			if c, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Fatalf("dial a killed server: got %v, %v; want %v", c, err, syscall.ECONNREFUSED)
			}
			s.Restart(t)
			if got, want := s.run(t, db, "SELECT count(*) FROM rows_kept"), fmt.Sprint(round+1); got != want {
				t.Fatalf("rows after crash %d: got %s, want %s", round+1, got, want)
			}
		}
		s.Restart(t) // while it runs
		if s.Addr() != addr {
			t.Errorf("address: got %s, want %s as before", s.Addr(), addr)
		}
	})
}

// A session is a connection to a server that has greeted it.
func session(t *testing.T, s *Server) net.Conn {
	t.Helper()
	c := connection(t, s)
	if err := s.engine.hello(c); err != nil {
		t.Fatalf("greeting: %v", err)
	}
	return c
}

func connection(t *testing.T, s *Server) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// within bounds all that is read from and written to connections from now on.
func within(t *testing.T, d time.Duration, connections ...net.Conn) {
	t.Helper()
	for _, c := range connections {
		if err := c.SetDeadline(time.Now().Add(d)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStoppedServerAnswersNobody(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, start func(testing.TB, ...string) *Server) {
		s := start(t)
		// Two, because PostgreSQL serves each from a process of its own and accepts new ones in another.
		old := session(t, s)
		s.Stop(t)
		fresh := connection(t, s)

		// The answer to nonsense is an error message or the end of the connection, from a server that is awake.
		if _, err := old.Write(append([]byte{5, 0, 0, 1}, "nonsense, not a password"...)); err != nil {
			t.Fatal(err)
		}
		for name, hear := range map[string]func() error{
			"old session":    func() error { _, err := old.Read(make([]byte, 1)); return err },
			"new connection": func() error { return s.engine.hello(fresh) },
		} {
			within(t, 100*time.Millisecond, old, fresh)
			if err := hear(); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s to a stopped server: got %v, want %v", name, err, os.ErrDeadlineExceeded)
			}
		}

		within(t, timeout, old, fresh)
		s.Continue(t)
		if _, err := old.Read(make([]byte, 1)); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("old session after continue: %v", err)
		}
		session(t, s)
	})
}

func TestKillStopped(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, start func(testing.TB, ...string) *Server) {
		s := start(t)
		session(t, s)
		s.Stop(t)
		s.Kill(t)
		s.Restart(t)
		session(t, s)
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, start func(testing.TB, ...string) *Server) {
		s := start(t, "max_connections=17")
		query := map[string]string{"MariaDB": "SELECT @@max_connections", "MySQL": "SELECT @@max_connections", "PostgreSQL": "SHOW max_connections"}
		if got := s.run(t, s.dsn, query[s.engine.name()]); got != "17" {
			t.Errorf("max_connections: got %s, want 17", got)
		}
	})
}

func TestTakenPortIsNoServer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, start func(testing.TB, ...string) *Server) {
		first := start(t)
		second := &Server{engine: first.engine, port: first.port}
		t.Cleanup(func() { second.close(t) })
		if err := second.prepare(); err != nil {
			t.Fatal(err)
		}
		if err := second.startOnce(); !errors.Is(err, errEnded) {
			t.Errorf("start on a port in use: got %v, want %v", err, errEnded)
		}
	})
}

func TestServerThatCannotStartShowsItsLog(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, start func(testing.TB, ...string) *Server) {
		end := record(t, func(tb testing.TB) { start(tb, "no_such_setting=1") })
		if !strings.HasPrefix(end, "fatal: ") || !strings.Contains(end, "no_such_setting") {
			t.Errorf("server with an unknown setting: got %q, want its log", end)
		}
	})
}

func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, start func(testing.TB, ...string) *Server) {
		var s *Server
		var p *process
		t.Run("server", func(t *testing.T) {
			s = start(t)
			p = s.process
		})
		if !p.ended() {
			t.Error("the process outlived its test")
		}
		if _, err := os.Stat(s.dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("stat of the server's directory: got %v, want %v", err, fs.ErrNotExist)
		}
	})
}

// TestTestProcessDies kills a test process in the middle of its test.
func TestTestProcessDies(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, start func(testing.TB, ...string) *Server) {
		for _, stopped := range []string{"running", "stopped"} {
			t.Run(stopped, func(t *testing.T) {
				t.Parallel()
				child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$")
				child.Env = append(os.Environ(), "DBTEST_CHILD="+t.Name())
				child.Stderr = os.Stderr
				in, err := child.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				out, err := child.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := child.Start(); err != nil {
					t.Fatal(err)
				}
				s := &Server{}
				var dir string
				if _, err := fmt.Fscan(out, &s.dsn, &dir); err != nil {
					t.Fatal(err)
				}
				s.engine = mariadb{}
				if strings.HasPrefix(s.dsn, "postgres:") {
					s.engine = postgres{}
				}
				c := session(t, s)
				within(t, timeout, c)
				fmt.Fprintln(in, "go")
				var ok string
				if _, err := fmt.Fscan(out, &ok); err != nil || ok != "ok" {
					t.Fatalf("child: got %q, %v; want ok", ok, err)
				}
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				_ = child.Wait() // "signal: killed"
				if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("session: %v", err)
				}
				if !await(func() bool { _, err := os.Stat(dir); return errors.Is(err, fs.ErrNotExist) }) {
					t.Errorf("files are left in %s", dir)
				}
			})
		}
	})
}

// TestChild is the test in the process that [TestTestProcessDies] kills.
func TestChild(t *testing.T) {
	name, ok := os.LookupEnv("DBTEST_CHILD")
	if !ok {
		t.Skip("runs in a process of its own")
	}
	start := MariaDB
	switch {
	case strings.Contains(name, "PostgreSQL"):
		start = Postgres
	case strings.Contains(name, "MySQL"):
		start = MySQL
	}
	s := start(t)
	home, err := workdir()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(s.dsn, home)
	var line string
	if _, err := fmt.Scan(&line); err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, "/stopped") {
		s.Stop(t)
	}
	fmt.Println("ok")
	_, _ = io.Copy(io.Discard, os.Stdin) // until killed
}

func TestMissingPrograms(t *testing.T) {
	short := testing.Short()
	t.Cleanup(func() { setShort(t, short) })
	t.Setenv("PATH", t.TempDir())
	dirs := programDirs
	programDirs = nil
	t.Cleanup(func() { programDirs = dirs })
	const (
		mariadbLine  = "dbtest: MariaDB: mariadb, mariadbd, mariadb-install-db not found: apt-get install mariadb-server-core mariadb-client-core"
		postgresLine = "dbtest: PostgreSQL: psql, initdb, postgres not found: apt-get install postgresql"
	)
	for _, test := range []struct {
		start    func(testing.TB, ...string) *Server
		required string
		short    bool
		dsn      string
		want     string
	}{
		{start: MariaDB, want: "skip: " + mariadbLine},
		{start: MariaDB, required: "1", want: "fatal: " + mariadbLine},
		{start: MariaDB, required: "1", short: true, want: "fatal: " + mariadbLine},
		{start: MariaDB, short: true, want: "skip: dbtest: MariaDB is left out under -short"},
		{start: MariaDB, dsn: "u:p@tcp(127.0.0.1:1)/", want: "skip: dbtest: MariaDB: mariadb not found: apt-get install mariadb-server-core mariadb-client-core"},
		{start: Postgres, want: "skip: " + postgresLine},
		{start: Postgres, required: "1", want: "fatal: " + postgresLine},
		{start: Postgres, dsn: "postgres://localhost/db", want: "skip: dbtest: PostgreSQL: psql not found: apt-get install postgresql"},
	} {
		t.Setenv("SNOW_REQUIRE_DB", test.required)
		t.Setenv("SNOW_MYSQL_DSN", test.dsn)
		t.Setenv("SNOW_POSTGRES_DSN", test.dsn)
		setShort(t, test.short)
		got := record(t, func(tb testing.TB) { test.start(tb) })
		if got != test.want {
			t.Errorf("required %q, short %v, DSN %q:\ngot  %s\nwant %s", test.required, test.short, test.dsn, got, test.want)
		}
	}
}

func TestNewestVersion(t *testing.T) {
	dir := t.TempDir()
	for _, v := range []string{"9.6", "17", "15"} {
		bin := dir + "/" + v + "/bin"
		if err := errors.Join(os.MkdirAll(bin, 0o700), os.WriteFile(bin+"/initdb", nil, 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	dirs := programDirs
	programDirs = []string{dir + "/*/bin"}
	t.Cleanup(func() { programDirs = dirs })
	if got, err := (installation{}).find("initdb"); got != dir+"/17/bin/initdb" {
		t.Errorf("got %q, %v; want that of 17", got, err)
	}
}
