package mergecommand

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Command is a step of a merge: its flags, and what it does with them. It is used once.
type Command struct {
	Step
	stdin          io.Reader
	stdout, stderr io.Writer
	args           []string

	product    string          // what --dialect says; empty if the DSNs show it
	dialect    sqlsnow.Dialect // of the databases that are open
	timeout    time.Duration
	sources    []namedDSN
	target     string
	databases  map[string]map[string]string // of sources; "" for all others
	into       map[string]string            // of the target
	plan       string
	templates  []string
	certain    float64
	full       bool
	ids        plan.IDs
	leave      int64
	namespace  string
	registry   string
	layout     string
	workers    int
	writers    int
	chunkTime  time.Duration
	chunkRows  int
	packRows   int
	lease      time.Duration
	wait       time.Duration
	pauseFile  string
	throttle   int
	assertions []merge.Assertion
	noFKs      bool
	witnessAll bool
	json       bool
	list       string
	groups     string
	atOnce     int
	step       string // what is done with each group
	quiet      bool
	report     string
	forecast   string
	dialogue   bool // settle asks
	serve      bool // questions are a page
	port       uint16
	killAfter  int64
	seen       int64 // rows, for killAfter

	confirm   func(question string) error
	meanwhile func() // for tests: called when settle has read the plan
	warn      func(text string)
	found     map[string]*database.Location // by the values of flags
	open      []*sql.DB
	merged    *sql.DB // the target
}

type namedDSN struct{ name, dsn string }

// A Step is what a command of a merge is called, and what it is for.
type Step struct {
	Name  string
	Args  string // the arguments after the flags
	Short string
	Long  string
	flags string
	do    func(*Command, context.Context) error
}

// Steps returns the steps in the order of a merge.
func Steps() []Step {
	return []Step{
		{"inspect", "", "Write a plan, to be reviewed and edited", aboutInspect, "dialect source databases plan template accept-certain full ids leave timeout", (*Command).inspect},
		{"questions", "", "Show the plan's questions, or answer them in a browser", aboutQuestions, "dialect source databases plan serve port timeout", (*Command).questions},
		{"settle", "", "Write the plan again, with its answers as decisions", aboutSettle, "dialect source databases plan interactive timeout", (*Command).settle},
		{"schema", "", "Print the target's tables, or make them", aboutSchema, "dialect source databases plan target target-databases timeout", (*Command).schema},
		{"namespace", "", "Make the id space of the new keys", aboutNamespace, "dialect target namespace registry layout workers timeout", (*Command).makeNamespace},
		{"dry-run", "", "Report what would happen, and write nothing", aboutDryRun, "dialect source databases target target-databases plan namespace registry assert throttle without-foreign-keys quiet timeout", (*Command).dryRun},
		{"run", "", "Merge and verify, or continue an interrupted run", aboutRun, "dialect source databases target target-databases plan namespace registry assert writers chunk-time chunk-rows pack-rows lease wait pause-file without-foreign-keys witness-all forecast quiet report kill-after timeout", (*Command).run},
		{"verify", "", "Verify again", aboutVerify, "dialect source databases target target-databases plan namespace registry assert without-foreign-keys witness-all quiet report timeout", (*Command).verify},
		{"groups", "", "Run a step for many groups of servers, by one plan", aboutGroups, "dialect groups at-once do plan namespace registry layout workers assert throttle writers chunk-time chunk-rows pack-rows lease wait pause-file without-foreign-keys witness-all timeout", (*Command).runGroups},
		{"lookup", "SOURCE TABLE ID", "Show the new id of a row", aboutLookup, "dialect target timeout", (*Command).lookup},
		{"export", "", "Write all new ids as CSV, or what was left out or renamed", aboutExport, "dialect target list timeout", (*Command).export},
	}
}

// A UsageError is about flags and arguments. It shows no DSN.
type UsageError struct{ err error }

func (e *UsageError) Error() string { return e.err.Error() }
func (e *UsageError) Unwrap() error { return e.err }

