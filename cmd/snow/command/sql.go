package command

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/functions"
)

func (a *app) sql() *cobra.Command {
	c := a.group("sql", "Ids in SQL: functions, and monthly partitions", "")
	c.AddCommand(a.sqlFunctions(), a.sqlPartitions(),
		a.sqlMaking("install", "Let a database make ids", aboutSQLInstall,
			"a worker number is reserved for this database for ever, if it has none", functions.Install),
		a.sqlMaking("renumber", "Give the copy of a database a worker number of its own", aboutSQLRenumber,
			"another worker number is reserved for this database for ever, and its old one is never used again", functions.Renumber))
	return c
}

// shownStatements is the result of the commands that print SQL.
type shownStatements struct {
	Dialect    string   `json:"dialect"`
	Statements []string `json:"statements"`
}

func (s shownStatements) writeText(w io.Writer) {
	for _, statement := range s.Statements {
		fmt.Fprintf(w, "%s;\n", statement)
	}
}

// dialectFlag adds the flag of a command that only prints SQL.
func dialectFlag(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "dialect", "", "the `SQL` to print: mysql, mariadb or postgres; without it, "+database.DialectVariable)
}

func needDialect(c *cobra.Command, name string) (sqlsnow.Dialect, error) {
	if name = cmp.Or(name, os.Getenv(database.DialectVariable)); name == "" {
		return 0, &usageError{c.CommandPath(), errors.New("--dialect is missing")}
	}
	d, err := database.ParseDialect(name)
	if err != nil || d == sqlsnow.SQLite && c.Name() != "migrate" {
		return 0, &usageError{c.CommandPath(), fmt.Errorf("--dialect %.40q: want mysql, mariadb or postgres", name)}
	}
	return d, nil
}

const aboutSQLFunctions = `Print the statements that create functions which take ids apart: snow_time,
snow_worker, snow_datacenter, snow_sequence, snow_shard, snow_id_from and
snow_id_until. They are for migrations.`

func (a *app) sqlFunctions() *cobra.Command {
	layout := layoutFlag{presets()[0]}
	var dialect string
	c := &cobra.Command{
		Use: "functions", Short: "Print functions that read ids", Long: aboutSQLFunctions, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			d, err := needDialect(c, dialect)
			if err != nil {
				return err
			}
			statements, err := functions.Reading(d, layout.layout)
			if err != nil {
				return err
			}
			return a.print(shownStatements{d.String(), statements})
		},
	}
	dialectFlag(c, &dialect)
	c.Flags().Var(&layout, "layout", "a preset or a layout")
	return c
}

const aboutSQLPartitions = `Print the statements that partition a table by the months of its ids. Without
--add, a statement for MySQL and MariaDB that divides a table. With --add, those
that add months: for MySQL and MariaDB to a table that was divided, and for
PostgreSQL to one that was created with PARTITION BY RANGE (id).`

func (a *app) sqlPartitions() *cobra.Command {
	layout := layoutFlag{presets()[0]}
	var dialect, table, column, first string
	var months int
	var add bool
	c := &cobra.Command{
		Use: "partitions", Short: "Print monthly partitions", Long: aboutSQLPartitions, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			usage := func(err error) error { return &usageError{c.CommandPath(), err} }
			d, err := needDialect(c, dialect)
			if err != nil {
				return err
			}
			if table == "" {
				return usage(errors.New("--table is missing"))
			}
			month := a.now().UTC()
			if first != "" {
				if month, err = time.Parse("2006-01", first); err != nil {
					return usage(fmt.Errorf("--first %.40q: want a month such as 2026-01", first))
				}
			}
			if !add && d == sqlsnow.Postgres {
				return usage(errors.New("--add is missing: PostgreSQL divides a table when it is created, with PARTITION BY RANGE (" + column + ")"))
			}
			var statements []string
			if add {
				statements, err = functions.AddPartitions(d, layout.layout, table, month, months)
			} else {
				statements = make([]string, 1)
				statements[0], err = functions.Partition(d, layout.layout, table, column, month, months)
			}
			if err != nil {
				return usage(err)
			}
			return a.print(shownStatements{d.String(), statements})
		},
	}
	dialectFlag(c, &dialect)
	c.Flags().Var(&layout, "layout", "a preset or a layout")
	c.Flags().StringVar(&table, "table", "", "`NAME` of the table")
	c.Flags().StringVar(&column, "column", "id", "`NAME` of the column with the ids")
	c.Flags().StringVar(&first, "first", "", "the first `MONTH`, such as 2026-01; this month if it is left out")
	c.Flags().IntVar(&months, "months", 12, "how many `MONTHS`")
	c.Flags().BoolVar(&add, "add", false, "add months to a table that has partitions")
	return c
}

