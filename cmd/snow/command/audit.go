package command

import (
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow/cmd/snow/internal/audit"
)

const aboutAudit = `Look for what makes ids go wrong in the tables of a live database: columns that make
up their own numbers (AUTO_INCREMENT, serial, identity, nextval), counters and sequences
near their end, keys and references that are too narrow for ids, keys above all ids that
can be made now, tables that two namespaces write, and ids of worker numbers that nobody
had leased.

It only reads: the catalogue, the largest value of each key and counter, and the latest
1,000 keys of a table. The ids are compared with the namespaces of the database, and with
--layout. Only numbers in the first column of a primary key count as ids. A column without
a foreign key refers to another table by its name: user_id, userId and owner_user_id to
user, users or app_users, person_id to people.

A counter says how many of its numbers are used. PostgreSQL's statistics tell how many rows
were inserted, and MySQL when a table was made or rebuilt. So numbers a day and the date of
the end are estimates, and the text says what they are based on. There are none for less
than a day, and none for SQLite.

A remedy has statements that can be executed as they are, in their order, on one connection.
Tables can't be written while they run. If a view or another database prevents that, there
are no statements, and the remedy says why.

A namespace keeps the last lease of a worker number only. So of older ids it can't be told
whether two namespaces made them.

  error    a counter has used 80 % of its numbers, or the table has ids, and they clash,
           sort wrongly or do not fit; the worst come first
  warning  that will be so once the table gets ids, or the table can't be read

Exit status 3 if there are findings. --ignore leaves out what is meant to be so.`

func (a *app) audit() *cobra.Command {
	flags := &databaseFlags{app: a}
	var namespaces, ignore []string
	var layouts layoutsFlag
	c := &cobra.Command{
		Use: "audit", Short: "Look for what makes ids go wrong in live tables", Long: aboutAudit, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, pattern := range ignore {
				if _, err := path.Match(pattern, ""); err != nil {
					return &usageError{c.CommandPath(), fmt.Errorf("--ignore: the pattern %q is malformed", pattern)}
				}
			}
			db, err := flags.open(c.Context())
			if err != nil {
				return err
			}
			defer db.Close()
			cfg := audit.Config{Namespaces: namespaces, Ignore: ignore}
			for _, l := range layouts.all {
				cfg.Layouts = append(cfg.Layouts, l.layout)
			}
			r, err := audit.Run(c.Context(), db.DB, db.Dialect, cfg)
			if err != nil {
				return explain(err)
			}
			if err := a.print((*shownAudit)(r)); err != nil {
				return err
			}
			if n := len(r.Findings); n > 0 {
				return &refusal{fmt.Errorf("audit: %s in %s", count(n, "finding"), count(r.Tables, "table"))}
			}
			return nil
		},
	}
	c.Flags().StringArrayVar(&namespaces, "namespace", nil, "`NAME` of a namespace whose ids the tables have; may be given several times; without it, all of the database")
	c.Flags().Var(&layouts, "layout", "a preset or a layout that the ids may have, too; may be given several times")
	c.Flags().StringArrayVar(&ignore, "ignore", nil, "`PATTERN` of a table or of table.column to leave out, with * and ?; may be given several times")
	flags.add(c)
	return c
}

// shownAudit is the result of audit.
type shownAudit audit.Report

func (r *shownAudit) writeText(w io.Writer) {
	for _, f := range r.Findings {
		place := f.Table
		if f.Column != "" {
			place += "." + f.Column
		}
		fmt.Fprintf(w, "%s\t%s: %s\n\tremedy: %s\n", f.Severity, printable(place), printable(f.Problem), printable(f.Remedy))
		for _, s := range f.Statements {
			fmt.Fprintf(w, "\t%s;\n", printableLines(s))
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "note\t%s\n", note)
	}
	if len(r.Findings) == 0 {
		fmt.Fprintf(w, "nothing was found in %s\n", count(r.Tables, "table"))
	}
}

// printableLines is printable for a text of several lines, such as a statement, in which a comment ends with one.
func printableLines(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = printable(strings.ReplaceAll(line, "\t", " "))
		}
	}
	return strings.Join(lines, "\n")
}

// count writes a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