func usage(text string) error { return &UsageError{errors.New(text)} }

// New returns the command of a step, and adds its flags to a set.
func New(step Step, flags *pflag.FlagSet) *Command {
	c := &Command{Step: step}
	c.addFlags(flags)
	return c
}

// IO is what a command writes to, and whom it asks.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	JSON     bool
	Confirm  func(question string) error // nil if the answer is yes
	Warn     func(text string)           // of what does not keep the command from its work
}

// Do does the step. Wrong flags and arguments are a [*UsageError].
func (c *Command) Do(ctx context.Context, args []string, with IO) (err error) {
	c.args, c.stdin, c.stdout, c.stderr, c.json, c.confirm, c.warn = args, with.In, with.Out, with.Err, with.JSON, with.Confirm, with.Warn
	if err := c.check(); err != nil {
		return err
	}
	if err := c.resolve(ctx); err != nil {
		return err
	}
	defer func() {
		for _, db := range c.open {
			err = errors.Join(err, db.Close())
		}
	}()
	return c.do(c, ctx)
}

func (c *Command) addFlags(set *pflag.FlagSet) {
	for _, f := range strings.Fields(c.flags) {
		switch f {
		case "dialect":
			set.StringVar(&c.product, f, "", "`SQL` of the databases: mysql, mariadb, postgres or sqlite; without it, what the DSNs show, or else "+database.DialectVariable)
		case "timeout":
			set.DurationVar(&c.timeout, f, 10*time.Second, "how long a database may take to answer at first")
		case "source":
			set.Func(f, "`NAME=DSN` of a database to merge, once for each; the DSN is "+dsnUsage, func(s string) error {
				source, err := parseSource(s)
				c.sources = append(c.sources, source)
				return err
			})
		case "databases":
			set.Func(f, "`SOURCE=NAME:DATABASE,…`: the source has these databases, NAME in the plan, DATABASE on its server, if they differ; without SOURCE= of all sources that are not named", c.addDatabases)
		case "target-databases":
			set.Func(f, "`NAME:DATABASE,…` of the target, if it has several; not needed where they are called as in the plan", func(s string) (err error) {
				c.into, err = parseDatabases(s)
				return err
			})
		case "target":
			set.StringVar(&c.target, f, "", "`DSN` of the database to merge into: "+dsnUsage)
		case "plan":
			set.StringVar(&c.plan, f, "", "`FILE` of the plan: .yaml, or .json for a complete one")
		case "template":
			set.Func(f, "`FILE` of decisions for a schema like this one, which may be an earlier plan; DATABASE=FILE with -databases, if it is for one of them", func(s string) error {
				c.templates = append(c.templates, s)
				return nil
			})
		case "accept-certain":
			set.Func(f, "answer the questions whose best answer has at least this `CERTAINTY`, such as 0.95, and list them", func(s string) (err error) {
				if c.certain, err = strconv.ParseFloat(s, 64); err != nil || !(c.certain > 0 && c.certain <= 1) {
					return usage("want a number above 0, at most 1")
				}
				return nil
			})
		case "full":
			set.BoolVar(&c.full, f, false, "write the complete plan, with all that follows from the schemas")
		case "ids":
			set.Func(f, "new ids are `snow`, ids of 64 bits; or offset (the old id and a number) or dense (the next free numbers), so that columns keep their types", func(s string) error {
				if c.ids = plan.IDs(s); c.ids != plan.IDsSnow && !c.ids.AreNumbers() {
					return usage("want snow, offset or dense")
				}
				return nil
			})
		case "leave":
			set.Int64Var(&c.leave, f, 0, "with --ids offset and --ids dense: leave `N` numbers of each table free for merges to come")
		case "namespace":
			set.StringVar(&c.namespace, f, "", "`NAME` of the id space of the new keys; not needed where no row gets one")
		case "registry":
			set.StringVar(&c.registry, f, "", "`DSN` of the database that has the namespace, if it is not the target: "+dsnUsage)
		case "layout":
			set.StringVar(&c.layout, f, snow.DefaultLayout().String(), "`BITS` of the keys: timestamp+datacenter+worker+sequence+shard/tick@epoch")
		case "workers":
			set.IntVar(&c.workers, f, 0, "`N` worker numbers; needed for layouts with more than 1024; 0 for all that the layout has")
		case "assert":
			set.Func(f, "`NAME=SQL` of one number: the sources' and the target's before must add up to the target's after", func(s string) error {
				name, query, ok := strings.Cut(s, "=")
				if !ok || name == "" || query == "" {
					return usage("want NAME=SQL")
				}
				c.assertions = append(c.assertions, merge.Assertion{Name: name, SQL: query})
				return nil
			})
		case "writers":
			set.IntVar(&c.writers, f, 0, "`N` chunks are written at once; 0 for the default")
		case "chunk-time":
			set.DurationVar(&c.chunkTime, f, 0, "how long a chunk should take; 0 for the default")
		case "chunk-rows":
			set.IntVar(&c.chunkRows, f, 0, "at most `N` rows in a chunk; 0 for the default")
		case "pack-rows":
			set.IntVar(&c.packRows, f, 0, "a table of `N` rows or more may have lists of ids in snow_merge_packs, and not a row of snow_merge_map each; 0 for the default, -1 for never")
		case "lease":
			set.DurationVar(&c.lease, f, 0, "how long a run that died blocks the next one; 0 for the default")
		case "wait":
			set.DurationVar(&c.wait, f, 0, "wait so long for the end of another run, such as one that was killed; 0 for not at all")
		case "pause-file":
			set.StringVar(&c.pauseFile, f, "", "pause as long as this `FILE` exists; the signal USR1 pauses as well, and the next one lets it go on")
		case "without-foreign-keys":
			set.BoolVar(&c.noFKs, f, false, "switch the target's foreign-key checks off while copying, for cycles of references that can't be NULL, or to take less time; dry-run, run and verify take it alike")
		case "witness-all":
			set.BoolVar(&c.witnessAll, f, false, "compare the contents of the rows that all references lead to, and not only for some 20,000 rows of each table")
		case "list":
			set.StringVar(&c.list, f, "ids", "what to write: `ids`, left-out for the rows that were left out, or renamed for new names")
		case "forecast":
			set.StringVar(&c.forecast, f, "", "the `ID` of the run that a dry run has printed, or its beginning: a plan that does something else is refused")
		case "interactive":
			set.BoolVar(&c.dialogue, f, false, "ask the questions first, one after the other; each answer is in the file before the next question")
		case "serve":
			set.BoolVar(&c.serve, f, false, "show the questions in a browser on this machine, and write the answers into the plan")
		case "port":
			set.Uint16Var(&c.port, f, 0, "`PORT` of the page on 127.0.0.1; 0 for a free one")
		case "quiet":
			set.BoolVar(&c.quiet, f, false, "do not show how far it is")
		case "report":
			set.StringVar(&c.report, f, "", "write the report as a page, too, to this `FILE`.html, in place of one that is there; and beside it FILE-left-out.csv and FILE-renamed.csv if there are such rows")
		case "groups":
			set.StringVar(&c.groups, f, "", "`FILE` of groups: a name, sources and a target of each")
		case "at-once":
			set.IntVar(&c.atOnce, f, 2, "`N` groups are under way at the same time")
		case "do":
			set.StringVar(&c.step, f, "run", "`STEP` to do with each group: schema, namespace, dry-run, run or verify")
		case "throttle":
			set.IntVar(&c.throttle, f, 0, "read at most `N` rows of the sources in a second, in short transactions, for servers that are in use; 0 for no limit")
		case "kill-after":
			set.Int64Var(&c.killAfter, f, 0, "kill this process after `N` rows, as a power cut would; to try the resumption")
		}
	}
}

