package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// startServer starts a MariaDB server of the shop's own: its files are in a temporary folder, and it listens on a
// socket in there. stop ends it, and removes the files.
func startServer(ctx context.Context) (cfg *mysql.Config, stop func() error, err error) {
	dir, err := os.MkdirTemp("", "convert-shop-")
	if err != nil {
		return nil, nil, err
	}
	stop = func() error { return os.RemoveAll(dir) }
	fail := func(err error) (*mysql.Config, func() error, error) { return nil, nil, errors.Join(err, stop()) }

	data, socket := filepath.Join(dir, "data"), filepath.Join(dir, "socket")
	common := []string{"--no-defaults", "--datadir=" + data, "--innodb-log-file-size=32M"}
	if os.Getuid() == 0 {
		common = append(common, "--user=root")
	}
	install := exec.CommandContext(ctx, "mariadb-install-db", append(common, "--auth-root-authentication-method=normal", "--skip-test-db")...)
	if out, err := install.CombinedOutput(); err != nil {
		return fail(fmt.Errorf("%w: %s (give a server with -mysql, or install Debian's package mariadb-server-core)", err, out))
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return fail(err)
	}
	defer log.Close()
	program, err := exec.LookPath("mariadbd")
	if err != nil {
		program = "/usr/sbin/mariadbd"
	}
	server := exec.Command(program, append(common, "--socket="+socket, "--skip-networking", "--innodb-flush-log-at-trx-commit=2")...)
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		return fail(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	stop = func() error {
		_ = server.Process.Signal(syscall.SIGTERM) // it may have ended
		return errors.Join(<-ended, os.RemoveAll(dir))
	}

	cfg = mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr = "root", "unix", socket
	db, err := open(cfg)
	if err != nil {
		return fail(err)
	}
	defer db.Close()
	for {
		if err = db.PingContext(ctx); err == nil {
			return cfg, stop, nil
		}
		select {
		case err := <-ended:
			text, _ := os.ReadFile(log.Name())
			ended <- err
			return fail(fmt.Errorf("mariadbd: %w: %s", err, text))
		case <-ctx.Done():
			return fail(ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// open returns a pool for a server.
func open(cfg *mysql.Config) (*sql.DB, error) {
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}
