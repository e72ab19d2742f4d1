// Command convert-shop shows how a shop that is open gets snow ids, in the database that it has:
//
//	go run ./examples/convert-shop
//
// First it shows what happens without a conversion. Then it converts the shop with package convert while an old
// program and a new one store orders, goes back, and converts it again to the end.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // `| head` must not end the program before it cleans up
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "convert-shop:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) (err error) {
	flags := flag.NewFlagSet("convert-shop", flag.ContinueOnError)
	dsn := flags.String("mysql", "", "`DSN` of a MySQL or MariaDB server to use instead of an own one; two databases are made there, and dropped")
	rows := flags.Int("rows", 100_000, "orders that the shop has")
	pause := flags.Duration("pause", 2*time.Second, "how long the programs work between the steps")
	planFile := flags.String("plan", "", "`file` for the plan, to read it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rows < 1 || flags.NArg() > 0 {
		return errors.New("want at least one row, and no arguments")
	}
	var cfg *mysql.Config
	if *dsn == "" {
		var stop func() error
		if cfg, stop, err = startServer(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	} else if cfg, err = mysql.ParseDSN(*dsn); err != nil {
		return err
	}
	s := &shop{cfg: cfg, out: stdout, rows: *rows, pause: *pause, planFile: *planFile}
	for _, part := range []func(context.Context, *sql.DB) error{s.without, s.with} {
		if err := s.inDatabase(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// A shop is the demonstration.
type shop struct {
	cfg      *mysql.Config
	out      io.Writer
	rows     int
	pause    time.Duration
	planFile string
}

func (s *shop) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

// inDatabase calls do with a new database with the tables of the shop, and drops it.
func (s *shop) inDatabase(ctx context.Context, do func(context.Context, *sql.DB) error) (err error) {
	server, err := open(s.cfg)
	if err != nil {
		return err
	}
	defer server.Close()
	const name = "convert_shop"
	if _, err := server.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return err
	}
	defer func() {
		_, dropped := server.ExecContext(context.WithoutCancel(ctx), "DROP DATABASE "+name)
		err = errors.Join(err, dropped)
	}()
	cfg := s.cfg.Clone()
	cfg.DBName = name
	db, err := open(cfg)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, statement := range append(tables, "INSERT INTO customers (name) VALUES ('ann')") {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return do(ctx, db)
}
