package convertcommand

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Command is one of the commands of a conversion. It is used once.
type Command struct {
	Step
	with IO

	dsn      string
	product  string
	timeout  time.Duration
	plan     string
	layout   string
	declared bool
	until    string
	ready    []string
	replicas []string
	lagQuery string
	maxLag   time.Duration
	maxBusy  int
	pause    string
	lease    time.Duration
	quiet    bool

	db      *sql.DB
	dialect sqlsnow.Dialect
	open    []*sql.DB
}

// A Step is what a command is called, and what it is for.
type Step struct {
	Name, Short, Long string
	Asks              bool // before it changes anything
	flags             string
	do                func(*Command, context.Context) error
}

// Steps returns the commands in the order of a conversion.
func Steps() []Step {
	return []Step{
		{"plan", "Write a plan, to be reviewed and edited", aboutPlan, false, "plan layout declared-only", (*Command).makePlan},
		{
			"run", "Carry out the plan up to the next gate, or continue", aboutRun, true,
			"plan until ready replica lag-query max-lag max-busy pause-file lease quiet", (*Command).run,
		},
		{"verify", "Compare the database with what it should be now", aboutVerify, false, "plan", (*Command).verify},
		{"status", "Show how far the conversion is", aboutStatus, false, "plan", (*Command).status},
		{
			"back", "Take the conversion back, the last step first", aboutBack, true,
			"plan until replica lag-query max-lag max-busy pause-file lease quiet", (*Command).back,
		},
	}
}

// A UsageError is about flags and arguments. It shows no DSN.
type UsageError struct{ err error }

func (e *UsageError) Error() string { return e.err.Error() }
func (e *UsageError) Unwrap() error { return e.err }

func usage(text string) error { return &UsageError{errors.New(text)} }

// A NoError is an answer that is no: nothing failed, and somebody must do something first.
type NoError struct {
	Err    error
	Remedy string
}

func (e *NoError) Error() string { return e.Err.Error() }
func (e *NoError) Unwrap() error { return e.Err }

// IO is what a command writes to, and whom it asks.
type IO struct {
	Out, Err io.Writer
	JSON     bool
	Confirm  func(question string) error
	Warn     func(text string)
}

// A result is what a command prints.
type result interface{ writeText(w io.Writer) }