const aboutSQLInstall = `Create snow_next_id(), which makes ids for triggers, for defaults and for programs
that are not Go, and the functions that read ids. The database reserves a worker
number of the namespace for itself, for ever. Run it again after an update of
snow: it keeps the number. If another database has the namespace, name that with
--leases.

Run it in each database that makes ids after the namespace was restored from a
backup and fenced: it takes the same number again. If the namespace was made
anew, or the database is to use another one, add --move.

MySQL and MariaDB with a binary log need log_bin_trust_function_creators = 1
meanwhile.`

const aboutSQLRenumber = `Give snow_next_id() another worker number. Run it in a database that is a copy, or
that was restored from a backup while the other one goes on, before it makes an
id: both make ids with one number otherwise. Nobody uses the old number again.`

// sqlMaking is the command for a function of package functions that changes a database.
func (a *app) sqlMaking(use, short, long, change string, do func(context.Context, *sql.DB, sqlsnow.Dialect, functions.Config) (uint64, error)) *cobra.Command {
	flags := &databaseFlags{app: a, access: database.Existing}
	confirm := &confirmation{app: a}
	leases := &databaseFlags{app: a, access: database.Existing, flag: "--leases"}
	var namespace string
	var datacenter uint64
	var move bool
	c := &cobra.Command{
		Use: use, Short: short, Long: long, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := needNamespace(c, namespace); err != nil {
				return err
			}
			db, err := flags.open(c.Context())
			if err != nil {
				return err
			}
			defer db.Close()
			home := db // of the namespace
			if leases.dsn != "" {
				leases.timeout, leases.otherwise = flags.timeout, strings.ToLower(db.Dialect.String())
				if home, err = leases.open(c.Context()); err != nil {
					return err
				}
				defer home.Close()
			}
			all, err := sqlsnow.Namespaces(c.Context(), home.DB, home.Dialect, namespace)
			if err != nil {
				return explain(err)
			}
			d := done{Dialect: db.Dialect.String(), Namespace: namespace, DryRun: confirm.dryRun}
			if confirm.dryRun {
				d.Done = fmt.Sprintf("nothing was changed; %s, for ids of %v. Whether the server allows it was not tried", change, all[0].Layout)
				return a.print(d)
			}
			if err := confirm.ask(c.Context(), fmt.Sprintf("%s, namespace %s: %s. Do it?", d.Dialect, namespace, change)); err != nil {
				return err
			}
			worker, err := do(c.Context(), db.DB, db.Dialect, functions.Config{
				Namespace: namespace, Datacenter: datacenter, Move: move, Leases: home.DB, LeasesDialect: home.Dialect,
			})
			if err != nil {
				return explain(err)
			}
			d.Done = fmt.Sprintf("snow_next_id() makes ids of worker %d", worker)
			return a.print(d)
		},
	}
	namespaceFlag(c, &namespace)
	c.Flags().Uint64Var(&datacenter, "datacenter", 0, "`NUMBER` of the datacenter, for layouts that have some")
	c.Flags().StringVar(&leases.dsn, "leases", "", "`DSN` of the database that has the namespace, if it is another one; as --dsn")
	c.Flags().StringVar(&leases.dialect, "leases-dialect", "", "`SQL` of that database; not needed if its DSN shows it, or if it is the same as --dialect")
	c.Flags().BoolVar(&move, "move", false, "take the number from another namespace than before, or from one that was made anew")
	confirm.add(c)
	flags.add(c)
	return c
}
