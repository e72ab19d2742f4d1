package service

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/httpsnow/page"
	"github.com/shardsnow/snow/lease"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Config says what a service gives, and to whom. Its fields are the flags of snow serve.
type Config struct {
	Listen     string
	Namespace  string
	Tag        string // of segments, in place of Namespace
	Routes     []string
	Datacenter uint64
	Worker     *uint64 // nil: any
	OneLane    bool
	Token      string // where tokens are: env:NAME or @FILE
	NoToken    bool
	MaxIDs     int
	Rate       float64
	Wait       time.Duration
	Drain      time.Duration
	Timeout    time.Duration // of the database
	Page       bool
	Hosts      []string
	Metrics    bool
	TLSCert    string
	TLSKey     string
	AccessLog  bool

	Logger    *slog.Logger
	Open      func(ctx context.Context) ([]Database, error) // of several, some may not answer now
	Listening func(url string) error                        // is called when requests are answered
}

// A Database has the tables of package sqlsnow. A cluster has Numbers only, and what the page calls it.
type Database struct {
	DB         *sql.DB
	Dialect    sqlsnow.Dialect
	Numbers    Numbers
	Name, Host string
}

// Numbers are the worker numbers of a database or a cluster.
type Numbers interface {
	page.Store
	Acquire(ctx context.Context, cfg lease.Config) (*lease.Lease, error)
	Close() error
}

// needSQL refuses a cluster for what needs the tables of a database.
func needSQL(flag string, dbs []Database) error {
	for _, db := range dbs {
		if db.DB == nil {
			return &UsageError{fmt.Errorf("%s: it needs an SQL database, and the DSN is of a cluster that has worker numbers only", flag)}
		}
	}
	return nil
}

// A UsageError is about a field of Config.
type UsageError struct{ err error }

func (e *UsageError) Error() string { return e.err.Error() }
func (e *UsageError) Unwrap() error { return e.err }

// A running is a service that runs.
type running struct {
	Config
	draining atomic.Bool
}

// read returns the tokens and the routes, which ctx stops waiting for.
func (c *running) read(ctx context.Context) (tokens []string, routes []*route, err error) {
	if tokens, err = c.check(ctx); err == nil {
		routes, err = c.parseRoutes(ctx)
	}
	if err != nil && ctx.Err() == nil {
		err = &UsageError{err}
	}
	return tokens, routes, err
}

// check returns the tokens, or what is wrong with the flags.
func (c *running) check(ctx context.Context) ([]string, error) {
	switch {
	case (c.Namespace == "") == (c.Tag == ""):
		return nil, errors.New("want either --namespace or --segments")
	case c.Tag != "" && (c.Worker != nil || c.Datacenter != 0 || c.OneLane):
		return nil, errors.New("--worker, --datacenter and --one-lane are for --namespace")
	case c.Token != "" && c.NoToken:
		return nil, errors.New("want --token or --no-token, not both")
	case c.Drain < 0:
		return nil, errors.New("--drain: want 0s or more")
	case c.Wait <= 0 || c.MaxIDs <= 0:
		return nil, errors.New("--wait and --max-ids: want more than 0")
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return nil, errors.New("--tls-cert and --tls-key: want both or none")
	case c.Timeout <= 0:
		return nil, errors.New("--timeout: want more than 0s")
	}
	if c.Token != "" {
		return database.Secrets(ctx, "--token", c.Token)
	}
	if c.Listen == "systemd" || strings.HasPrefix(c.Listen, "unix:") {
		return nil, nil
	}
	address, err := net.ResolveTCPAddr("tcp", c.Listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return nil, c.checkOpen(address)
}

// checkOpen returns an error if other machines reach an address without a token, and --no-token does not allow it.
func (c *running) checkOpen(address net.Addr) error {
	if c.Token != "" || c.NoToken || isPrivate(address) {
		return nil
	}
	return errors.New("--listen: other machines reach this address: want --token, or --no-token")
}