// dsnUsage says what a DSN may be.
const dsnUsage = "env:NAME for an environment variable, @FILE, or a SQLite file"

// check says which flag is missing or wrong, before anything is done.
func (c *Command) check() error {
	has := func(f string) bool { return slices.Contains(strings.Fields(c.flags), f) }
	switch {
	case c.timeout <= 0:
		return usage("--timeout: want more than 0s")
	case has("source") && len(c.sources) == 0 && c.Name != "schema" && c.Name != "questions" && !c.dialogue:
		return usage("--source is missing")
	case has("plan") && c.plan == "":
		return usage("--plan is missing")
	case has("target") && c.target == "" && c.Name != "schema":
		return usage("--target is missing")
	case c.leave < 0, c.leave > 0 && !c.ids.AreNumbers():
		return usage("--leave: want a number from 0 on, with --ids offset or --ids dense")
	case has("list") && !slices.Contains([]string{"ids", "left-out", "renamed"}, c.list):
		return usage("--list: want ids, left-out or renamed")
	case has("groups") && (c.groups == "" || c.atOnce < 1 || !slices.Contains(groupSteps, c.step)):
		return usage("want --groups, --at-once from 1 on, and --do " + strings.Join(groupSteps, ", "))
	case has("groups") && c.json:
		return usage("--json: reports of groups are written as text only")
	case (c.Name == "namespace" || c.step == "namespace") && c.namespace == "":
		return usage("--namespace is missing")
	case c.Name == "lookup" && len(c.args) != 3:
		return usage("want SOURCE TABLE ID after the flags")
	case c.Name != "lookup" && len(c.args) > 0:
		return usage("it takes flags only, and there are other arguments") // not quoted: they could be a DSN
	case c.Name == "export" && c.json:
		return usage("--json: new ids are written as CSV only")
	case c.json && (c.dialogue || c.serve):
		return usage("--json: people are asked in words only")
	case c.port > 0 && !c.serve:
		return usage("--port is for --serve")
	}
	return nil
}

