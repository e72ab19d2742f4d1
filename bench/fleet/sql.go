package fleet

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

const (
	pools       = 8
	connections = 64 // of all pools
)

// A product is a kind of SQL database.
type product struct {
	dialect   sqlsnow.Dialect
	server    func(tb testing.TB, options ...string) *dbtest.Server
	options   []string
	connector func(dsn string, dial dialer) (driver.Connector, error)
	folder    string // a query for the folder of the file with the server's process id
	file      string // a pattern of that file
}

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

var mariadb = product{
	dialect: sqlsnow.MySQL, server: dbtest.MariaDB, options: []string{"innodb-buffer-pool-size=64M"},
	connector: func(dsn string, dial dialer) (driver.Connector, error) {
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil {
			return nil, err
		}
		cfg.DialFunc, cfg.Logger = dial, new(mysql.NopLogger) // an outage would fill the terminal
		return mysql.NewConnector(cfg)
	},
	folder: "SELECT @@datadir", file: "*.pid",
}

var postgres = product{
	dialect: sqlsnow.Postgres, server: dbtest.Postgres, options: []string{"shared_buffers=64MB"},
	connector: func(dsn string, dial dialer) (driver.Connector, error) {
		cfg, err := pgx.ParseConfig(dsn)
		if err != nil {
			return nil, err
		}
		cfg.DialFunc = dial
		return stdlib.GetConnector(*cfg), nil
	},
	folder: "SHOW data_directory", file: "postmaster.pid",
}

// A database is a server of SQL with a namespace.
type database struct {
	product
	server *dbtest.Server
	about  string
	pid    int
	trips  trips
	pools  [pools]*sql.DB
	next   atomic.Int64
}

// start starts a server and makes the namespace "fleet".
func (p product) start(ctx context.Context, tb testing.TB, opts Options) (store, error) {
	d := &database{product: p, server: p.server(tb, p.options...)}
	d.about = d.server.Product(tb)
	connector, err := p.connector(d.server.DSN(d.server.CreateDatabase(tb)), d.trips.dial)
	if err != nil {
		return nil, err
	}
	for i := range d.pools {
		d.pools[i] = sql.OpenDB(connector)
		d.pools[i].SetMaxOpenConns(connections / pools)
		d.pools[i].SetMaxIdleConns(connections / pools)
	}
	ns, err := opts.namespace()
	if err != nil {
		return nil, errors.Join(err, d.end())
	}
	db := d.pools[0]
	if err := errors.Join(sqlsnow.Migrate(ctx, db, p.dialect), sqlsnow.Init(ctx, db, p.dialect, ns), d.find(ctx)); err != nil {
		return nil, errors.Join(err, d.end())
	}
	return d, nil
}

// find learns the id of the server's process.
func (d *database) find(ctx context.Context) error {
	var folder string
	if err := d.pools[0].QueryRowContext(ctx, d.folder).Scan(&folder); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(folder, d.file))
	if err != nil || len(files) != 1 {
		return errors.Join(err, errors.New("the server has "+strconv.Itoa(len(files))+" files with its process id"))
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	d.pid, err = strconv.Atoi(strings.TrimSpace(line))
	return err
}

func (d *database) version() string { return d.about }

func (d *database) acquire(ctx context.Context, told func(sqlsnow.LeaseEvent)) (lease, error) {
	db := d.pools[d.next.Add(1)%pools]
	return sqlsnow.Acquire(ctx, db, d.dialect, sqlsnow.LeaseConfig{
		Namespace: name, Wait: true, Holder: holder, Logger: slog.New(slog.DiscardHandler),
		OnEvent: func(_ context.Context, e sqlsnow.LeaseEvent) { told(e) },
	})
}

func (d *database) processor() (time.Duration, error) { return processorTime(d.pid) }

func (d *database) roundTrips() int64 { return d.trips.n.Load() }

func (d *database) kill(tb testing.TB) { d.server.Kill(tb) }

func (d *database) restart(tb testing.TB) error {
	d.server.Restart(tb)
	var err error
	for range connections + 1 { // the pool still has connections to the server that was killed
		if err = d.find(context.Background()); err == nil {
			return nil
		}
	}
	return err
}

func (d *database) end() error {
	var errs []error
	for _, db := range d.pools {
		errs = append(errs, db.Close())
	}
	return errors.Join(errs...)
}

func (d *database) close() { _ = d.end() }
