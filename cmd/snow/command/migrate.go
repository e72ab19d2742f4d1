package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/sqlsnow"
)

const aboutMigrate = `Make the tables snow_namespaces, snow_workers and snow_segments if they are
missing, and record that in snow_migrations. It never drops anything, and may be
run again and by several at a time. A SQLite file is made if it does not exist.`

func (a *app) migrate() *cobra.Command {
	flags := &databaseFlags{app: a, access: database.Create}
	c := &cobra.Command{
		Use: "migrate", Short: "Make the tables", Long: aboutMigrate, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			db, err := flags.open(c.Context())
			if err != nil {
				return err
			}
			defer db.Close()
			if err := sqlsnow.Migrate(c.Context(), db.DB, db.dialect); err != nil {
				return explain(err)
			}
			return a.print(done{Dialect: db.dialect.String(), Done: "the tables are there"})
		},
	}
	flags.add(c)
	return c
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
