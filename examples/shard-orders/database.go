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
	"time"

	gomysql "github.com/go-sql-driver/mysql"
	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
)

const (
	tablePrefix = "shard_orders_demo_"
	patience    = 10 * time.Second // with a database that does not answer
)

// tables lists the models, those that others refer to first.
var tables = []any{&AutoOrder{}, &AutoOrderLine{}, &Order{}, &OrderLine{}}

// A database is one of the two, with the generator of the program that owns it.
type database struct {
	*gorm.DB
	name  string // A or B
	place string // for the reader
	gen   *snow.Generator

	made []any // tables to drop at the end
}

// openDatabases opens the two databases and makes the tables. The caller calls
// closeAll in any case, also after an error.
func openDatabases(ctx context.Context, cfgs []*gomysql.Config) (dbs [2]*database, closeAll func() error, err error) {
	var closers []func() error
	closeAll = func() (err error) {
		for _, f := range slices.Backward(closers) {
			err = errors.Join(err, f())
		}
		return err
	}
	dir := ""
	if cfgs == nil {
		if dir, err = os.MkdirTemp("", "shard-orders-"); err != nil {
			return dbs, closeAll, err
		}
		closers = append(closers, func() error { return os.RemoveAll(dir) })
	}
	for i, name := range []string{"A", "B"} {
		d := &database{name: name}
		if cfgs == nil {
			err = d.openSQLite(filepath.Join(dir, name+".db"))
		} else {
			err = d.openMySQL(ctx, cfgs[i])
		}
		if err != nil {
			return dbs, closeAll, fmt.Errorf("database %s: %w", name, err)
		}
		pool, err := d.DB.DB()
		if err != nil {
			return dbs, closeAll, fmt.Errorf("database %s: %w", name, err)
		}
		closers = append(closers, pool.Close, func() error { return d.dropTables(ctx) })
		d.DB = d.WithContext(ctx)
		dbs[i] = d
	}
	return dbs, closeAll, makeTables(dbs)
}

func (d *database) openSQLite(file string) error {
	d.place = "SQLite, a temporary file"
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(file), RawQuery: url.Values{
		"_txlock": {"immediate"}, // a transaction that becomes a writer halfway can't wait for its turn
		"_pragma": {"busy_timeout(10000)", "journal_mode(wal)", "foreign_keys(on)"},
	}.Encode()}
	return d.open(gormlite.Open(dsn.String()))
}

func (d *database) openMySQL(ctx context.Context, cfg *gomysql.Config) error {
	d.place = fmt.Sprintf("%s on %s", cfg.DBName, cfg.Addr)
	cfg.ParseTime, cfg.Loc = true, time.UTC
	cfg.Logger = &gomysql.NopLogger{} // errors are returned as well
	connector, err := gomysql.NewConnector(cfg)
	if err != nil {
		return errors.New("the -mysql address is not usable") // the cause can quote the password
	}
	pool := sql.OpenDB(connector)
	ping, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := pool.PingContext(ping); err != nil {
		return fmt.Errorf("can't reach %s on %s: %w", cfg.DBName, cfg.Addr, errors.Join(err, pool.Close()))
	}
	if err := d.open(mysql.New(mysql.Config{Conn: pool, DSNConfig: cfg})); err != nil {
		return errors.Join(err, pool.Close())
	}
	return nil
}

func (d *database) open(dialect gorm.Dialector) (err error) {
	d.DB, err = gorm.Open(dialect, &gorm.Config{
		Logger:         logger.Discard, // errors are returned as well
		NamingStrategy: schema.NamingStrategy{TablePrefix: tablePrefix},
	})
	return err
}

// makeTables makes the tables in both databases. It leaves alone what is there
// already: a table with the name of one of ours is an error.
func makeTables(dbs [2]*database) error {
	for _, d := range dbs {
		for _, t := range tables {
			if d.Migrator().HasTable(t) {
				return fmt.Errorf("database %s: table %s exists already: this program does not touch tables that it has not made", d.name, d.tableName(t))
			}
		}
	}
	for i, d := range dbs {
		if i == 1 && d.Migrator().HasTable(tables[0]) {
			return errors.New("databases A and B are the same one: want two different databases")
		}
		for _, t := range tables {
			err := d.Set("gorm:table_options", d.tableOptions()).Migrator().CreateTable(t)
			if err == nil || d.Statement.Context.Err() != nil { // an interrupted server may have made it all the same
				d.made = append(d.made, t)
			}
			if err != nil {
				return fmt.Errorf("database %s: create table %s: %w", d.name, d.tableName(t), err)
			}
		}
	}
	return nil
}

func (d *database) tableOptions() string {
	if d.Name() == "mysql" {
		return "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
	}
	return ""
}

// dropTables drops what makeTables made, even if ctx has ended.
func (d *database) dropTables(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	for _, t := range slices.Backward(d.made) {
		if e := d.WithContext(ctx).Migrator().DropTable(t); e != nil {
			err = errors.Join(err, fmt.Errorf("database %s: drop table %s: %w", d.name, d.tableName(t), e))
		}
	}
	d.made = nil
	return err
}

func (d *database) tableName(model any) string {
	stmt := &gorm.Statement{DB: d.DB}
	if err := stmt.Parse(model); err != nil {
		return fmt.Sprintf("%T", model)
	}
	return stmt.Table
}

// isDuplicateKey reports whether d refused a row because its key is taken.
// Programs that don't show the database's own message set
// gorm.Config.TranslateError and compare with gorm.ErrDuplicatedKey.
func (d *database) isDuplicateKey(err error) bool {
	t, ok := d.Dialector.(gorm.ErrorTranslator)
	return ok && err != nil && errors.Is(t.Translate(err), gorm.ErrDuplicatedKey)
}
