package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

type options struct {
	rows            int
	killAfter       int64
	report          string
	mysql, postgres string
}

func parseOptions(args []string, stdout, stderr io.Writer) (opt options, err error) {
	fs := flag.NewFlagSet("merge-servers", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.IntVar(&opt.rows, "rows", 100_000, "")
	fs.Int64Var(&opt.killAfter, "kill-after", 0, "")
	fs.StringVar(&opt.report, "report", "", "")
	fs.StringVar(&opt.mysql, "mysql", "", "")
	fs.StringVar(&opt.postgres, "postgres", "", "")
	err = fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, _ = fmt.Fprint(stdout, usage)
		return opt, err
	case err != nil:
	case fs.NArg() > 0:
		err = errors.New("there are arguments after the flags") // not quoted: they could be a DSN
	case opt.rows < 200:
		err = fmt.Errorf("-rows %d: want at least 200", opt.rows)
	case opt.killAfter < 0:
		err = fmt.Errorf("-kill-after %d: want a positive number", opt.killAfter)
	case opt.mysql != "" && opt.postgres != "":
		err = errors.New("want -mysql or -postgres, not both")
	}
	if err != nil {
		text := err.Error()
		if _, after, ok := strings.Cut(text, " for flag "); ok {
			text = after
		}
		_, _ = fmt.Fprintf(stderr, "merge-servers: %s\n\n%s", text, usage)
		return opt, errUsage
	}
	return opt, nil
}

const (
	world = "world" // the database that the servers are merged into
	game1 = "game"  // the namespace of its ids
)

// A demo shows how servers are merged, with the commands of snow merge.
type demo struct {
	*demoDatabases
	opt            options
	stdout, stderr io.Writer
	failed         bool
}

func demonstrate(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	opt, err := parseOptions(args, stdout, stderr)
	if err != nil {
		return err
	}
	d := &demo{opt: opt, stdout: stdout, stderr: stderr}
	d.demoDatabases, err = openDemoDatabases(ctx, opt, []string{"s1", "s2", "s3", world})
	defer func() { err = errors.Join(err, d.close(ctx)) }()
	if err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{d.makeServers, d.first, d.second} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	if d.failed {
		return errors.New("some of the claims are not true")
	}
	return nil
}

// makeServers makes three game servers and the id space of the world.
func (d *demo) makeServers(ctx context.Context) error {
	d.title("Three game servers of %s rows each", count(int64(d.opt.rows)))
	d.say("s1 and s3 count their own rows with AUTO_INCREMENT. s2 has keys from snow, for which it leased a worker number.\n" +
		"Players and guilds have names that are taken elsewhere, and refer to each other in a circle. Mails have ids in JSON,\n" +
		"parties in a list, and the journal in a column that means another table in each row.\n")
	if err := d.command(ctx, "namespace", "--dialect", d.name, "--target", d.ref[world], "--namespace", game1, "--layout", snow.GameServers().String(), "--workers", "1024"); err != nil {
		return err
	}
	worker, err := d.lease(ctx)
	if err != nil {
		return err
	}
	for i, s := range []server{
		{name: "s1", counts: true, opened: time.Date(2024, 2, 1, 8, 0, 0, 0, time.UTC)},
		{name: "s2", worker: worker, opened: time.Date(2025, 1, 15, 8, 0, 0, 0, time.UTC)},
		{name: "s3", counts: true, opened: time.Date(2025, 6, 1, 8, 0, 0, 0, time.UTC)},
	} {
		s.rows, s.seed = d.opt.rows, uint64(i+1)
		db, err := open(ctx, d.dialect, d.dsn[s.name])
		if err != nil {
			return err
		}
		if err := errors.Join(fillServer(ctx, db, d.dialect, s), db.Close()); err != nil {
			return fmt.Errorf("make server %s: %w", s.name, err)
		}
	}
	return nil
}

