//go:build unix

package dbtest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	osuser "os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

type postgres struct{ installation }

func (postgres) name() string       { return "PostgreSQL" }
func (postgres) env() string        { return "SNOW_POSTGRES_DSN" }
func (e postgres) packages() string { return e.source("postgresql") }
func (postgres) programs() []string { return []string{"psql", "initdb", "postgres"} }

// account is another account if the test runs as root, because PostgreSQL refuses to run as root.
func (postgres) account() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	account, err := osuser.Lookup("postgres")
	if err != nil {
		account, err = osuser.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, err1 := strconv.ParseUint(account.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(account.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
}

// quit is PostgreSQL's immediate shutdown: the server kills its children and frees its shared memory.
func (postgres) quit() syscall.Signal { return syscall.SIGQUIT }

// release frees the shared memory of a server that was killed. The server's lock file, which is still there, names
// the segment at the end of its seventh line.
func (postgres) release(dir string) {
	lock, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		return
	}
	if lines := strings.Split(string(lock), "\n"); len(lines) > 6 {
		if memory := strings.Fields(lines[6]); len(memory) == 2 {
			_ = exec.Command("ipcrm", "-m", memory[1]).Run() // it is only a few bytes, so an error does not matter
		}
	}
}

func (e postgres) template() (string, error) {
	return templates.get(e, func(dir string) (string, error) {
		account, err := e.account()
		if err != nil {
			return "", err
		}
		word, data := filepath.Join(dir, "password"), filepath.Join(dir, "data")
		if err := os.WriteFile(word, []byte(secret()), 0o600); err != nil {
			return "", err
		}
		if err := give(dir, account); err != nil {
			return "", err
		}
		cmd := exec.Command(e.program("initdb"), "--pgdata="+data, "--username="+user, "--pwfile="+word,
			"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: account}
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("initdb: %w: %s", err, out)
		}
		return data, nil
	})
}

func (e postgres) command(dir string, port int) *exec.Cmd {
	return exec.Command(e.program("postgres"),
		"-D", filepath.Join(dir, "data"),
		"--unix_socket_directories="+dir,
		"--listen_addresses=127.0.0.1",
		fmt.Sprintf("--port=%d", port),
		"--authentication_timeout=600s", // a busy machine takes longer than the usual minute
		"--timezone=UTC",
		"--fsync=on",
		"--full_page_writes=on",
		"--synchronous_commit=on",
		"--shared_buffers=16MB",
		"--dynamic_shared_memory_type=mmap", // in the data directory, where a killed server's is removed with the rest
	)
}

func (postgres) dial(dir string, port int) (net.Conn, error) {
	return net.Dial("unix", filepath.Join(dir, fmt.Sprintf(".s.PGSQL.%d", port)))
}

// hello asks for a session. A server that accepts clients asks for the password; one that is still starting or
// recovering sends an error.
func (postgres) hello(c net.Conn) error {
	params := "user\x00" + user + "\x00\x00"
	request := binary.BigEndian.AppendUint32(nil, uint32(8+len(params)))
	request = binary.BigEndian.AppendUint32(request, 3<<16) // version 3.0 of the protocol
	if _, err := c.Write(append(request, params...)); err != nil {
		return err
	}
	var head [5]byte // a letter, and a length that includes itself
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint32(head[1:]))-4); err != nil {
		return err
	}
	if head[0] != 'R' {
		return fmt.Errorf("answer is of type %q, not a request for a password", head[0])
	}
	return nil
}

func (postgres) base(port int) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(user, secret()), Host: loopback(port),
		Path: "postgres", RawQuery: "sslmode=disable",
	}
	return u.String()
}

// check does not return the error of [url.Parse], because it quotes the password.
func (postgres) check(dsn string) error {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return errors.New("not a URL with the scheme postgres")
	}
	return nil
}

func (postgres) addr(dsn string) string {
	u, _ := url.Parse(dsn)
	if u.Port() == "" {
		return net.JoinHostPort(u.Hostname(), "5432")
	}
	return u.Host
}

func (postgres) withDatabase(dsn, database string) string {
	u, _ := url.Parse(dsn)
	u.Path = "/" + database
	if u.RawQuery == "" {
		u.RawQuery = "application_name=dbtest"
	}
	return u.String()
}

func (e postgres) client(ctx context.Context, dsn, statement string) *exec.Cmd {
	u, _ := url.Parse(dsn)
	env := os.Environ()
	query := u.Query()
	query.Del("default_query_exec_mode") // is for pgx
	u.RawQuery = query.Encode()
	if word, ok := u.User.Password(); ok { // arguments could be read by others
		env = append(env, "PGPASSWORD="+word)
		u.User = url.User(u.User.Username())
	}
	cmd := exec.CommandContext(ctx, e.program("psql"), "--no-psqlrc", "--no-password", "--quiet", "--tuples-only", "--no-align",
		"--command="+statement, u.String())
	cmd.Env = env
	return cmd
}

func (postgres) create(database string) string { return "CREATE DATABASE " + database }

func (postgres) drop(database string) string { return "DROP DATABASE " + database + " WITH (FORCE)" }
