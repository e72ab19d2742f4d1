package main

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
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// schema needs the sources only if the plan is in its short form.
func (c *command) schema(ctx context.Context) error {
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
		return nil
	}
	target, err := c.database(ctx, "target", c.target, readWrite)
	if err != nil {
		return err
	}
	for _, s := range statements {
		if _, err := target.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	c.say("%d statements executed", len(statements))
	return nil
}

func (c *command) makeNamespace(ctx context.Context) error {
	layout, err := snow.ParseLayout(c.layout)
	if err != nil {
		return err
	}
	db, err := c.registryDatabase(ctx)
	if err != nil {
		return err
	}
	if err := sqlsnow.Migrate(ctx, db, c.dialect); err != nil {
		return err
	}
	if err := sqlsnow.Init(ctx, db, c.dialect, sqlsnow.Namespace{Name: c.namespace, Layout: layout, Workers: c.workers}); err != nil {
		return err
	}
	c.say("namespace %s: ids of %s", c.namespace, layout)
	return nil
}

func (c *command) registryDatabase(ctx context.Context) (*sql.DB, error) {
	if c.registry == "" {
		return c.database(ctx, "target", c.target, readWrite)
	}
	return c.database(ctx, "registry", c.registry, readWrite)
}

// merge opens all that a merge needs.
func (c *command) merge(ctx context.Context, cfg merge.Config) (*merge.Merge, error) {
	sources, err := c.openSources(ctx)
	if err != nil {
		return nil, err
	}
	p, err := c.readPlan(ctx, sources)
	if err != nil {
		return nil, err
	}
	target, err := c.database(ctx, "target", c.target, existing)
	if err != nil {
		return nil, err
	}
	if c.registry != "" {
		if cfg.Registry, err = c.database(ctx, "registry", c.registry, existing); err != nil {
			return nil, err
		}
	}
	cfg.Namespace, cfg.Databases, cfg.Assertions, cfg.WithoutForeignKeys, cfg.WitnessAll = c.namespace, c.into, c.assertions, c.noFKs, c.witnessAll
	m, err := merge.New(c.dialect, target, sources, p, cfg)
	if err != nil { // people give a flag, not a field
		return nil, errors.New(strings.ReplaceAll(err.Error(), "Config.WithoutForeignKeys", "-without-foreign-keys"))
	}
	return m, nil
}

func (c *command) dryRun(ctx context.Context) error {
	m, err := c.merge(ctx, merge.Config{Throttle: c.throttle})
	if err != nil {
		return err
	}
	forecast, err := m.DryRun(ctx)
	if err != nil {
		return err
	}
	if err := c.print(forecast); err != nil {
		return err
	}
	return forecast.Err()
}

func (c *command) run(ctx context.Context) error {
	p := newProgress(c.stderr)
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
	defer pauseOnSignal(m.Pause)()
	found, err := c.runOrWait(ctx, m)
	p.close()
	if found == nil {
		return err
	}
	return errors.Join(c.print(found), err)
}

// kill ends this process after so many rows, without any cleaning up.
func (c *command) kill(e report.Event) {
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

// runOrWait runs the merge. If another run is under way, it tries again until -wait is over.
func (c *command) runOrWait(ctx context.Context, m *merge.Merge) (*report.Report, error) {
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

func (c *command) verify(ctx context.Context) error {
	m, err := c.merge(ctx, merge.Config{})
	if err != nil {
		return err
	}
	found, err := m.Verify(ctx)
	if err != nil {
		return err
	}
	if err := c.print(found); err != nil {
		return err
	}
	return found.Err()
}

func (c *command) lookup(ctx context.Context) error {
	old, err := strconv.ParseInt(c.Arg(2), 10, 64)
	if err != nil {
		return fmt.Errorf("id %q: want a number", c.Arg(2))
	}
	target, err := c.database(ctx, "target", c.target, readOnly)
	if err != nil {
		return err
	}
	id, err := merge.Lookup(ctx, c.dialect, target, c.Arg(0), c.Arg(1), old)
	if err != nil {
		return err
	}
	c.say("%d", id)
	return nil
}

func (c *command) export(ctx context.Context) error {
	target, err := c.database(ctx, "target", c.target, readOnly)
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

func (c *command) print(t text) error {
	if !c.json {
		return t.WriteText(c.stdout)
	}
	e := json.NewEncoder(c.stdout)
	e.SetIndent("", "  ")
	return e.Encode(t)
}

// say writes a line. A reader who went away, as `| head` does, must not keep the
// program from its work.
func (c *command) say(format string, args ...any) { _, _ = fmt.Fprintf(c.stdout, format+"\n", args...) }
