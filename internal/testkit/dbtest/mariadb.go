//go:build unix

package dbtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

type mariadb struct {
	mysqlProtocol
	installation
}

func (mariadb) name() string { return "MariaDB" }
func (e mariadb) packages() string {
	return e.source("mariadb-server-core mariadb-client-core")
}

func (mariadb) programs() []string {
	return []string{"mariadb", "mariadbd", "mariadb-install-db"}
}

// mariadbLog is small to keep the template small. All servers with a copy of the template need the same size.
const mariadbLog = "--innodb-log-file-size=32M"

func (e mariadb) template() (string, error) {
	return templates.get(e, func(dir string) (string, error) {
		tmp, data := filepath.Join(dir, "tmp"), filepath.Join(dir, "data")
		if err := os.Mkdir(tmp, 0o700); err != nil {
			return "", err
		}
		accounts, err := accounts(dir)
		if err != nil {
			return "", err
		}
		args := append(asRoot(), "--datadir="+data, "--tmpdir="+tmp, "--extra-file="+accounts, "--skip-test-db",
			"--skip-name-resolve", mariadbLog,
			// A crash of the machine loses nothing of value here, and syncing would take four times as long as the
			// rest.
			"--debug-no-sync", "--innodb-flush-method=nosync", "--innodb-doublewrite=0")
		if e.folder != "" {
			args = append(args, "--basedir="+e.path("usr"))
		}
		out, err := exec.Command(e.program("mariadb-install-db"), args...).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("mariadb-install-db: %w: %s", err, out)
		}
		return data, nil
	})
}

func (e mariadb) command(dir string, port int) *exec.Cmd {
	args := append(serving(dir, port),
		mariadbLog,
		"--key-buffer-size=1M",
		"--aria-pagecache-buffer-size=1M",
		"--performance-schema=OFF",
	)
	if e.folder != "" {
		args = append(args, "--basedir="+e.path("usr"), "--lc-messages-dir="+e.path("usr/share/mariadb"))
	}
	return exec.Command(e.program("mariadbd"), args...)
}

func (e mariadb) client(ctx context.Context, dsn, statement string) *exec.Cmd {
	return mysqlClient(ctx, e.program("mariadb"), dsn, statement, "--skip-ssl")
}
