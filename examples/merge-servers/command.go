package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

const usage = `Usage: merge-servers [-rows N] [-kill-after N] [-mysql DSN | -postgres DSN]
       merge-servers COMMAND -dialect sqlite|mysql|postgres FLAGS

Without a command it shows how game servers are merged: it makes some, merges
them, and checks the result.

  -rows N        rows of each server. Default 100000.
  -kill-after N  kill the first merge after N rows, and let it resume.
  -mysql DSN     use this MySQL or MariaDB server instead of SQLite files in a
                 temporary folder. Databases named ` + demoPrefix + `… are made on
                 it and dropped at the end, such as user:password@tcp(host:3306)/
  -postgres DSN  the same on PostgreSQL: postgres://user:password@host/postgres

Commands, in the order of a merge. Sources are only read.

  inspect    -source NAME=DSN … -plan FILE [-template FILE] [-accept-certain C] [-full]
             [-ids snow|offset|dense] [-leave N]
                                             write a plan, to be reviewed and edited
  settle     -source … -plan FILE            write the plan again, answers as decisions
  schema     -source … -plan FILE [-target DSN]
                                             print the target's tables, or make them
  namespace  -target DSN -namespace NAME [-layout LAYOUT] [-workers N]
                                             make the id space of the new keys
  dry-run    -source … -target DSN -plan FILE [-namespace NAME]
                                             tell what would happen; writes nothing
  run        the same flags                  merge and verify; resumes what was interrupted
  verify     the same flags                  verify again
  groups     -groups FILE -plan FILE [-at-once N] [-do run|dry-run|verify|schema|namespace]
                                             the same for many groups of servers, by one plan
  lookup     -target DSN SOURCE TABLE ID     the new id of a row; SOURCE may be m12/eu, of the
                                             merge that made source m12
  export     -target DSN                     all new ids as CSV: source,table,old_id,new_id
  export     -target DSN -list left-out      the rows that were left out: source,table,row,reason
  export     -target DSN -list renamed       new names: source,table,row,new_id,column,before,after

Where each server has several databases that refer to each other, name them with
-databases SOURCE=auth:eu_auth,characters:eu_characters for each source, and with
-target-databases auth:game_auth,characters:game_characters for the target.

A DSN may be env:NAME, for one in the environment that the list of processes does
not show. For SQLite it is a file; for MySQL user:password@tcp(host:port)/database;
for PostgreSQL postgres://user:password@host:port/database. The exit status is 1
for a failed check or any other error, 2 for wrong flags, and 3 if nothing was
found wrong, but something was left open: not decided, or not checked. Flags of
one command: merge-servers COMMAND -help.
`

// A command is a step of a merge.
type command struct {
	*flag.FlagSet
	name           string
	stdout, stderr io.Writer

	dialect    sqlsnow.Dialect
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
	do         string
	killAfter  int64
	seen       int64 // rows, for killAfter

	open []*sql.DB
}

type namedDSN struct{ name, dsn string }

// commands by name, with the flags that each has and what it does.
var commands = map[string]struct {
	flags string
	do    func(*command, context.Context) error
}{
	"inspect":   {"dialect source databases plan template accept-certain full ids leave", (*command).inspect},
	"settle":    {"dialect source databases plan", (*command).settle},
	"schema":    {"dialect source databases plan target target-databases", (*command).schema},
	"namespace": {"dialect target namespace registry layout workers", (*command).makeNamespace},
	"dry-run":   {"dialect source databases target target-databases plan namespace registry assert throttle without-foreign-keys json", (*command).dryRun},
	"run":       {"dialect source databases target target-databases plan namespace registry assert writers chunk-time chunk-rows pack-rows lease wait pause-file without-foreign-keys witness-all json kill-after", (*command).run},
	"verify":    {"dialect source databases target target-databases plan namespace registry assert without-foreign-keys witness-all json", (*command).verify},
	"groups":    {"dialect groups at-once do plan namespace registry layout workers assert throttle writers chunk-time chunk-rows pack-rows lease wait pause-file without-foreign-keys witness-all json", (*command).runGroups},
	"lookup":    {"dialect target", (*command).lookup},
	"export":    {"dialect target list", (*command).export},
}

// errUsage is returned for flags that were complained about already.
var errUsage = errors.New("usage")

// exitOpen is the exit status where nothing was found wrong and something was left open.
const exitOpen = 3

// run returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var err error
	switch {
	case len(args) > 0 && (args[0] == "help" || args[0] == "-help" || args[0] == "--help" || args[0] == "-h"):
		_, _ = fmt.Fprint(stdout, usage)
	case len(args) > 0 && !strings.HasPrefix(args[0], "-"):
		err = runCommand(ctx, args[0], args[1:], stdout, stderr)
	default:
		err = demonstrate(ctx, args, stdout, stderr)
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	case ctx.Err() != nil:
		err = fmt.Errorf("interrupted: %w", err)
	}
	_, _ = fmt.Fprintln(stderr, "merge-servers:", err)
	if open := new(report.OpenError); errors.As(err, &open) && err.Error() == open.Error() { // and no other error with it
		return exitOpen
	}
	return 1
}

