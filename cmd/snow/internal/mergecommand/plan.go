package mergecommand

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/cmd/snow/internal/interrupt"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
)

// inspect writes a plan. It does not overwrite a plan, because somebody may have edited it.
func (c *Command) inspect(ctx context.Context) error {
	var templates []*plan.Decisions
	for _, file := range c.templates {
		template, err := c.readTemplate(ctx, file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		templates = append(templates, template)
	}
	sources, err := c.openSources(ctx)
	if err != nil {
		return err
	}
	p, err := merge.Inspect(ctx, c.dialect, sources...)
	if err != nil {
		return err
	}
	for _, source := range p.Sources {
		if !slices.ContainsFunc(p.Tables, func(t *plan.Table) bool { return len(t.Sources) == 0 || slices.Contains(t.Sources, source) }) {
			return fmt.Errorf("source %s has no tables: is its DSN right?", source)
		}
	}
	for i, template := range templates {
		if err := c.applyTemplate(c.templates[i], template, p); err != nil {
			return err
		}
	}
	if c.certain > 0 {
		if err := c.accept(p); err != nil {
			return err
		}
	}
	for _, t := range p.Tables {
		if c.ids != "" {
			t.IDs = c.ids
		}
		if c.leave > 0 {
			t.Leave = c.leave
		}
	}
	p.Settle()
	if err := c.writePlan(ctx, p, sources, os.O_EXCL); err != nil {
		return err
	}
	return c.sayOpen(p)
}

// readTemplate reads a file, or DATABASE=FILE, a template for one of several databases.
func (c *Command) readTemplate(ctx context.Context, file string) (*plan.Decisions, error) {
	database, name, ok := strings.Cut(file, "=")
	if ok = ok && c.databases != nil; ok {
		file = name
	}
	data, err := readFile(ctx, file)
	if err != nil {
		return nil, err
	}
	template, err := plan.ReadDecisions(bytes.NewReader(data))
	if err == nil && ok {
		template, err = template.In(database)
	}
	return template, err
}

func (c *Command) applyTemplate(file string, template *plan.Decisions, p *plan.Plan) error {
	before := len(p.Questions)
	left, err := template.Apply(p)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	c.say("%s answers %d of %d questions", filepath.Base(file), before-len(p.Questions), before)
	for _, n := range left {
		c.say("  line %d: %s is not in these sources", n.Line, n.Text)
	}
	return nil
}

// accept takes the answers that are certain enough, and lists them.
func (c *Command) accept(p *plan.Plan) error {
	taken, err := p.AcceptCertain(c.certain)
	if err != nil {
		return err
	}
	c.say("accepted %d answers of at least %v, which nobody has looked at:", len(taken), c.certain)
	for _, q := range taken {
		c.say("  %.3f %s: %s, for %s", q.Best().Certainty, q.Name, q.Answer, strings.Join(q.Columns, ", "))
	}
	return nil
}

// parts returns the errors that were joined to err.
func parts(err error) []error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()
	}
	return []error{err}
}

// readFile reads a file, also a pipe, until ctx ends.
func readFile(ctx context.Context, name string) ([]byte, error) {
	return interrupt.Call(ctx, func() ([]byte, error) { return os.ReadFile(name) })
}

// readPlan reads a complete plan, or completes a short one with the schemas of the sources, in the plan's order.
func (c *Command) readPlan(ctx context.Context, sources []merge.Source) (*plan.Plan, error) {
	data, err := readFile(ctx, c.plan)
	if err != nil {
		return nil, err
	}
	p, err := c.parsePlan(ctx, data, sources)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.plan, err)
	}
	return p, nil
}

