package mergecommand

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/report"
	"go.yaml.in/yaml/v4"
)

// A groupsFile lists groups of servers. Each group is merged into its own target, all by one plan.
type groupsFile struct {
	Groups []struct {
		Name            string   `yaml:"name"`
		Sources         []string `yaml:"sources"` // as --source takes them, in the order of the plan's
		Target          string   `yaml:"target"`
		Databases       []string `yaml:"databases"`        // as --databases takes them
		TargetDatabases string   `yaml:"target_databases"` // as --target-databases takes them
	} `yaml:"groups"`
}

// groupSteps are what --do takes.
var groupSteps = []string{"schema", "namespace", "dry-run", "run", "verify"}

// readGroups reads the groups of the file.
func (c *Command) readGroups(ctx context.Context) ([]*group, error) {
	data, err := readFile(ctx, c.groups)
	if err != nil {
		return nil, err
	}
	var file groupsFile
	if err := yaml.Load(data, &file, yaml.WithKnownFields()); err != nil {
		return nil, fmt.Errorf("%s: %w", c.groups, err)
	}
	if len(file.Groups) == 0 {
		return nil, fmt.Errorf("%s: want groups, a list", c.groups)
	}
	var all []*group
	targets := map[string]string{}
	for i, g := range file.Groups {
		// no DSN
		fault := func(text string) error { return fmt.Errorf("%s: group %d, %q: %s", c.groups, i+1, g.Name, text) }
		switch {
		case g.Name == "" || slices.ContainsFunc(all, func(other *group) bool { return other.name == g.Name }):
			return nil, fault("want a name of its own")
		case g.Target == "" || len(g.Sources) == 0:
			return nil, fault("want sources and a target")
		case targets[g.Target] != "":
			return nil, fault("it has the target of group " + targets[g.Target])
		}
		one := *c
		one.target, one.sources, one.databases, one.open, one.found = g.Target, nil, nil, nil, nil
		one.stderr = io.Discard // print only once what the plan was made for
		for _, s := range g.Sources {
			source, err := parseSource(s)
			if err != nil {
				return nil, fault("sources: " + err.Error())
			}
			one.sources = append(one.sources, source)
		}
		for _, s := range g.Databases {
			if err := one.addDatabases(s); err != nil {
				return nil, fault("databases: " + err.Error())
			}
		}
		if g.TargetDatabases != "" {
			if one.into, err = parseDatabases(g.TargetDatabases); err != nil {
				return nil, fault("target_databases: " + err.Error())
			}
		}
		targets[g.Target] = g.Name
		all = append(all, &group{Command: &one, name: g.Name, handled: map[string]int64{}})
	}
	return all, nil
}

// parseSource reads NAME=DSN.
func parseSource(s string) (namedDSN, error) {
	name, dsn, ok := strings.Cut(s, "=")
	if !ok || name == "" || dsn == "" {
		return namedDSN{}, usage("want NAME=DSN")
	}
	return namedDSN{name, dsn}, nil
}

// runGroups does a step with all groups of a file, some at a time, and sums up.
func (c *Command) runGroups(ctx context.Context) error {
	groups, err := c.readGroups(ctx)
	if err != nil {
		return err
	}
	if c.step == "run" && c.confirm != nil {
		var names []string
		for _, g := range groups {
			names = append(names, g.name)
		}
		if err := c.confirm(fmt.Sprintf("rows of the sources of %s will be written to their targets. Merge?", strings.Join(names, ", "))); err != nil {
			return err
		}
	}
	c.say("the first source of each group takes the place of the plan's first one, and so on, where their names differ")
	var mu sync.Mutex // of what is printed
	for _, g := range groups {
		g.warn = func(text string) {
			mu.Lock()
			defer mu.Unlock()
			c.warn(text)
		}
	}
	shown := &groupsLine{now: time.Now, say: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = fmt.Fprintln(c.stderr, text)
	}}
	n := &groupsRun{atOnce: c.atOnce, now: time.Now, tell: shown.show, groups: groups}
	n.run(ctx, func(ctx context.Context, g *group, m *merge.Merge) error {
		text, err := g.doStep(ctx, c.step, m)
		mu.Lock()
		defer mu.Unlock()
		_, _ = fmt.Fprintf(c.stdout, "== %s\n%s", g.name, text)
		return err
	})
	return c.sumUp(groups)
}

