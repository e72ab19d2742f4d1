package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/cmd/snow/internal/store"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

func (a *app) segments() *cobra.Command {
	c := a.group("segments", "Look after the counters of dense numbers", "")
	c.AddCommand(a.segmentsShow(), a.segmentsRaise())
	return c
}

const aboutSegmentsShow = `Show the counters of dense numbers in one database.

  open       processes take numbers from it
  new        not compared with the rows of the other databases yet
  regressed  it went back, and gives no numbers until "snow segments raise"`

func (a *app) segmentsShow() *cobra.Command {
	flags := &databaseFlags{app: a}
	c := &cobra.Command{
		Use: "show", Short: "Show the counters", Long: aboutSegmentsShow, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			db, err := flags.open(c.Context())
			if err != nil {
				return err
			}
			defer db.Close()
			rows, err := segments.Counters(c.Context(), db.DB, db.Dialect)
			if err != nil {
				return explain(err)
			}
			all := shownCounters{}
			for _, r := range rows {
				all = append(all, shownCounterOf(r))
			}
			return a.print(all)
		},
	}
	flags.add(c)
	return c
}

// shownCounters is the result of segments show.
type shownCounters []shownCounter

type shownCounter struct {
	Tag       string  `json:"tag"`
	State     string  `json:"state"`
	Next      snow.ID `json:"next"`
	Databases int64   `json:"databases"`
	Residue   int64   `json:"residue"`
}

func shownCounterOf(r segments.Counter) shownCounter {
	state := "open"
	switch {
	case r.New:
		state = "new"
	case r.Regressed:
		state = "regressed"
	}
	return shownCounter{r.Tag, state, r.Next, r.Databases, r.Residue}
}

func (all shownCounters) writeText(w io.Writer) {
	if len(all) == 0 {
		fmt.Fprintln(w, "There is no counter. The first process that opens the segments makes it.")
		return
	}
	fmt.Fprintln(w, "tag\tstate\tnext\tnumbers of this database")
	for _, c := range all {
		numbers := "all"
		if c.Databases > 1 {
			numbers = fmt.Sprintf("those that are %d modulo %d", c.Residue, c.Databases)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", printable(c.Tag), c.State, c.Next, numbers)
	}
}

const aboutSegmentsRaise = `Move a counter beyond every number up to --above, and let processes take numbers
from it again if it had gone back. Run it for a database that was restored or lost
history.

--above must be at least as high as all numbers that any process took. Processes
that run have numbers at hand that are not in the tables yet; if none runs, it is
the highest id in the tables. A counter never goes back.`

func (a *app) segmentsRaise() *cobra.Command {
	flags := &databaseFlags{app: a, access: database.Existing}
	confirm := &confirmation{app: a}
	var tag, above string
	c := &cobra.Command{
		Use: "raise", Short: "Make the counter of a restored database safe", Long: aboutSegmentsRaise, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			id, err := snow.ParseID(above)
			switch {
			case tag == "":
				return &usageError{c.CommandPath(), errors.New("--tag is missing")}
			case above == "":
				return &usageError{c.CommandPath(), errors.New("--above is missing")}
			case err != nil:
				return &usageError{c.CommandPath(), fmt.Errorf("--above: want an id in decimal")}
			}
			db, err := flags.open(c.Context())
			if err != nil {
				return err
			}
			defer db.Close()
			now, err := counterOf(c, db, tag)
			if err != nil {
				return err
			}
			change := fmt.Sprintf("tag %s: the next number is %d (%s) and will be above %d", tag, now.Next, now.State, max(id, now.Next-1))
			if confirm.dryRun {
				return a.print(done{Dialect: db.Dialect.String(), Done: "nothing was changed; " + change, DryRun: true})
			}
			if err := confirm.ask(c.Context(), fmt.Sprintf("%s, %s. Raise it?", db.Dialect, change)); err != nil {
				return err
			}
			if err := segments.Raise(c.Context(), db.DB, db.Dialect, tag, id); err != nil {
				return explain(err)
			}
			now, err = counterOf(c, db, tag)
			if err != nil {
				return fmt.Errorf("the counter is raised, but: %w", err)
			}
			return a.print(done{Dialect: db.Dialect.String(), Done: fmt.Sprintf("tag %s: the next number is %d (%s)", tag, now.Next, now.State)})
		},
	}
	c.Flags().StringVar(&tag, "tag", "", "`TAG` of the numbers")
	c.Flags().StringVar(&above, "above", "", "`ID` that is at least as high as all that were taken")
	confirm.add(c)
	flags.add(c)
	return c
}

// counterOf returns the counter of a tag.
func counterOf(c *cobra.Command, db *store.Database, tag string) (shownCounter, error) {
	all, err := segments.Counters(c.Context(), db.DB, db.Dialect)
	if err != nil {
		return shownCounter{}, explain(err)
	}
	for _, r := range all {
		if r.Tag == tag {
			return shownCounterOf(r), nil
		}
	}
	return shownCounter{}, &remediedError{
		fmt.Errorf("segments raise: the database has no tag %q", tag), `"snow segments show" lists all.`,
	}
}