// lease returns the worker number of s2, from the namespace that the world's
// own servers will use as well.
func (d *demo) lease(ctx context.Context) (worker uint64, err error) {
	db, err := open(ctx, d.dialect, d.dsn[world])
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	lease, err := sqlsnow.Acquire(ctx, db, d.dialect, sqlsnow.LeaseConfig{Namespace: game1, Holder: "server s2", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return 0, err
	}
	return lease.Stats().Worker, lease.Close(ctx)
}

// first merges s1 and s2 into the world.
func (d *demo) first(ctx context.Context) error {
	d.title("s1 and s2 become the world")
	found, err := d.merge(ctx, []string{"s1", "s2"}, []string{"s1"}, true)
	if err != nil {
		return err
	}
	rows, kept := int64(0), int64(0)
	for _, t := range found.Tables {
		if t.Source == "s2" && t.Table != "item_kinds" {
			rows, kept = rows+t.Rows, kept+t.Rows-t.Rekeyed
		}
	}
	d.claim(rows > 0 && kept == rows, "s2 had keys from snow: none of its %s rows got another one.", count(rows))
	player := strconv.FormatInt(counted(min(1000, d.opt.rows/5)-1), 10)
	d.say("Support asks what has become of player %s of s1:", player)
	return d.command(ctx, "lookup", "--dialect", d.name, "--target", d.ref[world], "s1", "players", player)
}

// second merges a third server into the same world.
func (d *demo) second(ctx context.Context) error {
	d.title("A year later, s3 joins the world")
	_, err := d.merge(ctx, []string{"s3"}, []string{"s3"}, false)
	return err
}

// merge goes through the commands of a merge.
func (d *demo) merge(ctx context.Context, sources, counts []string, first bool) (*report.Report, error) {
	file := filepath.Join(d.dir, "plan-"+sources[0]+".yaml")
	flags := []string{"--dialect", d.name}
	for _, s := range sources {
		flags = append(flags, "--source", s+"="+d.ref[s])
	}
	flags = append(flags, "--plan", file)
	if err := d.command(ctx, "inspect", flags...); err != nil {
		return nil, err
	}
	d.say("People read the plan and answer its questions in it:")
	var dsns []namedDSN
	for _, s := range sources {
		dsns = append(dsns, namedDSN{s, d.dsn[s]})
	}
	err := editPlan(ctx, d.dialect, file, dsns, func(p *plan.Plan) {
		for _, answer := range decide(p, counts) {
			d.say("  %s", answer)
		}
	})
	if err != nil {
		return nil, err
	}
	d.say("")
	if first {
		if err := d.command(ctx, "schema", append(slices.Clone(flags), "--target", d.ref[world])...); err != nil {
			return nil, err
		}
	}
	flags = append(flags, "--target", d.ref[world], "--namespace", game1)
	if err := d.command(ctx, "dry-run", flags...); err != nil {
		return nil, err
	}
	flags = append(flags, "--assert", "gold=SELECT SUM(gold) FROM players", "--assert", "items=SELECT SUM(amount) FROM items", "--yes")
	if first && d.opt.killAfter > 0 {
		if err := d.killed(ctx, flags); err != nil {
			return nil, err
		}
	}
	if first && d.opt.report != "" {
		flags = append(flags, "--report", d.opt.report)
	}
	return d.run(ctx, append(flags, "--wait", "10s"))
}

// run runs the merge to its end, and shows its report.
func (d *demo) run(ctx context.Context, flags []string) (*report.Report, error) {
	d.show("run", flags)
	var out bytes.Buffer
	failed := d.snow(ctx, "run", append(slices.Clone(flags), "--json"), &out)
	if out.Len() == 0 {
		return nil, failed
	}
	found := new(report.Report)
	if err := json.Unmarshal(out.Bytes(), found); err != nil {
		return nil, err
	}
	return found, errors.Join(found.WriteText(d.stdout), failed)
}

// killed starts the merge in a process of its own, which dies halfway.
func (d *demo) killed(ctx context.Context, flags []string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	flags = append(slices.Clone(flags), "--kill-after", strconv.FormatInt(d.opt.killAfter, 10), "--lease", "1s")
	d.show("run", flags)
	child := exec.CommandContext(ctx, program, append([]string{"merge", "run"}, flags...)...)
	child.Stdout, child.Stderr = d.stdout, d.stderr
	if err := child.Run(); err == nil {
		d.say("It was faster than that: there were fewer rows to write.\n")
	} else {
		d.say("%v. What it had done is in the ledger of the world, and the next one goes on from there:\n", err)
	}
	return nil
}

// command shows a command and runs it.
func (d *demo) command(ctx context.Context, name string, flags ...string) error {
	d.show(name, flags)
	defer d.say("")
	return d.snow(ctx, name, flags, d.stdout)
}

func (d *demo) snow(ctx context.Context, name string, flags []string, stdout io.Writer) error {
	if status := runSnow(ctx, append([]string{"merge", name}, flags...), stdout, d.stderr); status != 0 {
		return fmt.Errorf("snow merge %s: exit status %d", name, status)
	}
	return nil
}

func (d *demo) show(name string, flags []string) {
	line := "$ snow merge " + name
	for _, f := range flags {
		f = strings.ReplaceAll(f, d.dir+string(filepath.Separator), "")
		if strings.Contains(f, " ") {
			f = "'" + f + "'"
		}
		line += " " + f
	}
	d.say("%s", line)
}

func (d *demo) title(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	d.say("\n%s\n%s\n", text, strings.Repeat("=", len(text)))
}

func (d *demo) say(format string, args ...any) { _, _ = fmt.Fprintf(d.stdout, format+"\n", args...) }

func (d *demo) claim(holds bool, format string, args ...any) {
	mark := "✓ "
	if !holds {
		mark, d.failed = "✗ ", true
	}
	d.say(mark+format+"\n", args...)
}

// count writes a number with commas between thousands.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