func runCommand(ctx context.Context, name string, args []string, stdout, stderr io.Writer) (err error) {
	what, ok := commands[name]
	if !ok { // not quoted further: it could be a DSN
		_, _ = fmt.Fprintf(stderr, "merge-servers: no such command; there are %s\n\n%s", strings.Join(slices.Sorted(maps.Keys(commands)), ", "), usage)
		return errUsage
	}
	c := newCommand(name, what.flags, stdout, stderr)
	if err := c.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			_, _ = fmt.Fprintf(stdout, "Flags of merge-servers %s:\n", name)
			c.SetOutput(stdout)
			c.PrintDefaults()
			return err
		}
		text := err.Error()
		if _, after, ok := strings.Cut(text, " for flag "); ok {
			text = after // without the value, which may be a DSN
		}
		_, _ = fmt.Fprintf(stderr, "merge-servers %s: %s\n", name, text)
		return errUsage
	}
	if err := c.check(what.flags); err != nil {
		_, _ = fmt.Fprintf(stderr, "merge-servers %s: %v\n", name, err)
		return errUsage
	}
	defer func() {
		for _, db := range c.open {
			err = errors.Join(err, db.Close())
		}
	}()
	return what.do(c, ctx)
}

func newCommand(name, flags string, stdout, stderr io.Writer) *command {
	c := &command{FlagSet: flag.NewFlagSet("merge-servers "+name, flag.ContinueOnError), name: name, stdout: stdout, stderr: stderr}
	c.SetOutput(io.Discard)
	c.Usage = func() {} // it is called for each wrong flag as well
	for _, f := range strings.Fields(flags) {
		switch f {
		case "dialect":
			c.Func(f, "`sqlite`, mysql (also MariaDB) or postgres", func(s string) error {
				var ok bool
				if c.dialect, ok = dialects[s]; !ok {
					return errors.New("want sqlite, mysql or postgres")
				}
				return nil
			})
		case "source":
			c.Func(f, "`NAME=DSN` of a database to merge; once for each", func(s string) error {
				source, err := parseSource(s)
				c.sources = append(c.sources, source)
				return err
			})
		case "databases":
			c.Func(f, "`SOURCE=NAME:DATABASE,…`: the source has these databases, NAME in the plan, DATABASE on its server, if they differ; without SOURCE= of all sources that are not named", c.addDatabases)
		case "target-databases":
			c.Func(f, "`NAME:DATABASE,…` of the target, if it has several; not needed where they are called as in the plan", func(s string) (err error) {
				c.into, err = parseDatabases(s)
				return err
			})
		case "target":
			c.StringVar(&c.target, f, "", "`DSN` of the database to merge into")
		case "plan":
			c.StringVar(&c.plan, f, "", "`FILE` of the plan: .yaml, or .json for a complete one")
		case "template":
			c.Func(f, "`FILE` of decisions for a schema like this one, which may be an earlier plan; DATABASE=FILE with -databases, if it is for one of them", func(s string) error {
				c.templates = append(c.templates, s)
				return nil
			})
		case "accept-certain":
			c.Func(f, "answer the questions whose best answer has at least this `CERTAINTY`, such as 0.95, and list them", func(s string) (err error) {
				if c.certain, err = strconv.ParseFloat(s, 64); err != nil || !(c.certain > 0 && c.certain <= 1) {
					return errors.New("want a number above 0, at most 1")
				}
				return nil
			})
		case "full":
			c.BoolVar(&c.full, f, false, "write the complete plan, with all that follows from the schemas")
		case "ids":
			c.Func(f, "new ids are `snow`flakes of 64 bits; or offset (the old id and a number) or dense (the next free numbers), so that columns keep their types", func(s string) error {
				if c.ids = plan.IDs(s); c.ids != plan.IDsSnow && !c.ids.AreNumbers() {
					return errors.New("want snow, offset or dense")
				}
				return nil
			})
		case "leave":
			c.Int64Var(&c.leave, f, 0, "with -ids offset and -ids dense: leave `N` numbers of each table free for merges to come")
		case "namespace":
			c.StringVar(&c.namespace, f, "", "`NAME` of the id space of the new keys; not needed where no row gets one")
		case "registry":
			c.StringVar(&c.registry, f, "", "`DSN` of the database that has the namespace, if it is not the target")
		case "layout":
			c.StringVar(&c.layout, f, "35+0+20+8+0/100ms@2024-01-01T00:00:00Z", "`BITS` of the keys: timestamp+datacenter+worker+sequence+shard/tick@epoch")
		case "workers":
			c.IntVar(&c.workers, f, 0, "`N` worker numbers; 0 for all that the layout has, at most 1024")
		case "assert":
			c.Func(f, "`NAME=SQL` of one number; those of the sources and of the target before must add up to that of the target after", func(s string) error {
				name, query, ok := strings.Cut(s, "=")
				if !ok || name == "" || query == "" {
					return errors.New("want NAME=SQL")
				}
				c.assertions = append(c.assertions, merge.Assertion{Name: name, SQL: query})
				return nil
			})
		case "writers":
			c.IntVar(&c.writers, f, 0, "`N` chunks are written at once; 0 for the default")
		case "chunk-time":
			c.DurationVar(&c.chunkTime, f, 0, "how long a chunk should take; 0 for the default")
		case "chunk-rows":
			c.IntVar(&c.chunkRows, f, 0, "at most `N` rows in a chunk; 0 for the default")
		case "pack-rows":
			c.IntVar(&c.packRows, f, 0, "tables that nothing refers to have lists of ids from `N` rows on, and not a row of snow_merge_map each; 0 for the default, -1 for never")
		case "lease":
			c.DurationVar(&c.lease, f, 0, "how long a run that died blocks the next one; 0 for the default")
		case "wait":
			c.DurationVar(&c.wait, f, 0, "wait so long for the end of another run, such as one that was killed; 0 for not at all")
		case "pause-file":
			c.StringVar(&c.pauseFile, f, "", "pause as long as this `FILE` exists; the signal USR1 pauses as well, and the next one lets it go on")
		case "without-foreign-keys":
			c.BoolVar(&c.noFKs, f, false, "switch the target's foreign-key checks off while copying, for cycles of references that can't be NULL; dry-run, run and verify take it alike")
		case "witness-all":
			c.BoolVar(&c.witnessAll, f, false, "compare the contents of the rows that all references lead to, and not only those of some 20,000 rows of each table")
		case "json":
			c.BoolVar(&c.json, f, false, "print JSON")
		case "list":
			c.StringVar(&c.list, f, "ids", "what to export: `ids`, left-out for the rows that were left out, or renamed for new names")
		case "groups":
			c.StringVar(&c.groups, f, "", "`FILE` of groups: a name, sources and a target of each")
		case "at-once":
			c.IntVar(&c.atOnce, f, 2, "`N` groups are under way at the same time")
		case "do":
			c.StringVar(&c.do, f, "run", "`STEP` to do with each group: schema, namespace, dry-run, run or verify")
		case "throttle":
			c.IntVar(&c.throttle, f, 0, "read at most `N` rows of the sources in a second, in short transactions, for servers that are in use; 0 for no limit")
		case "kill-after":
			c.Int64Var(&c.killAfter, f, 0, "kill this process after `N` rows, as a power cut would; to try the resumption")
		}
	}
	return c
}

