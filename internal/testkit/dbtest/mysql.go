//go:build unix

package dbtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// mysql is Oracle's MySQL.
type mysql struct {
	mysqlProtocol
	installation
}

func (mysql) name() string       { return "MySQL" }
func (e mysql) packages() string { return e.source("mysql-server-core mysql-client-core") }

func (mysql) programs() []string { return []string{"mysql", "mysqld"} }

// mysqlLog is small to keep the template small. All servers with a copy of the template need the same size.
const mysqlLog = "--innodb-redo-log-capacity=16M"

// at returns the arguments that say where the program finds its other files.
func (e mysql) at() []string {
	if e.folder == "" {
		return nil
	}
	return []string{
		"--basedir=" + e.path("usr"), "--plugin-dir=" + e.path("usr/lib/mysql/plugin"), "--lc-messages-dir=" + e.path("usr/share/mysql"),
		"--character-sets-dir=" + e.path("usr/share/mysql/charsets"),
	}
}

func (e mysql) template() (string, error) {
	return templates.get(e, func(dir string) (string, error) {
		accounts, err := accounts(dir)
		if err != nil {
			return "", err
		}
		data := filepath.Join(dir, "data")
		args := append(append(asRoot(), e.at()...), "--initialize-insecure", "--datadir="+data, "--init-file="+accounts, mysqlLog,
			"--skip-log-bin", "--innodb-doublewrite=OFF", "--innodb-flush-method=nosync", "--innodb-log-writer-threads=OFF")
		if out, err := exec.Command(e.program("mysqld"), args...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("mysqld --initialize: %w: %s", err, out)
		}
		// It has the server's UUID. A server without it makes one of its own.
		if err := os.Remove(filepath.Join(data, "auto.cnf")); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		return data, nil
	})
}

func (e mysql) command(dir string, port int) *exec.Cmd {
	return exec.Command(e.program("mysqld"), append(append(serving(dir, port), e.at()...),
		mysqlLog,
		"--mysqlx=OFF",
		"--performance-schema=OFF",
		"--cte-max-recursion-depth=4294967295", // for Sequences
	)...)
}

func (e mysql) client(ctx context.Context, dsn, statement string) *exec.Cmd {
	return mysqlClient(ctx, e.program("mysql"), dsn, statement)
}