// print writes a result to standard output, as text with tabs between columns, or as JSON.
func (c *Command) print(r result) error {
	if c.with.JSON {
		e := json.NewEncoder(c.with.Out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	w := tabwriter.NewWriter(c.with.Out, 0, 0, 2, ' ', 0)
	r.writeText(w)
	return w.Flush()
}

// New returns a command, and adds its flags to a set.
func New(step Step, flags *pflag.FlagSet) *Command {
	c := &Command{Step: step}
	c.addFlags(flags)
	return c
}

// Do does what the command is for. Wrong flags and arguments are a [*UsageError].
func (c *Command) Do(ctx context.Context, args []string, with IO) (err error) {
	c.with = with
	switch {
	case len(args) > 0:
		return usage("it takes flags only, and there are other arguments") // not quoted: they could be a DSN
	case c.timeout <= 0:
		return usage("--timeout: want more than 0s")
	case c.plan == "":
		return usage("--plan is missing")
	}
	defer func() {
		for _, db := range c.open {
			err = errors.Join(err, db.Close())
		}
	}()
	err = c.do(c, ctx)
	var field *snow.FieldError
	if errors.As(err, &field) && c.flagOf(field.Field) != "" {
		return &UsageError{errors.New("--" + c.flagOf(field.Field) + ": " + field.Bound)}
	}
	return err
}

// flagOf returns the flag of a field of convert.Config, if the command has it.
func (c *Command) flagOf(field string) string {
	flag := map[string]string{
		"Until": "until", "Gates": "ready", "MaxLag": "max-lag", "MaxBusy": "max-busy", "Lease": "lease", "Layout": "layout",
	}[field]
	if slices.Contains(strings.Fields(c.flags), flag) {
		return flag
	}
	return ""
}

// dsnUsage says what a DSN may be.
const dsnUsage = "env:NAME for an environment variable, or @FILE"

func (c *Command) addFlags(set *pflag.FlagSet) {
	set.StringVar(&c.dsn, "dsn", "", "`DSN` of the database's primary: "+dsnUsage+"; without it, env:"+dsnVariable)
	set.StringVar(&c.product, "dialect", "", "`SQL` of the database: mysql, mariadb or postgres; without it, what the DSN shows, or else "+database.DialectVariable)
	set.DurationVar(&c.timeout, "timeout", 10*time.Second, "how long a database may take to answer at first")
	for _, f := range strings.Fields(c.flags) {
		switch f {
		case "plan":
			set.StringVar(&c.plan, f, "", "`FILE` of the plan, as YAML")
		case "layout":
			set.StringVar(&c.layout, f, snow.DefaultLayout().String(), "`BITS` of the new ids: timestamp+datacenter+worker+sequence+shard/tick@epoch")
		case "declared-only":
			set.BoolVar(&c.declared, f, false, "read no rows: only references that foreign keys declare, and no questions")
		case "until":
			set.StringVar(&c.until, f, "", "end after this `STEP`, as status shows it, or after a phase: widen, count or finish")
		case "ready":
			set.StringSliceVar(&c.ready, f, nil, "the programs do what `GATE` asks for, such as count; once for each gate")
		case "replica":
			set.StringArrayVar(&c.replicas, f, nil, "`DSN` of a replica of MySQL or MariaDB that must not lag, once for each: "+dsnUsage)
		case "lag-query":
			set.StringVar(&c.lagQuery, f, "", "`SQL` that returns the seconds that a replica lags, such as of a heartbeat table; without it, what the server says")
		case "max-lag":
			set.DurationVar(&c.maxLag, f, 1500*time.Millisecond, "wait while a replica lags more; -1ns for no limit")
		case "max-busy":
			set.IntVar(&c.maxBusy, f, 25, "wait while more than `N` sessions of the server work; -1 for no limit")
		case "pause-file":
			set.StringVar(&c.pause, f, "", "wait as long as this `FILE` exists")
		case "lease":
			set.DurationVar(&c.lease, f, time.Minute, "a process that converts and is silent for so long may be displaced")
		case "quiet":
			set.BoolVar(&c.quiet, f, false, "do not show how far it is")
		}
	}
}

// dsnVariable is where a DSN comes from without a flag.
const dsnVariable = "SNOW_DSN"

// runAgain is the command that continues, with the same database. A DSN with a password is not shown.
func (c *Command) runAgain() string {
	text := "snow convert run"
	if strings.HasPrefix(c.dsn, "env:") || strings.HasPrefix(c.dsn, "@") {
		text += " --dsn " + c.dsn
	}
	return text + " --plan " + c.plan
}

// connect opens the database.
func (c *Command) connect(ctx context.Context, access database.Access) error {
	value := c.dsn
	if value == "" && os.Getenv(dsnVariable) != "" {
		value = "env:" + dsnVariable
	}
	db, dialect, err := c.openOne(ctx, "--dsn", value, access)
	if err != nil {
		return err
	}
	if dialect == sqlsnow.SQLite {
		return usage("--dsn: a database of SQLite is not converted in place: its INTEGER PRIMARY KEY has 64 bits already")
	}
	c.db, c.dialect = db, dialect
	return nil
}

func (c *Command) openOne(ctx context.Context, flag, value string, access database.Access) (*sql.DB, sqlsnow.Dialect, error) {
	at, err := database.Resolve(ctx, flag, value, c.product)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, 0, err
	case err != nil:
		return nil, 0, &UsageError{err}
	case at.Warning != "":
		c.with.Warn(at.Warning)
	}
	db, err := at.Open(ctx, access, c.timeout)
	if err != nil {
		return nil, 0, err
	}
	c.open = append(c.open, db)
	return db, at.Dialect, nil
}
