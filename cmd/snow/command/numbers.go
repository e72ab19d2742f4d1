package command

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/cmd/snow/internal/store"
	"github.com/shardsnow/snow/sqlsnow/numbers"
)

func (a *app) numbers() *cobra.Command {
	c := a.group("numbers", "Look after the numbers that people see", "")
	c.AddCommand(a.numbersList(), a.numbersRaise(), a.numbersPreview())
	return c
}

const aboutNumbersList = `List the series of one database, with a line for each counter: the period and the
values of the partitions, and the last number. A regressed counter went back, and
gives no numbers until "snow numbers raise".`

func (a *app) numbersList() *cobra.Command {
	flags := &databaseFlags{app: a}
	c := &cobra.Command{
		Use: "list", Short: "List the series and their counters", Long: aboutNumbersList, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			db, err := flags.open(c.Context())
			if err != nil {
				return err
			}
			defer db.Close()
			all, err := numbers.List(c.Context(), db.DB, db.Dialect)
			if err != nil {
				return explain(err)
			}
			shown := shownSeries{}
			for _, s := range all {
				shown = append(shown, shownSeriesOf(s))
			}
			return a.print(shown)
		},
	}
	flags.add(c)
	return c
}

// shownSeries is the result of numbers list.
type shownSeries []oneSeries

type oneSeries struct {
	Series   string      `json:"series"`
	Kind     string      `json:"kind"`
	Pattern  string      `json:"pattern"`
	Restart  string      `json:"restart"`
	Zone     string      `json:"zone"`
	Counters []oneNumber `json:"counters"`
}

type oneNumber struct {
	Scope string `json:"scope"`
	State string `json:"state"`
	Last  int64  `json:"last"`
}

func shownSeriesOf(s numbers.Series) oneSeries {
	shown := oneSeries{s.Name, "fast", s.Pattern, s.Restart.String(), s.Zone, []oneNumber{}}
	if s.GapFree {
		shown.Kind = "gap-free"
	}
	for _, c := range s.Counters {
		state := "open"
		if c.Regressed {
			state = "regressed"
		}
		shown.Counters = append(shown.Counters, oneNumber{c.Scope, state, c.Last})
	}
	return shown
}

func (all shownSeries) writeText(w io.Writer) {
	if len(all) == 0 {
		fmt.Fprintln(w, "There is no series. The first process that opens one makes it.")
		return
	}
	fmt.Fprintln(w, "series\tkind\tpattern\trestart\tzone\tcounter\tstate\tlast")
	for _, s := range all {
		line := fmt.Sprintf("%s\t%s\t%s\t%s\t%s", printable(s.Series), s.Kind, printable(s.Pattern), s.Restart, printable(s.Zone))
		if len(s.Counters) == 0 {
			fmt.Fprintf(w, "%s\tnone yet\t-\t-\n", line)
		}
		for _, c := range s.Counters {
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\n", line, printable(c.Scope), c.State, c.Last)
		}
	}
}

const aboutNumbersRaise = `Move a counter up to --last, which then counts as taken. Run it before the first number
of a series that goes on from another system, and for a fast series in a database that
was restored or lost history, with the highest number that was given out.

The numbers between are left out, which is a gap in a gap-free series. A counter never
goes back. The series must have been opened by a process, or there is no pattern.`

func (a *app) numbersRaise() *cobra.Command {
	flags := &databaseFlags{app: a, access: database.Existing}
	confirm := &confirmation{app: a}
	var name, scope string
	last := int64(-1)
	c := &cobra.Command{
		Use: "raise", Short: "Move a counter up", Long: aboutNumbersRaise, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case name == "":
				return &usageError{c.CommandPath(), errors.New("--series is missing")}
			case scope == "":
				return &usageError{c.CommandPath(), errors.New("--scope is missing")}
			case last < 0:
				return &usageError{c.CommandPath(), errors.New("--last is missing, or below 0")}
			}
			db, err := flags.open(c.Context())
			if err != nil {
				return err
			}
			defer db.Close()
			now, err := numberOf(c, db, name, scope)
			if err != nil {
				return err
			}
			change := fmt.Sprintf("series %s, counter %s: the last number is %d and will be %d", printable(name), printable(scope), now.Last, max(now.Last, last))
			if confirm.dryRun {
				return a.print(done{Dialect: db.Dialect.String(), Done: "nothing was changed; " + change, DryRun: true})
			}
			if err := confirm.ask(c.Context(), fmt.Sprintf("%s, %s. Raise it?", db.Dialect, change)); err != nil {
				return err
			}
			if err := numbers.Raise(c.Context(), db.DB, db.Dialect, name, scope, last); err != nil {
				return explain(err)
			}
			now, err = numberOf(c, db, name, scope)
			if err != nil {
				return fmt.Errorf("the counter is raised, but: %w", err)
			}
			return a.print(done{
				Dialect: db.Dialect.String(),
				Done:    fmt.Sprintf("series %s, counter %s: the last number is %d (%s)", printable(name), printable(scope), now.Last, now.State),
			})
		},
	}
	c.Flags().StringVar(&name, "series", "", "`NAME` of the series")
	c.Flags().StringVar(&scope, "scope", "", "`COUNTER` as \"snow numbers list\" shows it, such as 2026, 2026-11/acme, or - if there is one only")
	c.Flags().Int64Var(&last, "last", -1, "`NUMBER` that counts as the last one")
	confirm.add(c)
	flags.add(c)
	return c
}

