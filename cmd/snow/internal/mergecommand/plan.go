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
	"github.com/shardsnow/snow/cmd/snow/internal/questions"
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
	data, d, schema, err := c.shape(ctx, p, sources)
	if err != nil {
		return err
	}
	if err := c.create(data); err != nil {
		return err
	}
	return c.sayOpen(p, d, schema)
}

// create writes a plan into a file that is not there yet.
func (c *Command) create(data []byte) error {
	f, err := os.OpenFile(c.plan, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
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
	p, _, err := c.readPlanAndFile(ctx, sources)
	return p, err
}

// readPlanAndFile also returns what the file has.
func (c *Command) readPlanAndFile(ctx context.Context, sources []merge.Source) (*plan.Plan, []byte, error) {
	data, err := readFile(ctx, c.plan)
	if err != nil {
		return nil, nil, err
	}
	p, err := c.parsePlan(ctx, data, sources)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", c.plan, err)
	}
	return p, data, nil
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

// shape returns what the file of a plan has: the short form, or the complete plan with --full or as JSON. It also returns
// the short form and the schema of the sources, which questions are counted with, if there is one.
func (c *Command) shape(ctx context.Context, p *plan.Plan, sources []merge.Source) (data []byte, d *plan.Decisions, schema *plan.Plan, err error) {
	asJSON := filepath.Ext(c.plan) == ".json"
	if len(sources) > 0 {
		ordered := slices.Clone(sources)
		slices.SortStableFunc(ordered, func(a, b merge.Source) int { return slices.Index(p.Sources, a.Name) - slices.Index(p.Sources, b.Name) })
		if schema, err = merge.ReadSchema(ctx, c.dialect, ordered...); err != nil {
			return nil, nil, nil, err
		}
		if d, err = plan.Shorten(p, schema); err != nil && !asJSON && !c.full {
			return nil, nil, nil, err
		}
	}
	var b bytes.Buffer
	switch {
	case asJSON:
		err = p.WriteJSON(&b)
	case c.full || d == nil:
		err = p.WriteYAML(&b)
	default:
		err = d.WriteYAML(&b)
	}
	return b.Bytes(), d, schema, err
}

// settle writes the plan again without the questions that are answered, which become decisions. If somebody else has
// changed the file since it was read, it stays as it is.
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
	p, read, err := c.readPlanAndFile(ctx, sources)
	if err != nil {
		return err
	}
	if c.meanwhile != nil {
		c.meanwhile()
	}
	p.Settle()
	data, d, schema, err := c.shape(ctx, p, sources)
	if err != nil {
		return err
	}
	switch err := questions.Replace(c.plan, read, data); {
	case errors.Is(err, questions.ErrChanged):
		return fmt.Errorf("%s was changed meanwhile by somebody else, and is not written: use the same command again", c.plan)
	case err != nil:
		return err
	}
	return c.sayOpen(p, d, schema)
}

// sayOpen lists what is to be decided, as the questions of the plan are counted everywhere.
func (c *Command) sayOpen(p *plan.Plan, d *plan.Decisions, schema *plan.Plan) error {
	var open, wrong []string
	if d != nil {
		s, err := questions.Of(d, schema)
		if err != nil {
			return err
		}
		open, wrong = s.ToDecide()
	} else if err := p.Check(); err != nil { // of a complete plan without its sources
		for _, one := range parts(err) {
			wrong = append(wrong, strings.TrimPrefix(one.Error(), "plan: "))
		}
	}
	asked := count(int64(len(open))) + " open questions"
	if len(open) == 1 {
		asked = "1 open question"
	}
	if n := len(wrong); n > 0 {
		asked += fmt.Sprintf(" and %s to correct", count(int64(n)))
	}
	c.say("%s: %s tables of %s, with %s", filepath.Base(c.plan), count(int64(len(p.Tables))), strings.Join(p.Sources, ", "), asked)
	result := planResult{Plan: c.plan, Tables: len(p.Tables), Sources: p.Sources, Open: len(open), Decisions: append(slices.Concat([]string{}, open), wrong...), Accepted: p.Accepted}
	for _, text := range result.Decisions {
		c.say("  %s", text)
	}
	return c.result(result)
}

// planResult is what inspect and settle print as JSON.
type planResult struct {
	Plan      string   `json:"plan"` // the file
	Tables    int      `json:"tables"`
	Sources   []string `json:"sources"`
	Open      int      `json:"open"`               // questions, as the command questions counts them
	Decisions []string `json:"decisions"`          // the questions, and what is wrong with the plan
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
