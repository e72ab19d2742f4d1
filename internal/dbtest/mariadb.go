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
	"sync"
	"syscall"
)

type mariadb struct{}

func (mariadb) name() string     { return "MariaDB" }
func (mariadb) env() string      { return "SNOW_MYSQL_DSN" }
func (mariadb) packages() string { return "mariadb-server-core mariadb-client-core" }
func (mariadb) programs() []string {
	return []string{"mariadb", "mariadbd", "mariadb-install-db"}
}

// account is that of the test: unlike PostgreSQL, MariaDB runs as root if told so.
func (mariadb) account() (*syscall.Credential, error) { return nil, nil }

func (mariadb) quit() syscall.Signal { return syscall.SIGKILL }

func (mariadb) release(string) {}

func (mariadb) template() (string, error) { return mariadbTemplate() }

// mariadbLog is small to keep the template small. It must be the same for all who use the directory.
const mariadbLog = "--innodb-log-file-size=32M"

var mariadbTemplate = sync.OnceValues(func() (string, error) {
	home, err := workdir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(home, "mariadb")
	tmp, data, accounts := filepath.Join(dir, "tmp"), filepath.Join(dir, "data"), filepath.Join(dir, "accounts.sql")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return "", err
	}
	// The grant tables are not in force during initialisation until they are flushed.
	sql := fmt.Sprintf("FLUSH PRIVILEGES;\nCREATE USER %s@'%%' IDENTIFIED BY '%s';\nGRANT ALL ON *.* TO %[1]s@'%%' WITH GRANT OPTION;\n",
		user, password)
	if err := os.WriteFile(accounts, []byte(sql), 0o600); err != nil {
		return "", err
	}
	args := append(asRoot(), "--datadir="+data, "--tmpdir="+tmp, "--extra-file="+accounts, "--skip-test-db",
		"--skip-name-resolve", mariadbLog,
		// Nothing is lost if the machine crashes here, and syncing takes four times as long as the rest.
		"--debug-no-sync", "--innodb-flush-method=nosync", "--innodb-doublewrite=0")
	out, err := exec.Command(program("mariadb-install-db"), args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("mariadb-install-db: %w: %s", err, out)
	}
	return data, nil
})

// asRoot returns the leading arguments of all the server's programs.
func asRoot() []string {
	args := []string{"--no-defaults"}
	if os.Geteuid() == 0 {
		args = append(args, "--user=root")
	}
	return args
}

func (mariadb) command(dir string, port int) *exec.Cmd {
	return exec.Command(program("mariadbd"), append(asRoot(),
		"--datadir="+filepath.Join(dir, "data"),
		"--tmpdir="+filepath.Join(dir, "tmp"),
		"--secure-file-priv="+filepath.Join(dir, "tmp"),
		"--socket="+mariadbSocket(dir),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--port=%d", port),
		"--skip-name-resolve",
		// On a busy machine a hundred clients at once are refused, or too slow to say who they are.
		"--back-log=1000",
		"--max-connections=1000",
		"--connect-timeout=600",
		"--character-set-server=utf8mb4",
		"--default-time-zone=+00:00",
		"--innodb-flush-log-at-trx-commit=1",
		"--sync-binlog=1",
		"--innodb-buffer-pool-size=32M",
		mariadbLog,
		"--innodb-buffer-pool-load-at-startup=0",
		"--key-buffer-size=1M",
		"--aria-pagecache-buffer-size=1M",
		"--performance-schema=OFF",
	)...)
}

func mariadbSocket(dir string) string { return filepath.Join(dir, "socket") }

func (mariadb) dial(dir string, _ int) (net.Conn, error) { return net.Dial("unix", mariadbSocket(dir)) }

// hello reads the first packet: three bytes of length, a sequence number, and the version of the protocol in front of the
// greeting.
func (mariadb) hello(c net.Conn) error {
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

func (mariadb) base(port int) string {
	return fmt.Sprintf("%s:%s@tcp(%s)/", user, password, loopback(port))
}

// mariadbDSN is a DSN of go-sql-driver taken apart: user:password@network(address)/database?parameters.
type mariadbDSN struct{ login, user, password, network, address, database, params string }

func parseMariaDB(dsn string) (d mariadbDSN, err error) {
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

func (mariadb) check(dsn string) error {
	_, err := parseMariaDB(dsn)
	return err
}

func (mariadb) addr(dsn string) string {
	d, _ := parseMariaDB(dsn)
	return d.address
}

func (mariadb) withDatabase(dsn, database string) string {
	d, _ := parseMariaDB(dsn)
	params := d.params
	if !strings.Contains(params, "parseTime=") {
		params = strings.TrimSuffix("parseTime=true&"+params, "&")
	}
	return fmt.Sprintf("%s%s(%s)/%s?%s", d.login, d.network, d.address, database, params)
}

func (mariadb) client(ctx context.Context, dsn, statement string) *exec.Cmd {
	d, _ := parseMariaDB(dsn)
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
	cmd := exec.CommandContext(ctx, program("mariadb"), args...)
	cmd.Env = append(os.Environ(), "MYSQL_PWD="+d.password)
	return cmd
}

func (mariadb) create(database string) string {
	return "CREATE DATABASE " + database + " CHARACTER SET utf8mb4"
}

func (mariadb) drop(database string) string { return "DROP DATABASE " + database }
