package mergecommand

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// schema needs the sources only if the plan is in its short form.
func (c *Command) schema(ctx context.Context) error {
	sources, err := c.openSources(ctx)
	if err != nil {
		return err
	}
	p, err := c.readPlan(ctx, sources)
	if err != nil {
		return err
	}
	statements, err := p.Schema()
	if c.into != nil {
		statements, err = p.SchemaIn(c.into)
	}
	if err != nil {
		return err
	}
	if c.target == "" {
		for _, s := range statements {
			c.say("%s;", s)
		}
		return c.result(schemaResult{statements, false})
	}
	target, err := c.database(ctx, "target", c.target, database.Create)
	if err != nil {
		return err
	}
	for _, s := range statements {
		if _, err := target.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	c.say("%d statements executed", len(statements))
	return c.result(schemaResult{statements, true})
}

// schemaResult is what schema prints as JSON.
type schemaResult struct {
	Statements []string `json:"statements"`
	Executed   bool     `json:"executed"`
}

func (c *Command) makeNamespace(ctx context.Context) error {
	layout, err := snow.ParseLayout(c.layout)
	if err != nil {
		return &UsageError{fmt.Errorf("--layout: %w", err)}
	}
	db, err := c.registryDatabase(ctx)
	if err != nil {
		return err
	}
	if err := sqlsnow.Migrate(ctx, db, c.dialect); err != nil {
		return err
	}
	err = sqlsnow.Init(ctx, db, c.dialect, sqlsnow.Namespace{Name: c.namespace, Layout: layout, Workers: c.workers})
	var field *snow.FieldError
	switch {
	case errors.As(err, &field):
		return &UsageError{err}
	case err != nil:
		return err
	}
	c.say("namespace %s: ids of %s", c.namespace, layout)
	return c.result(struct {
		Namespace string `json:"namespace"`
		Layout    string `json:"layout"`
	}{c.namespace, layout.String()})
}

func (c *Command) registryDatabase(ctx context.Context) (*sql.DB, error) {
	if c.registry == "" {
		return c.database(ctx, "target", c.target, database.Create)
	}
	return c.database(ctx, "registry", c.registry, database.Create)
}

// merge opens all that a merge needs.
func (c *Command) merge(ctx context.Context, cfg merge.Config) (*merge.Merge, error) {
	if err := c.canKeep(); err != nil {
		return nil, err
	}
	sources, err := c.openSources(ctx)
	if err != nil {
		return nil, err
	}
	p, err := c.readPlan(ctx, sources)
	if err != nil {
		return nil, err
	}
	target, err := c.database(ctx, "target", c.target, database.Existing)
	if err != nil {
		return nil, err
	}
	c.merged = target
	if c.registry != "" {
		if cfg.Registry, err = c.database(ctx, "registry", c.registry, database.Existing); err != nil {
			return nil, err
		}
	}
	cfg.Namespace, cfg.Databases, cfg.Assertions, cfg.WithoutForeignKeys, cfg.WitnessAll = c.namespace, c.into, c.assertions, c.noFKs, c.witnessAll
	m, err := merge.New(c.dialect, target, sources, p, cfg)
	if err != nil { // people give a flag, not a field
		return nil, errors.New(strings.ReplaceAll(err.Error(), "Config.WithoutForeignKeys", "--without-foreign-keys"))
	}
	return m, nil
}

func (c *Command) dryRun(ctx context.Context) error {
	p := newProgress(c.stderr, c.quiet)
	defer p.close()
	m, err := c.merge(ctx, merge.Config{Throttle: c.throttle, Events: p.event})
	if err != nil {
		return err
	}
	forecast, err := m.DryRun(ctx)
	p.close()
	if err != nil {
		return err
	}
	if err := c.print(forecast); err != nil {
		return err
	}
	return forecast.Err()
}

func (c *Command) run(ctx context.Context) error {
	p := newProgress(c.stderr, c.quiet)
	defer p.close()
	m, err := c.merge(ctx, merge.Config{
		Lease: c.lease, Writers: c.writers, ChunkTime: c.chunkTime, ChunkRows: c.chunkRows, PackRows: c.packRows, PauseFile: c.pauseFile,
		Events: func(e report.Event) {
			p.event(e)
			c.kill(e)
		},
	})
	if err != nil {
		return err
	}
	if c.forecast != "" && !strings.HasPrefix(m.RunID(), c.forecast) {
		return fmt.Errorf("--forecast: the plan is that of run %s, and not the one of the dry run, %s: it was changed since, so try it with dry-run first", m.RunID(), c.forecast)
	}
	if err := c.ask(m.RunID()); err != nil {
		return err
	}
	defer pauseOnSignal(m.Pause)()
	found, err := c.runOrWait(ctx, m)
	p.close()
	if found == nil {
		return err
	}
	return errors.Join(c.print(found), c.keep(ctx, found), err)
}

// ask asks whether to write to the target.
func (c *Command) ask(run string) error {
	if c.confirm == nil {
		return nil
	}
	var names []string
	for _, s := range c.sources {
		names = append(names, s.name)
	}
	target, _, _ := strings.Cut(c.target, "?") // parameters of SQLite can contain a key
	return c.confirm(fmt.Sprintf("%v: rows of %s will be written to the target, %s, by run %s. Is that the run of the dry run? Merge?", c.dialect, strings.Join(names, ", "), target, run[:12]))
}

// kill ends this process after so many rows, without any cleaning up.
func (c *Command) kill(e report.Event) {
	if c.killAfter == 0 || e.Kind != report.EventChunk || e.Phase == "verify" {
		return
	}
	if c.seen += int64(e.Chunk); c.seen < c.killAfter {
		return
	}
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
}

// runOrWait runs the merge. If another run is under way, it tries again until --wait is over.
func (c *Command) runOrWait(ctx context.Context, m *merge.Merge) (*report.Report, error) {
	for end := time.Now().Add(c.wait); ; {
		found, err := m.Run(ctx)
		var held *report.RunningError
		if !errors.As(err, &held) || time.Now().After(end) {
			return found, err
		}
		timer := time.NewTimer(min(time.Until(end), 100*time.Millisecond))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

func (c *Command) verify(ctx context.Context) error {
	p := newProgress(c.stderr, c.quiet)
	defer p.close()
	m, err := c.merge(ctx, merge.Config{Events: p.event})
	if err != nil {
		return err
	}
	found, err := m.Verify(ctx)
	p.close()
	if err != nil {
		return err
	}
	return errors.Join(c.print(found), c.keep(ctx, found), found.Err())
}

func (c *Command) lookup(ctx context.Context) error {
	old, err := strconv.ParseInt(c.args[2], 10, 64)
	if err != nil {
		return usage("ID: want a number")
	}
	target, err := c.database(ctx, "target", c.target, database.ReadOnly)
	if err != nil {
		return err
	}
	id, err := merge.Lookup(ctx, c.dialect, target, c.args[0], c.args[1], old)
	if err != nil {
		return err
	}
	c.say("%d", id)
	return c.result(struct {
		ID snow.ID `json:"id"`
	}{id})
}

func (c *Command) export(ctx context.Context) error {
	target, err := c.database(ctx, "target", c.target, database.ReadOnly)
	if err != nil {
		return err
	}
	switch c.list {
	case "left-out":
		return merge.ExportLeftOut(ctx, c.dialect, target, c.stdout)
	case "renamed":
		return merge.ExportRenamed(ctx, c.dialect, target, c.stdout)
	default:
		return merge.Export(ctx, c.dialect, target, c.stdout)
	}
}

// A text is what can be printed for people.
type text interface{ WriteText(io.Writer) error }

func (c *Command) print(t text) error {
	if !c.json {
		return t.WriteText(c.stdout)
	}
	return c.encode(t)
}

// say writes a line for people. A reader who went away, as `| head` does, must not keep the
// program from its work.
func (c *Command) say(format string, args ...any) {
	if !c.json {
		_, _ = fmt.Fprintf(c.stdout, format+"\n", args...)
	}
}

// result writes JSON if that is wanted. The text for people was printed before.
func (c *Command) result(v any) error {
	if !c.json {
		return nil
	}
	return c.encode(v)
}

func (c *Command) encode(v any) error {
	e := json.NewEncoder(c.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