func (c *Command) parsePlan(ctx context.Context, data []byte, sources []merge.Source) (*plan.Plan, error) {
	if plan.VersionOf(data) != plan.DecisionsVersion {
		return plan.Read(bytes.NewReader(data))
	}
	d, err := plan.ReadDecisions(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if len(sources) == 0 {
		return nil, errors.New("the plan is in its short form: give its sources with --source, or a plan of inspect -full")
	}
	schema, rebinds, err := c.readSchema(ctx, d, sources)
	if err != nil {
		return nil, err
	}
	if rebinds && c.stderr != nil {
		_, _ = fmt.Fprintf(c.stderr, "%s was made for %s, and is used for %s, in this order\n", filepath.Base(c.plan), strings.Join(d.Sources, ", "), strings.Join(schema.Sources, ", "))
	}
	return d.Rebind(schema)
}

// readSchema reads what decisions are completed with, and reports whether the sources have other names than in the
// decisions.
func (c *Command) readSchema(ctx context.Context, d *plan.Decisions, sources []merge.Source) (schema *plan.Plan, rebinds bool, err error) {
	ordered := slices.Clone(sources)
	rebinds = len(sources) != len(d.Sources) || slices.ContainsFunc(sources, func(s merge.Source) bool { return !slices.Contains(d.Sources, s.Name) })
	if !rebinds { // names say which is which; other sources take the places of the plan's in the order of the flags
		slices.SortStableFunc(ordered, func(a, b merge.Source) int { return slices.Index(d.Sources, a.Name) - slices.Index(d.Sources, b.Name) })
	}
	schema, err = merge.ReadSchema(ctx, c.dialect, ordered...)
	return schema, rebinds, err
}

// writePlan writes the short form, or the complete plan with --full or as JSON.
func (c *Command) writePlan(ctx context.Context, p *plan.Plan, sources []merge.Source, flags int) (err error) {
	var b bytes.Buffer
	switch {
	case filepath.Ext(c.plan) == ".json":
		err = p.WriteJSON(&b)
	case c.full:
		err = p.WriteYAML(&b)
	default:
		err = c.shorten(ctx, p, sources, &b)
	}
	if err != nil {
		return err
	}
	name := c.plan
	if flags == os.O_TRUNC { // a plan that people have edited is replaced at once, or not at all
		name += ".new"
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|flags, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	if err = errors.Join(err, f.Close()); err == nil && name != c.plan {
		err = os.Rename(name, c.plan)
	}
	return err
}

func (c *Command) shorten(ctx context.Context, p *plan.Plan, sources []merge.Source, b *bytes.Buffer) error {
	schema, err := merge.ReadSchema(ctx, c.dialect, sources...)
	if err != nil {
		return err
	}
	d, err := plan.Shorten(p, schema)
	if err != nil {
		return err
	}
	return d.WriteYAML(b)
}

// settle writes the plan again without the questions that are answered, which become decisions.
func (c *Command) settle(ctx context.Context) error {
	if c.dialogue {
		if settle, err := c.askAll(ctx); err != nil || !settle {
			return err
		}
	}
	sources, err := c.openSources(ctx)
	if err != nil {
		return err
	}
	p, err := c.readPlan(ctx, sources)
	if err != nil {
		return err
	}
	p.Settle()
	if err := c.writePlan(ctx, p, sources, os.O_TRUNC); err != nil {
		return err
	}
	return c.sayOpen(p)
}

// sayOpen lists what is to be decided.
func (c *Command) sayOpen(p *plan.Plan) error {
	var undecided []error
	if err := p.Check(); err != nil {
		undecided = parts(err)
	}
	decisions := count(int64(len(undecided))) + " decisions"
	if len(undecided) == 1 {
		decisions = "1 decision"
	}
	c.say("%s: %s tables of %s, with %s to take", filepath.Base(c.plan), count(int64(len(p.Tables))), strings.Join(p.Sources, ", "), decisions)
	result := planResult{Plan: c.plan, Tables: len(p.Tables), Sources: p.Sources, Decisions: []string{}, Accepted: p.Accepted}
	for _, err := range undecided {
		c.say("  %v", err)
		result.Decisions = append(result.Decisions, err.Error())
	}
	return c.result(result)
}

// planResult is what inspect and settle print as JSON.
type planResult struct {
	Plan      string   `json:"plan"` // the file
	Tables    int      `json:"tables"`
	Sources   []string `json:"sources"`
	Decisions []string `json:"decisions"`          // to be taken
	Accepted  []string `json:"accepted,omitempty"` // that nobody has looked at
}

// count writes a number with commas between thousands.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