// check says which flag is missing.
func (c *command) check(flags string) error {
	has := func(f string) bool { return slices.Contains(strings.Fields(flags), f) }
	switch {
	case c.dialect == 0:
		return errors.New("-dialect is missing")
	case has("source") && len(c.sources) == 0 && c.name != "schema":
		return errors.New("-source is missing")
	case has("plan") && c.plan == "":
		return errors.New("-plan is missing")
	case has("target") && c.target == "" && c.name != "schema":
		return errors.New("-target is missing")
	case c.leave < 0, c.leave > 0 && !c.ids.AreNumbers():
		return errors.New("-leave: want a number from 0 on, with -ids offset or -ids dense")
	case c.name == "namespace" && c.namespace == "":
		return errors.New("-namespace is missing")
	case has("groups") && (c.groups == "" || c.atOnce < 1 || !slices.Contains(groupSteps, c.do)):
		return errors.New("want -groups, -at-once from 1 on, and -do " + strings.Join(groupSteps, ", "))
	case c.do == "namespace" && c.namespace == "":
		return errors.New("-namespace is missing")
	case has("list") && !slices.Contains([]string{"ids", "left-out", "renamed"}, c.list):
		return errors.New("-list: want ids, left-out or renamed")
	case c.name == "lookup" && c.NArg() != 3:
		return errors.New("want SOURCE TABLE ID after the flags")
	case c.name != "lookup" && c.NArg() > 0:
		return errors.New("there are arguments after the flags") // not quoted: they could be a DSN
	}
	return nil
}

// database opens the database of a flag. It is closed when the command ends.
func (c *command) database(ctx context.Context, what, dsn string, a access) (*sql.DB, error) {
	if name, ok := strings.CutPrefix(dsn, "env:"); ok {
		if dsn = os.Getenv(name); dsn == "" {
			return nil, fmt.Errorf("%s: the environment has no %s", what, name)
		}
	}
	db, err := open(ctx, c.dialect, dsn, a)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	c.open = append(c.open, db)
	return db, nil
}

func (c *command) openSources(ctx context.Context) ([]merge.Source, error) {
	var all []merge.Source
	for _, s := range c.sources {
		db, err := c.database(ctx, "source "+s.name, s.dsn, readOnly)
		if err != nil {
			return nil, err
		}
		all = append(all, merge.Source{Name: s.name, DB: db})
	}
	return all, c.withDatabases(all)
}