// numberOf returns a counter, which is at 0 if there is none yet.
func numberOf(c *cobra.Command, db *store.Database, name, scope string) (oneNumber, error) {
	all, err := numbers.List(c.Context(), db.DB, db.Dialect)
	if err != nil {
		return oneNumber{}, explain(err)
	}
	for _, s := range all {
		if s.Name != name {
			continue
		}
		for _, n := range shownSeriesOf(s).Counters {
			if n.Scope == scope {
				return n, nil
			}
		}
		return oneNumber{scope, "open", 0}, nil
	}
	return oneNumber{}, &remediedError{fmt.Errorf("numbers raise: the database has no series %q", name), `"snow numbers list" lists all.`}
}

const aboutNumbersPreview = `Show what numbers of a pattern look like, without a database. A pattern has literal text
and, in braces: 0000 for the number, yyyy yy MM dd for the date, luhn or mod11-10 for a
check digit, and names of partitions.

  snow numbers preview --pattern 'INV-{yyyy}-{000000}' --restart yearly
  snow numbers preview --pattern '{tenant}/{yyMMdd}/{0000}' --partition tenant=acme`

func (a *app) numbersPreview() *cobra.Command {
	var cfg numbers.Config
	var restart, at string
	var partitions []string
	n := int64(1)
	c := &cobra.Command{
		Use: "preview", Short: "Show what numbers of a pattern look like", Long: aboutNumbersPreview, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			bad := func(err error) error { return &usageError{c.CommandPath(), err} }
			var err error
			if cfg.Restart, err = numbers.ParseRestart(restart); err != nil {
				return bad(err)
			}
			p, err := numbers.ParsePattern(cfg.Pattern)
			if err != nil {
				return bad(err)
			}
			values, err := partitionValues(p.Partitions(), partitions)
			if err != nil {
				return bad(err)
			}
			when := a.now()
			if at != "" {
				if when, err = time.Parse(time.RFC3339, at); err != nil {
					return bad(errors.New("--at: want a time such as 2026-12-31T23:59:59+01:00"))
				}
			}
			text, scope, err := cfg.Preview(when, n, values...)
			if err != nil {
				return bad(err)
			}
			return a.print(preview{text, scope, p.Highest(), p.MaxLen()})
		},
	}
	c.Flags().StringVar(&cfg.Pattern, "pattern", "", "`PATTERN` of the numbers")
	c.Flags().StringVar(&restart, "restart", numbers.Never.String(), "`WHEN` numbers begin at 1 again: never, yearly, monthly, daily")
	c.Flags().StringVar(&cfg.Zone, "zone", "", "time `ZONE` of the dates, such as Europe/Berlin (default UTC)")
	c.Flags().StringVar(&at, "at", "", "`TIME` of the number (default now)")
	c.Flags().Int64Var(&n, "number", 1, "`NUMBER` to show")
	c.Flags().StringArrayVar(&partitions, "partition", nil, "`NAME=VALUE` of a partition, once for each (default its name)")
	return c
}

// partitionValues returns the values of partitions in the order of names.
func partitionValues(names, given []string) ([]string, error) {
	values := make([]string, len(names))
	copy(values, names)
next:
	for _, text := range given {
		name, value, _ := strings.Cut(text, "=")
		for i := range names {
			if names[i] == name {
				values[i] = value
				continue next
			}
		}
		return nil, fmt.Errorf("--partition: the pattern has no partition %q", name)
	}
	return values, nil
}

// preview is the result of numbers preview.
type preview struct {
	Text    string `json:"text"`
	Scope   string `json:"scope"`
	Highest int64  `json:"highest"`
	MaxLen  int    `json:"max_length"`
}

func (p preview) writeText(w io.Writer) {
	fmt.Fprintf(w, "%s\n\ncounter\t%s\nhighest number\t%d\nlongest text\t%d characters\n", p.Text, p.Scope, p.Highest, p.MaxLen)
}
