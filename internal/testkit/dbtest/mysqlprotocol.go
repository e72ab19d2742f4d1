//go:build unix

package dbtest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// mysqlProtocol is what MySQL and MariaDB have in common.
type mysqlProtocol struct{}

func (mysqlProtocol) env() string { return "SNOW_MYSQL_DSN" }

// account is the test's own: unlike PostgreSQL, these servers run as root if an option says so.
func (mysqlProtocol) account() (*syscall.Credential, error) { return nil, nil }

func (mysqlProtocol) quit() syscall.Signal { return syscall.SIGKILL }

func (mysqlProtocol) release(string) {}

// asRoot returns the leading arguments of all the servers' programs.
func asRoot() []string {
	args := []string{"--no-defaults"}
	if os.Geteuid() == 0 {
		args = append(args, "--user=root")
	}
	return args
}

// accounts is a file of statements that create the account of the tests, who start with FLUSH PRIVILEGES because
// the grant tables are not in force during initialisation.
func accounts(dir string) (path string, err error) {
	path = filepath.Join(dir, "accounts.sql")
	sql := fmt.Sprintf("FLUSH PRIVILEGES;\nCREATE USER %s@'%%' IDENTIFIED BY '%s';\nGRANT ALL ON *.* TO %[1]s@'%%' WITH GRANT OPTION;\n",
		user, secret())
	return path, os.WriteFile(path, []byte(sql), 0o600)
}

// serving returns the arguments of a server in the foreground.
func serving(dir string, port int) []string {
	return append(asRoot(),
		"--datadir="+filepath.Join(dir, "data"),
		"--tmpdir="+filepath.Join(dir, "tmp"),
		"--secure-file-priv="+filepath.Join(dir, "tmp"),
		"--socket="+mysqlSocket(dir),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--port=%d", port),
		"--skip-name-resolve",
		// Otherwise the server refuses some of a hundred clients at the same time, and on a busy machine clients that
		// log in slowly.
		"--back-log=1000",
		"--max-connections=1000",
		"--connect-timeout=600",
		"--character-set-server=utf8mb4",
		"--default-time-zone=+00:00",
		"--innodb-flush-log-at-trx-commit=1",
		"--sync-binlog=1",
		"--innodb-buffer-pool-size=32M",
		"--innodb-buffer-pool-load-at-startup=0",
	)
}

func mysqlSocket(dir string) string { return filepath.Join(dir, "socket") }

func (mysqlProtocol) dial(dir string, _ int) (net.Conn, error) {
	return net.Dial("unix", mysqlSocket(dir))
}

// hello reads the first packet: three bytes of length, a sequence number, and a greeting that starts with the
// version of the protocol.
func (mysqlProtocol) hello(c net.Conn) error {
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return err
	}
	head[3] = 0
	packet := make([]byte, binary.LittleEndian.Uint32(head[:]))
	if _, err := io.ReadFull(c, packet); err != nil {
		return err
	}
	if len(packet) == 0 || packet[0] != 10 {
		return fmt.Errorf("not a greeting: %q", packet)
	}
	return nil
}

func (mysqlProtocol) base(port int) string {
	return fmt.Sprintf("%s:%s@tcp(%s)/", user, secret(), loopback(port))
}

// mysqlDSN is a parsed DSN of go-sql-driver: user:password@network(address)/database?parameters.
type mysqlDSN struct{ login, user, password, network, address, database, params string }

func parseMySQL(dsn string) (d mysqlDSN, err error) {
	slash := strings.LastIndexByte(dsn, '/')
	if slash < 0 {
		return d, errors.New("no slash before the name of the database")
	}
	d.database, d.params, _ = strings.Cut(dsn[slash+1:], "?")
	server := dsn[:slash]
	if at := strings.LastIndexByte(server, '@'); at >= 0 {
		d.login, server = server[:at+1], server[at+1:]
		d.user, d.password, _ = strings.Cut(d.login[:at], ":")
	}
	d.network, d.address, _ = strings.Cut(strings.TrimSuffix(server, ")"), "(")
	switch d.network {
	case "", "tcp":
		d.network = "tcp"
		if d.address == "" {
			d.address = "127.0.0.1"
		}
		if _, _, err := net.SplitHostPort(d.address); err != nil {
			d.address = net.JoinHostPort(strings.Trim(d.address, "[]"), "3306")
		}
	case "unix":
	default:
		return d, fmt.Errorf("network %q is neither tcp nor unix", d.network)
	}
	return d, nil
}

func (mysqlProtocol) check(dsn string) error {
	_, err := parseMySQL(dsn)
	return err
}

func (mysqlProtocol) addr(dsn string) string {
	d, _ := parseMySQL(dsn)
	return d.address
}

func (mysqlProtocol) withDatabase(dsn, database string) string {
	d, _ := parseMySQL(dsn)
	params := d.params
	if !strings.Contains(params, "parseTime=") {
		params = strings.TrimSuffix("parseTime=true&"+params, "&")
	}
	return fmt.Sprintf("%s%s(%s)/%s?%s", d.login, d.network, d.address, database, params)
}

// mysqlClient is a call of the command-line client of either product.
func mysqlClient(ctx context.Context, program, dsn, statement string, options ...string) *exec.Cmd {
	d, _ := parseMySQL(dsn)
	args := []string{
		"--no-defaults", "--batch", "--skip-column-names", "--user=" + d.user,
		"--database=" + d.database, "--execute=" + statement,
	}
	if d.network == "unix" {
		args = append(args, "--socket="+d.address)
	} else {
		host, port, _ := net.SplitHostPort(d.address)
		args = append(args, "--protocol=tcp", "--host="+host, "--port="+port)
	}
	cmd := exec.CommandContext(ctx, program, append(args, options...)...)
	cmd.Env = append(os.Environ(), "MYSQL_PWD="+d.password)
	return cmd
}

func (mysqlProtocol) create(database string) string {
	return "CREATE DATABASE " + database + " CHARACTER SET utf8mb4"
}

func (mysqlProtocol) drop(database string) string { return "DROP DATABASE " + database }
