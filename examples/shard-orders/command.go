package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-sql-driver/mysql"
)

const usage = `Usage: shard-orders [-orders FILE] [-mysql DSN -mysql DSN] [-report FILE]

Splits orders by buyer over two databases, first with AUTO_INCREMENT keys and
then with snow keys. Two processes make these at the same time, and one of them
is killed. Merges the databases, and checks what it shows.

  -orders FILE  CSV file with the header buyer,item,amount,time: the amount in
                cents, the time like 2026-03-01T18:30:00Z. Default: 2,000 orders
                that are part of the program.
  -mysql DSN    MySQL or MariaDB database, given twice, for example
                user:password@tcp(127.0.0.1:3306)/shop_a. Tables with the prefix
                ` + tablePrefix + ` are created in it and dropped at the end.
                Default: two SQLite files in a temporary folder.
  -report FILE  write a page with charts of what happened, in HTML; FILE is
                overwritten.
`

//go:generate go run ./gen orders.csv
//go:embed orders.csv
var defaultOrders []byte

// run returns the exit status: 1 for an error or a claim that does not hold, 2
// for wrong flags.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 1 && args[0] == workerFlag {
		if err := work(ctx, stdin, stdout); err != nil {
			_, _ = fmt.Fprintln(stderr, "shard-orders:", err)
			return 1
		}
		return 0
	}
	opt, err := parseFlags(args, stdout, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	s := &story{screen: newScreen(stdout)}
	if err := s.perform(ctx, opt); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("interrupted: %w", err)
		}
		_, _ = fmt.Fprintln(stderr, "shard-orders:", err)
		return 1
	}
	return min(s.failed, 1)
}

// perform tells the story. It reads all orders before it opens a database, and
// removes everything that it created.
func (s *story) perform(ctx context.Context, opt options) (err error) {
	purchases, err := opt.readPurchases()
	if err != nil {
		return err
	}
	if err := s.prepare(); err != nil {
		return err
	}
	for _, p := range purchases {
		i := s.homes.At(shardOf(p.Buyer))
		s.purchases[i] = append(s.purchases[i], p)
	}
	if len(s.purchases[0]) == 0 || len(s.purchases[1]) == 0 {
		return errors.New("the buyers of all orders belong to one database: want buyers for both")
	}
	dir, err := os.MkdirTemp("", "shard-orders-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	dbs, closeAll, err := openDatabases(ctx, dir, opt.mysql)
	defer func() { err = errors.Join(err, closeAll()) }()
	if err != nil {
		return err
	}
	s.dbs, s.registry = dbs, filepath.Join(dir, "registry.db")
	if err := s.tell(ctx); err != nil || opt.report == "" {
		return err
	}
	return os.WriteFile(opt.report, s.page(), 0o644)
}

type options struct {
	orders string
	mysql  []*mysql.Config // none or two
	report string
}

// errUsage is returned for flags about which parseFlags has printed a message.
var errUsage = errors.New("usage")

// parseFlags returns [flag.ErrHelp] if the user asked for help. No message
// shows a DSN, because it holds a password.
func parseFlags(args []string, stdout, stderr io.Writer) (options, error) {
	var opt options
	var dsns []string
	fs := flag.NewFlagSet("shard-orders", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&opt.orders, "orders", "", "")
	fs.StringVar(&opt.report, "report", "", "")
	fs.Func("mysql", "", func(dsn string) error {
		dsns = append(dsns, dsn)
		return nil
	})
	err := fs.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		_, _ = fmt.Fprint(stdout, usage)
		return opt, err
	}
	switch {
	case err != nil:
	case fs.NArg() > 0:
		err = errors.New("there are arguments after the flags") // not quoted: they could be a DSN
	case len(dsns) != 0 && len(dsns) != 2:
		err = fmt.Errorf("want two -mysql flags, one for each database, got %d", len(dsns))
	}
	for i, dsn := range dsns {
		if err != nil {
			break
		}
		// ParseDSN's own error can quote the password.
		cfg, bad := mysql.ParseDSN(dsn)
		if bad != nil || cfg.DBName == "" {
			err = fmt.Errorf("-mysql number %d: want user:password@tcp(host:port)/database", i+1)
			break
		}
		opt.mysql = append(opt.mysql, cfg)
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "shard-orders: %v\n\n%s", err, usage)
		return opt, errUsage
	}
	return opt, nil
}

// readPurchases reads the file of the flag, or the one in the program.
func (opt options) readPurchases() ([]Purchase, error) {
	if opt.orders == "" {
		return readPurchases("orders.csv", defaultOrders)
	}
	text, err := os.ReadFile(opt.orders)
	if err != nil {
		return nil, err
	}
	return readPurchases(opt.orders, text)
}
