//go:build unix

package dbtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// timeout bounds everything that a server is asked to do.
const timeout = 10 * time.Minute

// user logs in to the private servers of this process, with the password that is [secret].
const user = "snow"

// engine is what differs between the products.
type engine interface {
	name() string
	env() string                                 // variable that holds the DSN of a given server
	packages() string                            // how to get the programs
	find(program string) (string, error)         // the path of a program
	programs() []string                          // what a private server needs; the client comes first
	account() (*syscall.Credential, error)       // of the server; nil is the user of the test
	template() (dir string, err error)           // an initialised data directory, to be copied
	command(dir string, port int) *exec.Cmd      // the server, in the foreground, on the data directory dir/data
	dial(dir string, port int) (net.Conn, error) // a connection to its unix socket
	hello(c net.Conn) error                      // nil if the server accepts clients
	quit() syscall.Signal                        // ends the server at once, and leaves nothing outside dir
	release(dir string)                          // removes what a killed server left outside dir
	base(port int) string                        // DSN of a private server
	check(dsn string) error                      // refuses a DSN that the methods below can't read
	addr(dsn string) string
	withDatabase(dsn, database string) string
	client(ctx context.Context, dsn, statement string) *exec.Cmd // runs an SQL statement, prints bare values
	create(database string) string
	drop(database string) string
}

// A Server is a database server. DSN and Addr are safe for concurrent use, the other methods are not. A method with
// a test as a parameter ends the test when it fails, so call it in the test's own goroutine.
type Server struct {
	engine  engine
	options []string
	dsn     string
	dir     string   // home of a private server, empty if the server was given
	port    int      // of a private server
	process *process // nil while a private server is down
	shared  bool     // by all tests of the process

	environment []string // of a private server, on top of the test's
	pool        string   // base of the DSNs of a PostgreSQL server behind a pooler, empty without
	primary     string   // of a PostgreSQL standby that does not follow it for now
	// makes the files of a server for each try of its first start; nil if prepare has made them
	renew  func() error
	joined func(tb testing.TB) // waits until a node that was started is part of its cluster; nil without one
}

// open starts a server, or takes the one that the environment gives.
func open(tb testing.TB, e engine, options []string) *Server {
	tb.Helper()
	s := &Server{engine: e, options: options}
	if len(options) == 0 { // a given server does not have the options of this test
		s.dsn = os.Getenv(e.env())
	}
	if s.dsn != "" {
		need(tb, e, e.programs()[:1])
		if err := e.check(s.dsn); err != nil {
			tb.Fatalf("dbtest: %s: %v", e.env(), err)
		}
		return s
	}
	s.open(tb)
	return s
}

// open starts a private server.
func (s *Server) open(tb testing.TB) {
	tb.Helper()
	need(tb, s.engine, s.engine.programs())
	tb.Cleanup(func() { s.close(tb) })
	if err := s.prepare(); err != nil {
		tb.Fatalf("dbtest: %s: prepare: %v", s.engine.name(), err)
	}
	s.start(tb)
	s.dsn = s.engine.base(s.port)
}

// DSN returns the data source name of a database on the server: in go-sql-driver's form for MariaDB, a URL for
// PostgreSQL. It ends with a parameter, so that more can be appended as "&name=value". MariaDB's has
// parseTime=true.
func (s *Server) DSN(database string) string { return s.engine.withDatabase(s.face(), database) }

// Addr returns the server's host and port, or the path of its socket if it was given with one.
func (s *Server) Addr() string { return s.engine.addr(s.face()) }

// face is the DSN that tests see. The package itself goes around a pooler.
func (s *Server) face() string {
	if s.pool != "" {
		return s.pool
	}
	return s.dsn
}

// CreateDatabase creates an empty database and returns its name, which is unique. On a given server the database is
// dropped when the test ends.
func (s *Server) CreateDatabase(tb testing.TB) string {
	tb.Helper()
	name := "snow_" + strings.ToLower(rand.Text()[:16])
	s.run(tb, s.dsn, s.engine.create(name))
	if s.dir == "" {
		tb.Cleanup(func() { s.run(tb, s.dsn, s.engine.drop(name)) })
	}
	return name
}