// openMerge opens the databases of a group. closeAll closes them, also if openMerge fails.
func (c *Command) openMerge(ctx context.Context, events func(report.Event)) (*merge.Merge, error) {
	if c.step == "schema" || c.step == "namespace" { // these may make a file of SQLite
		if _, err := c.database(ctx, "target", c.target, database.Create); err != nil {
			return nil, err
		}
	}
	return c.merge(ctx, merge.Config{
		Lease: c.lease, Writers: c.writers, ChunkTime: c.chunkTime, ChunkRows: c.chunkRows, PackRows: c.packRows, PauseFile: c.pauseFile,
		Throttle: c.throttle, Events: events,
	})
}

// closeAll closes the databases of a group.
func (c *Command) closeAll() (err error) {
	for _, db := range c.open {
		err = errors.Join(err, db.Close())
	}
	c.open = nil
	return err
}

// doStep runs a step for one group, and returns its output.
func (c *Command) doStep(ctx context.Context, step string, m *merge.Merge) (string, error) {
	var out bytes.Buffer
	one := *c
	one.stdout = &out
	defer func() { c.open = one.open }()
	var found text
	err := error(nil)
	switch step {
	case "schema":
		return out.String(), one.schema(ctx)
	case "namespace":
		return out.String(), one.makeNamespace(ctx)
	case "dry-run":
		forecast, failed := m.DryRun(ctx)
		if err = failed; failed == nil {
			found, err = forecast, forecast.Err()
		}
	case "verify":
		verified, failed := m.Verify(ctx)
		if err = failed; failed == nil {
			found, err = verified, verified.Err()
		}
	default:
		verified, failed := one.runOrWait(ctx, m)
		if err = failed; verified != nil {
			found = verified
		}
	}
	if found != nil {
		if failed := one.print(found); failed != nil {
			return out.String(), errors.Join(err, failed)
		}
	}
	return out.String(), err
}

// sumUp prints a line for each group, and returns an error if one has failed, or else if something was left open.
func (c *Command) sumUp(groups []*group) error {
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "\nGROUP\tROWS\tTIME\tRESULT")
	var failed []string
	var open *report.OpenError
	for _, g := range groups {
		var left *report.OpenError
		result := map[string]string{"run": "as it should be", "verify": "as it should be", "dry-run": "nothing would stop a run"}[c.step]
		switch {
		case g.err == nil:
			result = cmp.Or(result, "done")
		case errors.As(g.err, &left) && g.err.Error() == left.Error():
			open, result = left, "something was left open"
		case g.took == 0:
			failed, result = append(failed, g.name), "not begun: "+firstLine(g.err)
		default:
			failed, result = append(failed, g.name), "FAILED: "+firstLine(g.err)
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", g.name, count(g.rows), g.took.Round(100*time.Millisecond), result)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	switch {
	case len(failed) > 0:
		return fmt.Errorf("%d of %d groups failed: %s", len(failed), len(groups), strings.Join(failed, ", "))
	case open != nil:
		return open
	}
	return nil
}

func firstLine(err error) string {
	line, _, more := strings.Cut(err.Error(), "\n")
	if more {
		line += " …"
	}
	return line
}

// A groupsLine tells the progress when a group begins or ends, and else once a minute.
type groupsLine struct {
	now  func() time.Time
	say  func(string)
	last groupsProgress
	told time.Time
}

func (s *groupsLine) show(p groupsProgress) {
	now := s.now()
	if p.running == s.last.running && p.done == s.last.done && p.failed == s.last.failed && now.Sub(s.told) < everyLine {
		return
	}
	s.last, s.told = p, now
	s.say(p.describe(now))
}
