package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	gomysql "github.com/go-sql-driver/mysql"
	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"
)

const (
	tablePrefix = "shard_orders_demo_"
	patience    = 10 * time.Second // how long to wait for a database that does not answer
)

// tables lists the models. A model comes after the models that it refers to.
var tables = []any{&AutoOrder{}, &AutoOrderLine{}, &Order{}, &OrderLine{}}

// A location says where a database is.
type location struct {
	Name string // A or B
	File string // of SQLite, if not empty
	DSN  string // of MySQL
}

// A database is one of the two.
type database struct {
	*gorm.DB
	location
	shown string // its location, as the reader sees it
	made  []any  // tables to drop at the end
}

// openDatabases opens the two databases and creates the tables. SQLite databases
// are files in dir. The caller calls closeAll in any case, even after an error.
func openDatabases(ctx context.Context, dir string, cfgs []*gomysql.Config) (dbs [2]*database, closeAll func() error, err error) {
	var closers []func() error
	closeAll = func() (err error) {
		for _, f := range slices.Backward(closers) {
			err = errors.Join(err, f())
		}
		return err
	}
	for i, name := range []string{"A", "B"} {
		at := location{Name: name, File: filepath.Join(dir, name+".db")}
		if cfgs != nil {
			at.File, at.DSN = "", cfgs[i].FormatDSN()
		}
		d, err := openDatabase(ctx, at)
		if err != nil {
			return dbs, closeAll, fmt.Errorf("database %s: %w", name, err)
		}
		closers = append(closers, d.close, func() error { return d.dropTables(ctx) })
		dbs[i] = d
	}
	return dbs, closeAll, makeTables(dbs)
}

func openDatabase(ctx context.Context, at location) (*database, error) {
	d := &database{location: at}
	open := d.openSQLite
	if at.File == "" {
		open = func() error { return d.openMySQL(ctx) }
	}
	if err := open(); err != nil {
		return nil, err
	}
	d.DB = d.WithContext(ctx)
	return d, nil
}

func (d *database) close() error {
	pool, err := d.DB.DB()
	if err != nil {
		return err
	}
	return pool.Close()
}

func (d *database) openSQLite() error {
	d.shown = "SQLite, a temporary file"
	return d.open(gormlite.Open(sqliteDSN(d.File)))
}

func (d *database) openMySQL(ctx context.Context) error {
	errAddress := errors.New("the -mysql address is not valid") // the cause can quote the password
	cfg, err := gomysql.ParseDSN(d.DSN)
	if err != nil {
		return errAddress
	}
	d.shown = fmt.Sprintf("%s on %s", cfg.DBName, cfg.Addr)
	cfg.ParseTime, cfg.Loc = true, time.UTC
	cfg.Logger = &gomysql.NopLogger{} // errors are returned as well
	connector, err := gomysql.NewConnector(cfg)
	if err != nil {
		return errAddress
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

// makeTables creates the tables in both databases. If a table with such a name
// exists, it changes nothing and returns an error.
func makeTables(dbs [2]*database) error {
	for _, d := range dbs {
		for _, t := range tables {
			if d.Migrator().HasTable(t) {
				return fmt.Errorf("database %s: table %s exists already: this program does not touch tables that it did not create", d.location.Name, d.tableName(t))
			}
		}
	}
	for i, d := range dbs {
		if i == 1 && d.Migrator().HasTable(tables[0]) {
			return errors.New("databases A and B are the same one: want two different databases")
		}
		for _, t := range tables {
			err := d.Set("gorm:table_options", d.tableOptions()).Migrator().CreateTable(t)
			if err == nil || d.Statement.Context.Err() != nil { // a server that was interrupted may have created it
				d.made = append(d.made, t)
			}
			if err != nil {
				return fmt.Errorf("database %s: create table %s: %w", d.location.Name, d.tableName(t), err)
			}
		}
	}
	return nil
}

func (d *database) tableOptions() string {
	if d.Dialector.Name() == "mysql" {
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
			err = errors.Join(err, fmt.Errorf("database %s: drop table %s: %w", d.location.Name, d.tableName(t), e))
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

// isDuplicateKey reports whether d refused a row because its key exists. Programs
// that need not show the database's own message set gorm.Config.TranslateError
// and compare with gorm.ErrDuplicatedKey.
func (d *database) isDuplicateKey(err error) bool {
	t, ok := d.Dialector.(gorm.ErrorTranslator)
	return ok && err != nil && errors.Is(t.Translate(err), gorm.ErrDuplicatedKey)
}