// Kill ends the server as a crash would: clients get no message, and nothing is flushed. Writes that reached the
// operating system survive even if they were never synced.
func (s *Server) Kill(tb testing.TB) {
	tb.Helper()
	p := s.running(tb, "kill")
	s.process = nil
	if err := p.kill(); err != nil {
		tb.Fatalf("dbtest: %s: kill: %v", s.engine.name(), err)
	}
}

// Stop halts the server and all its processes. Connections stay open, the operating system accepts new ones, and no
// client gets an answer until [Server.Continue].
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	if _, err := s.running(tb, "stop").stop(); err != nil {
		tb.Fatalf("dbtest: %s: stop: %v", s.engine.name(), err)
	}
}

// Continue resumes a stopped server.
func (s *Server) Continue(tb testing.TB) {
	tb.Helper()
	if err := s.running(tb, "continue").resume(); err != nil {
		tb.Fatalf("dbtest: %s: continue: %v", s.engine.name(), err)
	}
}

// Restart starts the server again with the same data and address, and returns when it accepts clients. If the server is
// running, it is killed first.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	s.private(tb, "restart")
	if s.process != nil {
		s.Kill(tb)
	}
	s.start(tb)
}

func (s *Server) private(tb testing.TB, action string) {
	tb.Helper()
	if s.dir == "" && s.shared {
		tb.Fatalf("dbtest: %s: %s needs a private server, but other tests use this one", s.engine.name(), action)
	}
	if s.dir == "" {
		tb.Fatalf("dbtest: %s: %s needs a private server, but %s is set", s.engine.name(), action, s.engine.env())
	}
}

func (s *Server) running(tb testing.TB, action string) *process {
	tb.Helper()
	s.private(tb, action)
	if s.process == nil {
		tb.Fatalf("dbtest: %s: %s: it is down", s.engine.name(), action)
	}
	if s.process.ended() {
		tb.Fatalf("dbtest: %s: %s: it has ended by itself; end of its log:\n%s", s.engine.name(), action, s.logTail())
	}
	return s.process
}

// prepare makes the server's home with a copy of the template.
func (s *Server) prepare() error {
	home, err := workdir()
	if err != nil {
		return err
	}
	template, err := s.engine.template()
	if err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp(home, ""); err != nil {
		return err
	}
	data := filepath.Join(s.dir, "data")
	if err := os.CopyFS(data, os.DirFS(template)); err != nil {
		return err
	}
	// Not a shared directory: servers delete each other's temporary tables when they start.
	if err := os.Mkdir(filepath.Join(s.dir, "tmp"), 0o700); err != nil {
		return err
	}
	if err := os.Chmod(data, 0o700); err != nil {
		return err
	}
	account, err := s.engine.account()
	if err != nil {
		return err
	}
	return give(s.dir, account)
}

// errEnded is the error of a server that ended before it accepted clients.
var errEnded = errors.New("ended before it was ready")

// start runs the server and waits until it accepts clients. It tries several times, because a port that was free
// may be taken when the server asks for it. The first start also chooses the port.
func (s *Server) start(tb testing.TB) {
	tb.Helper()
	choose := s.port == 0
	var err error
	for range 3 {
		if choose {
			s.port = freePort()
		}
		if s.renew != nil {
			if err = s.renew(); err != nil {
				break
			}
		}
		if err = s.startOnce(); !errors.Is(err, errEnded) {
			break
		}
		tb.Logf("dbtest: %s: start: %v; its errors:\n%s", s.engine.name(), err, s.logErrors())
	}
	s.renew = nil
	if err != nil {
		tb.Fatalf("dbtest: %s: start: %v: %s", s.engine.name(), err, s.logErrors())
	}
	if s.joined != nil {
		s.joined(tb)
	}
}

