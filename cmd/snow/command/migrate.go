package command

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/cmd/snow/internal/store"
	"github.com/shardsnow/snow/migrations"
	"github.com/shardsnow/snow/sqlsnow"
)

const aboutMigrate = `Make the tables snow_namespaces, snow_workers, snow_segments and snow_numbers
if they are missing, and record that in snow_migrations. It never drops anything, and may be
run again and by several at a time. A SQLite file is made if it does not exist.

--print shows the statements for the product of --dialect or of the DSN, and asks no
database. Somebody else can run them; this command records that later.`

func (a *app) migrate() *cobra.Command {
	flags := &databaseFlags{app: a, access: database.Create}
	var show bool
	c := &cobra.Command{
		Use: "migrate", Short: "Make the tables", Long: aboutMigrate, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if show {
				return a.printMigrations(c, flags)
			}
			db, err := flags.open(c.Context())
			if err != nil {
				return err
			}
			defer db.Close()
			if err := sqlsnow.Migrate(c.Context(), db.DB, db.Dialect); err != nil {
				return explain(err)
			}
			return a.print(done{Dialect: db.Dialect.String(), Done: "the tables are there"})
		},
	}
	c.Flags().BoolVar(&show, "print", false, "print the statements, and do nothing")
	flags.add(c)
	c.AddCommand(a.migrateStatus())
	return c
}

func (a *app) printMigrations(c *cobra.Command, flags *databaseFlags) (err error) {
	var d sqlsnow.Dialect
	if value := flags.value(); value == "" {
		d, err = needDialect(c, flags.dialect)
	} else {
		var at *database.Location
		if at, err = flags.resolve(c.Context(), "--dsn", value); err == nil {
			d = at.Dialect
		}
	}
	if err != nil {
		return err
	}
	all, err := migrationsOf(d)
	if err != nil {
		return err
	}
	shown := shownStatements{Dialect: d.String()}
	for _, m := range all {
		shown.Statements = append(shown.Statements, m.statement)
	}
	return a.print(shown)
}

// A migration is a file that makes a table.
type migration struct {
	version                int
	name, table, statement string
}

func migrationsOf(d sqlsnow.Dialect) (all []migration, err error) {
	files := map[sqlsnow.Dialect]fs.FS{sqlsnow.MySQL: migrations.MySQL(), sqlsnow.Postgres: migrations.Postgres(), sqlsnow.SQLite: migrations.SQLite()}[d]
	names, err := fs.Glob(files, "*.up.sql") // sorted
	for _, file := range names {
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		m := migration{name: strings.TrimSuffix(file, ".up.sql"), statement: strings.TrimRight(string(text), "; \n")}
		number, table, _ := strings.Cut(m.name, "_")
		if m.version, err = strconv.Atoi(number); err != nil {
			return nil, err
		}
		m.table = table
		all = append(all, m)
	}
	return all, err
}

const aboutMigrateStatus = `Show which of the tables are there, and when they were made. It only reads.

  applied       the table is there, and snow_migrations says so
  not recorded  another program made the table; "snow migrate" records it
  missing       the table does not exist
  newer         a newer version of snow made it

Exit status 3 if "snow migrate" has something to do.`

func (a *app) migrateStatus() *cobra.Command {
	flags := &databaseFlags{app: a}
	c := &cobra.Command{
		Use: "status", Short: "Show which tables are there", Long: aboutMigrateStatus, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			db, err := flags.open(c.Context())
			if err != nil {
				return err
			}
			defer db.Close()
			all, err := readMigrations(c.Context(), db)
			if err != nil {
				return fmt.Errorf("migrate status: %w", err)
			}
			if err := a.print(all); err != nil {
				return err
			}
			open := slices.DeleteFunc(slices.Clone(all), func(m shownMigration) bool { return m.State == "applied" || m.State == "newer" })
			if len(open) > 0 {
				return &remediedError{&refusal{fmt.Errorf("migrate status: %s to apply", count(len(open), "migration"))}, `"snow migrate" does it.`}
			}
			return nil
		},
	}
	flags.add(c)
	return c
}

// shownMigrations is the result of migrate status.
type shownMigrations []shownMigration

type shownMigration struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	State   string `json:"state"`
	Applied string `json:"applied,omitempty"`
}

func (all shownMigrations) writeText(w io.Writer) {
	for _, m := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\n", printable(m.Name), m.State, cmp.Or(m.Applied, "-"))
	}
}

func readMigrations(ctx context.Context, db *store.Database) (shownMigrations, error) {
	var tablesQuery, recordedQuery string
	switch db.Dialect {
	case sqlsnow.MySQL:
		tablesQuery = "SELECT 0, table_name, '' FROM information_schema.tables WHERE table_schema = DATABASE()"
		recordedQuery = "SELECT version, name, DATE_FORMAT(applied_at, '%Y-%m-%dT%TZ') FROM snow_migrations ORDER BY version"
	case sqlsnow.Postgres:
		tablesQuery = "SELECT 0, tablename::text, '' FROM pg_catalog.pg_tables WHERE schemaname = current_schema()"
		recordedQuery = `SELECT version, name, to_char(applied_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') FROM snow_migrations ORDER BY version`
	default:
		tablesQuery = "SELECT 0, name, '' FROM sqlite_schema WHERE type = 'table'"
		recordedQuery = "SELECT version, name, strftime('%Y-%m-%dT%H:%M:%SZ', applied_at) FROM snow_migrations ORDER BY version"
	}
	rows, err := migrationRows(ctx, db.DB, tablesQuery)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, r := range rows {
		there[r.Name] = true
	}
	recorded := map[int]shownMigration{}
	if there["snow_migrations"] {
		if rows, err = migrationRows(ctx, db.DB, recordedQuery); err != nil {
			return nil, err
		}
		for _, r := range rows {
			recorded[r.Version] = r
		}
	} else {
		rows = nil
	}
	known, err := migrationsOf(db.Dialect)
	if err != nil {
		return nil, err
	}
	all := shownMigrations{}
	for _, m := range known {
		shown := shownMigration{Version: m.version, Name: m.name, State: "missing"}
		before, is := recorded[m.version]
		switch {
		case there[m.table] && is:
			shown.State, shown.Applied = "applied", before.Applied
		case there[m.table]:
			shown.State = "not recorded"
		}
		all = append(all, shown)
	}
	for _, r := range rows {
		if !slices.ContainsFunc(known, func(m migration) bool { return m.version == r.Version }) {
			r.State = "newer"
			all = append(all, r)
		}
	}
	return all, nil
}

// migrationRows returns the rows of a query for a version, a name and a time.
func migrationRows(ctx context.Context, db *sql.DB, query string) (all []shownMigration, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var m shownMigration
		if err := rows.Scan(&m.Version, &m.Name, &m.Applied); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, rows.Err()
}

// A done is the result of a command that changes the database.
type done struct {
	Dialect   string `json:"dialect"`
	Namespace string `json:"namespace,omitempty"`
	Done      string `json:"done"`
	DryRun    bool   `json:"dry_run,omitempty"`
}

func (d done) writeText(w io.Writer) {
	where := d.Dialect
	if d.Namespace != "" {
		where += ", namespace " + d.Namespace
	}
	fmt.Fprintf(w, "%s: %s\n", where, d.Done)
}
