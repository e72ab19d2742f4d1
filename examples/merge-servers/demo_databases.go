package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/sqlsnow"
)

// demoPrefix begins the names of the demonstration's databases.
const demoPrefix = "merge_servers_demo_"

// demoDatabases are the databases of the demonstration.
type demoDatabases struct {
	dialect sqlsnow.Dialect
	name    string            // what --dialect takes
	dir     string            // of SQLite's files, of plans, and of files with DSNs
	dsn     map[string]string // of each database
	ref     map[string]string // what a flag takes for it: the file of SQLite, or @FILE
	server  *sql.DB           // nil for SQLite
	made    []string          // on the server
}

// openDemoDatabases makes databases in a temporary folder, or on a server if there is
// one. The caller calls close in any case, also after an error.
func openDemoDatabases(ctx context.Context, opt options, names []string) (p *demoDatabases, err error) {
	p = &demoDatabases{dialect: sqlsnow.SQLite, name: "sqlite", dsn: make(map[string]string), ref: make(map[string]string)}
	if p.dir, err = os.MkdirTemp("", "merge-servers-"); err != nil {
		return p, err
	}
	for _, dsn := range []*string{&opt.mysql, &opt.postgres} {
		if variable, ok := strings.CutPrefix(*dsn, "env:"); ok {
			if *dsn = os.Getenv(variable); *dsn == "" {
				return p, fmt.Errorf("the environment has no %s", variable)
			}
		}
	}
	at := func(name string) (string, error) { return filepath.Join(p.dir, name+".db"), nil }
	switch {
	case opt.mysql != "":
		p.dialect, p.name, at = sqlsnow.MySQL, "mysql", mysqlPlaces(opt.mysql)
		p.server, err = open(ctx, p.dialect, opt.mysql)
	case opt.postgres != "":
		p.dialect, p.name, at = sqlsnow.Postgres, "postgres", postgresPlaces(opt.postgres)
		p.server, err = open(ctx, p.dialect, opt.postgres)
	}
	if err != nil {
		return p, err
	}
	for _, name := range names {
		if p.dsn[name], err = at(demoPrefix + name); err != nil {
			return p, err
		}
		if p.ref[name] = p.dsn[name]; p.server == nil {
			continue
		}
		file := filepath.Join(p.dir, name+".dsn")
		if err := os.WriteFile(file, []byte(p.dsn[name]), 0o600); err != nil {
			return p, err
		}
		p.ref[name] = "@" + file
		create := "CREATE DATABASE " + demoPrefix + name
		if p.dialect == sqlsnow.MySQL {
			create += " CHARACTER SET utf8mb4"
		}
		// It fails where there is one: what this program has not made it does not touch.
		if _, err := p.server.ExecContext(ctx, create); err != nil {
			return p, fmt.Errorf("%s: %w", create, err)
		}
		p.made = append(p.made, demoPrefix+name)
	}
	return p, nil
}

func mysqlPlaces(dsn string) func(string) (string, error) {
	return func(name string) (string, error) {
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil {
			return "", errors.New("-mysql: want user:password@tcp(host:port)/") // the cause can quote the password
		}
		cfg.DBName = name
		return cfg.FormatDSN(), nil
	}
}

func postgresPlaces(dsn string) func(string) (string, error) {
	return func(name string) (string, error) {
		u, err := url.Parse(dsn)
		if err != nil || u.Scheme == "" {
			return "", errors.New("-postgres: want postgres://user:password@host:port/postgres")
		}
		u.Path = "/" + name
		return u.String(), nil
	}
}

// close drops what openDemoDatabases made, even if ctx has ended.
func (p *demoDatabases) close(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	for _, name := range slices.Backward(p.made) {
		drop := "DROP DATABASE " + name
		if p.dialect == sqlsnow.Postgres {
			drop += " WITH (FORCE)" // a session of a killed process may still be there
		}
		if _, e := p.server.ExecContext(ctx, drop); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", drop, e))
		}
	}
	if p.server != nil {
		err = errors.Join(err, p.server.Close())
	}
	if p.dir != "" {
		err = errors.Join(err, os.RemoveAll(p.dir))
	}
	return err
}