func (s *Server) startOnce() error {
	account, err := s.engine.account()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := s.engine.command(s.dir, s.port)
	for _, option := range s.options {
		cmd.Args = append(cmd.Args, "--"+option)
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, log, log
	cmd.Env = append(os.Environ(), s.environment...)
	cmd.SysProcAttr = attributes(account, s.engine.quit())
	p, err := launch(cmd, s.dir, s.engine.quit())
	if err != nil {
		return err
	}
	ready := func() bool {
		err = s.greet()
		return err == nil
	}
	if !await(func() bool { return p.ended() || ready() }) {
		return errors.Join(fmt.Errorf("not ready after %v: %w", timeout, err), p.end())
	}
	if p.ended() {
		return errEnded
	}
	s.process = p
	return nil
}

// greet uses the socket in the server's directory, because the port could belong to another server.
func (s *Server) greet() error {
	c, err := s.engine.dial(s.dir, s.port)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	return s.engine.hello(c)
}

func (s *Server) close(tb testing.TB) {
	if s.dir == "" {
		return
	}
	if tb.Failed() {
		tb.Logf("dbtest: %s: %s", s.engine.name(), s.logged())
	}
	if s.process != nil {
		if err := s.process.end(); err != nil {
			tb.Errorf("dbtest: %s: end: %v", s.engine.name(), err)
		}
	}
	s.engine.release(s.dir)
	if err := os.RemoveAll(s.dir); err != nil {
		tb.Errorf("dbtest: %s: remove files: %v", s.engine.name(), err)
	}
}

// run executes a statement through the server's client and returns what it printed.
func (s *Server) run(tb testing.TB, dsn, statement string) string {
	tb.Helper()
	// Not with the test's context, which has ended when databases are dropped.
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	out, err := s.engine.client(ctx, dsn, statement).CombinedOutput()
	if err != nil {
		tb.Fatalf("dbtest: %s: %q: %v: %s", s.engine.name(), statement, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *Server) log() string { return filepath.Join(s.dir, "log") }

// logged copies the log to the folder that the runner of all tests has given, and says so. Without a runner it
// returns the end of the log.
func (s *Server) logged() string {
	folder := os.Getenv("SNOW_TEST_LOGS")
	if folder == "" {
		return "end of its log:\n" + s.logTail()
	}
	path := filepath.Join(folder, fmt.Sprintf("%s-%d.log", s.engine.name(), s.port))
	text, err := os.ReadFile(s.log())
	if err = errors.Join(err, os.WriteFile(path, text, 0o644)); err != nil {
		return err.Error()
	}
	return "log in " + path
}

// logTail returns the last lines that the server has written.
func (s *Server) logTail() string {
	text, err := os.ReadFile(s.log())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-25):], "\n")
}

// logErrors returns the lines of the log that tell of errors, or its end if there are none.
func (s *Server) logErrors() string {
	text, _ := os.ReadFile(s.log())
	if found := errorLine.FindAllString(string(text), -1); len(found) > 0 {
		return strings.Join(found[max(0, len(found)-25):], "\n")
	}
	return "end of its log:\n" + s.logTail()
}

var errorLine = regexp.MustCompile(`.*\b(ERROR|FATAL|PANIC)\b.*`)

// claims has the UDP ports that freePort keeps, which would be closed if nobody held them.
var claims sync.Map

// freePort returns a loopback port on which nobody listens. It is below the ports that systems use for outgoing
// connections, so that no client gets it while the server is down. The process keeps the UDP port of that number,
// which no server uses: so no other call gets it, in no process.
func freePort() int {
	for {
		port := 15000 + mathrand.IntN(15000)
		claim, err := net.ListenPacket("udp", loopback(port))
		if err != nil {
			continue
		}
		claims.Store(port, claim)
		if l, err := net.Listen("tcp", loopback(port)); err == nil {
			l.Close()
			return port
		}
	}
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
