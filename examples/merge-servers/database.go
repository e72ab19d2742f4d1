package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	sqlite "github.com/ncruces/go-sqlite3/driver"

	"github.com/shardsnow/snow/sqlsnow"
)

// patience is how long to wait for a database that does not answer.
const patience = 10 * time.Second

// open opens a database and checks that it answers. No error shows the DSN,
// because it holds a password. A file of SQLite that does not exist is made.
func open(ctx context.Context, d sqlsnow.Dialect, dsn string) (*sql.DB, error) {
	db, err := connect(d, dsn)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func connect(d sqlsnow.Dialect, dsn string) (*sql.DB, error) {
	switch d {
	case sqlsnow.MySQL:
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil { // which can quote the password
			return nil, errors.New("want user:password@tcp(host:port)/database")
		}
		cfg.Logger = &mysql.NopLogger{} // errors are returned as well
		c, err := mysql.NewConnector(cfg)
		if err != nil {
			return nil, err
		}
		return sql.OpenDB(c), nil
	case sqlsnow.Postgres:
		cfg, err := pgx.ParseConfig(dsn)
		if err != nil {
			return nil, errors.New("want postgres://user:password@host:port/database")
		}
		return stdlib.OpenDB(*cfg), nil
	case sqlsnow.SQLite:
		if !strings.HasPrefix(dsn, "file:") {
			dsn = (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(dsn)}).String()
		}
		separator := "?"
		if strings.Contains(dsn, "?") {
			separator = "&"
		}
		return sqlite.Open(dsn + separator + "_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=foreign_keys(on)&_pragma=synchronous(extra)")
	}
	return nil, fmt.Errorf("dialect %v is unknown", d)
}
