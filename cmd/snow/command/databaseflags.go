package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/cmd/snow/internal/store"
	"github.com/shardsnow/snow/sqlsnow"
)

// defaultDSN is where a DSN comes from without a flag.
const defaultDSN = "SNOW_DSN"

// databaseFlags are the flags of a command that needs a database.
type databaseFlags struct {
	app     *app
	command *cobra.Command
	access  database.Access
	flag    string // of the DSN; empty for --dsn
	dsn     string
	dialect string
	// otherwise is the dialect of a DSN that does not show its own, without --dialect; often empty.
	otherwise string
	timeout   time.Duration
}

func (f *databaseFlags) add(c *cobra.Command) {
	f.command = c
	c.Flags().StringVar(&f.dsn, "dsn", "", "`DSN` of the database: env:NAME for an environment variable, @FILE, or a SQLite file; without it, env:"+defaultDSN+`.
For MySQL user:password@tcp(host:port)/database, for PostgreSQL postgres://user:password@host:port/database, with
the password percent-encoded; for worker numbers in etcd etcd://user:password@host:port,host:port/prefix?tls=true, in
ZooKeeper zookeeper:// and the same`)
	c.Flags().StringVar(&f.dialect, "dialect", "", "`SQL` of the database: mysql, mariadb, postgres or sqlite; without it, what the DSN shows, or else "+database.DialectVariable)
	c.Flags().DurationVar(&f.timeout, "timeout", 10*time.Second, "how long the database may take to answer at first")
}

// value returns what says where the DSN is.
func (f *databaseFlags) value() string {
	if f.dsn == "" && os.Getenv(defaultDSN) != "" {
		return "env:" + defaultDSN
	}
	return f.dsn
}

// connect opens the database and others of the same product. They need not answer now.
func (f *databaseFlags) connect(more []string) (all []*store.Database, err error) {
	defer func() {
		if err != nil {
			for _, db := range all {
				_ = db.Close()
			}
		}
	}()
	for i, value := range append([]string{f.value()}, more...) {
		flag := "--dsn"
		if i > 0 {
			flag = "--more-dsn"
		}
		at, err := f.resolve(f.command.Context(), flag, value)
		if err != nil {
			return all, err
		}
		db, err := at.Connect(f.access)
		if err != nil {
			return all, err
		}
		all = append(all, &store.Database{DB: db, Dialect: at.Dialect})
		if d := at.Dialect; d != all[0].Dialect {
			return all, &usageError{"snow", fmt.Errorf("%s: it is %v, and --dsn is %v: all are of one product", flag, d, all[0].Dialect)}
		}
	}
	return all, nil
}

// resolve reads a DSN, once: it can be in a pipe.
func (f *databaseFlags) resolve(ctx context.Context, flag, value string) (*database.Location, error) {
	at, err := database.Resolve(ctx, flag, value, f.dialect, f.otherwise)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, &usageError{"snow", err}
	case at.Warning != "":
		f.app.warn(at.Warning)
	}
	return at, nil
}

func (f *databaseFlags) open(ctx context.Context) (*store.Database, error) {
	if f.timeout <= 0 {
		return nil, &usageError{"snow", errors.New("--timeout: want more than 0s")}
	}
	at, err := f.resolve(ctx, cmp.Or(f.flag, "--dsn"), f.value())
	if err != nil {
		return nil, err
	}
	db, err := at.Open(ctx, f.access, f.timeout)
	if err != nil {
		return nil, err
	}
	return &store.Database{DB: db, Dialect: at.Dialect}, nil
}

// openNumbers opens the store of worker numbers that the flags name.
func (f *databaseFlags) openNumbers(ctx context.Context) (store.Store, error) {
	if f.timeout <= 0 {
		return nil, &usageError{"snow", errors.New("--timeout: want more than 0s")}
	}
	at, err := f.resolve(ctx, cmp.Or(f.flag, "--dsn"), f.value())
	if err != nil {
		return nil, err
	}
	return store.Open(ctx, at, f.access, f.timeout)
}

// explain adds what can be done about an error of package sqlsnow.
func explain(err error) error {
	remedy := ""
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sqlsnow.ErrNotMigrated):
		remedy = `"snow migrate" makes the tables.`
	case errors.Is(err, sqlsnow.ErrNoNamespace):
		remedy = `"snow init" makes a namespace, and "snow workers" without --namespace lists all.`
	case errors.Is(err, sqlsnow.ErrReadOnly):
		remedy = "Use the DSN of the primary."
	case errors.Is(err, sqlsnow.ErrNotDurable):
		remedy = `Change the setting, or make the namespace with a --loss-window that allows for it.`
	}
	var skew *sqlsnow.ClockError
	if errors.As(err, &skew) {
		remedy = "Set the clocks of this machine and of the database's; both need a time server."
	}
	if remedy == "" {
		return err
	}
	return &remediedError{err, remedy}
}

// namespaceVariable is the environment variable with the namespace of commands that have one and get no --namespace.
const namespaceVariable = "SNOW_NAMESPACE"

// namespaceFlag adds the flag with a namespace.
func namespaceFlag(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "namespace", "", "`NAME` of the namespace; without it, "+namespaceVariable)
}

// namespaceFromEnvironment gives a command its namespace, unless flags say something else, or that it needs none.
func namespaceFromEnvironment(c *cobra.Command) {
	name := os.Getenv(namespaceVariable)
	if name == "" || !slices.Contains([]string{"workers", "init", "fence", "release", "install", "renumber", "new", "serve"}, c.Name()) || c.Parent().Name() == "merge" {
		return
	}
	for _, flag := range []string{"namespace", "segments"} {
		if c.Flags().Changed(flag) {
			return
		}
	}
	if c.Name() == "new" && c.Flags().Changed("worker") {
		return
	}
	_ = c.Flags().Lookup("namespace").Value.Set(name) // a string takes all
}

// needNamespace refuses an empty name.
func needNamespace(c *cobra.Command, name string) error {
	if name == "" {
		return &usageError{c.CommandPath(), fmt.Errorf("--namespace is missing")}
	}
	return nil
}

// quiet returns a logger for leases of a moment, whose errors are returned as well.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