// resolve reads the DSNs of the flags before anything is done.
func (c *Command) resolve(ctx context.Context) error {
	for _, s := range c.sources {
		if err := c.locate(ctx, "source "+s.name, s.dsn); err != nil {
			return err
		}
	}
	if err := c.locate(ctx, "target", c.target); err != nil {
		return err
	}
	return c.locate(ctx, "registry", c.registry)
}

// locate reads a DSN, once: it can be in a pipe.
func (c *Command) locate(ctx context.Context, what, dsn string) error {
	if dsn == "" || c.found[dsn] != nil {
		return nil
	}
	at, err := database.Resolve(ctx, "--"+what, dsn, c.product)
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		return &UsageError{err}
	case at.Warning != "":
		c.warn(at.Warning)
	}
	if c.found == nil {
		c.found = map[string]*database.Location{}
	}
	c.found[dsn] = at
	return nil
}

// database opens the database of a flag. It is closed when the command ends.
func (c *Command) database(ctx context.Context, what, dsn string, a database.Access) (*sql.DB, error) {
	if dsn == "" {
		return nil, usage("--" + what + " is missing")
	}
	if err := c.locate(ctx, what, dsn); err != nil {
		return nil, err
	}
	at := c.found[dsn]
	db, err := at.Open(ctx, a, c.timeout)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	c.open = append(c.open, db)
	if d := at.Dialect; c.dialect != 0 && d != c.dialect {
		return nil, &UsageError{fmt.Errorf("%s: it is %v, and another database is %v: all are of one product", what, d, c.dialect)}
	}
	c.dialect = at.Dialect
	return db, nil
}

func (c *Command) openSources(ctx context.Context) ([]merge.Source, error) {
	var all []merge.Source
	for _, s := range c.sources {
		// Sessions of a merge in a source are read-only, in transactions that they begin themselves.
		db, err := c.database(ctx, "source "+s.name, s.dsn, database.Existing)
		if err != nil {
			return nil, err
		}
		all = append(all, merge.Source{Name: s.name, DB: db})
	}
	return all, c.withDatabases(all)
}
