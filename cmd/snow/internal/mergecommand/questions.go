package mergecommand

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/cmd/snow/internal/questions"
	"github.com/shardsnow/snow/cmd/snow/internal/terminal"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
)

// questions shows the plan's questions, or serves them.
func (c *Command) questions(ctx context.Context) error {
	s, sources, err := c.questionnaire(ctx)
	if err != nil {
		return err
	}
	switch {
	case c.serve:
		next := "All questions have answers. The next step is: snow merge settle, or dry-run."
		return questions.Server{Port: int(c.port), Title: filepath.Base(c.plan), Next: next, Sources: sources, Ready: func(url string) {
			c.say("the questions are at %s", url)
			c.say("Ctrl-C ends it")
		}}.Serve(ctx, s)
	case c.json:
		return c.encode(questions.ListOf(s))
	}
	questions.WriteText(c.stdout, s, c.width())
	return nil
}

// askAll asks the questions on the terminal, and reports whether the plan is to be settled.
func (c *Command) askAll(ctx context.Context) (settle bool, err error) {
	s, sources, err := c.questionnaire(ctx)
	if err != nil {
		return false, err
	}
	return (&questions.Dialogue{In: c.stdin, Out: c.stdout, Width: c.width(), Sources: sources}).Run(ctx, s)
}

// width returns how many characters a line of the terminal has, or 0 if nobody knows.
func (c *Command) width() int {
	if f, ok := c.stdout.(*os.File); ok {
		if columns := terminal.Columns(f); columns > 0 {
			return columns
		}
	}
	columns, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil {
		return 0
	}
	return columns
}

// questionnaire reads the plan's questions. Without sources, or if they can't be read, there are no samples, and less is
// checked.
func (c *Command) questionnaire(ctx context.Context) (*questions.Questionnaire, questions.Sources, error) {
	var none questions.Sources
	schema, sources, err := c.schemaOfQuestions(ctx)
	if err != nil {
		return nil, none, err
	}
	s, err := questions.Open(c.plan, schema)
	if err != nil {
		return nil, none, fmt.Errorf("%s: %w", c.plan, err)
	}
	return s, sources, nil
}

// schemaOfQuestions reads the schema of the sources, and opens them for samples. It returns a nil schema if they are
// not given or can't be read.
func (c *Command) schemaOfQuestions(ctx context.Context) (*plan.Plan, questions.Sources, error) {
	var out questions.Sources
	data, err := readFile(ctx, c.plan)
	if err != nil {
		return nil, out, err
	}
	if len(c.sources) == 0 || plan.VersionOf(data) != plan.DecisionsVersion {
		return nil, out, nil // questions.Open says what is wrong with another version
	}
	d, err := plan.ReadDecisions(bytes.NewReader(data))
	if err != nil {
		return nil, out, fmt.Errorf("%s: %w", c.plan, err)
	}
	var wrong *UsageError
	schema, sources, err := c.readSources(ctx, d)
	switch {
	case ctx.Err() != nil || errors.As(err, &wrong):
		return nil, out, err
	case err != nil:
		c.warn("there are no samples of rows, and less is checked: " + err.Error())
		return nil, out, nil
	}
	out.Dialect = c.dialect
	for i, source := range sources {
		// No statement here may write, not even by accident.
		db, err := c.database(ctx, "source "+source.Name, c.sources[i].dsn, database.ReadOnly)
		if err != nil {
			return nil, out, err
		}
		out.All = append(out.All, questions.Source{Name: source.Name, DB: db, Databases: source.Databases})
	}
	return schema, out, nil
}

func (c *Command) readSources(ctx context.Context, d *plan.Decisions) (*plan.Plan, []merge.Source, error) {
	sources, err := c.openSources(ctx)
	if err != nil {
		return nil, nil, err
	}
	schema, _, err := c.readSchema(ctx, d, sources)
	return schema, sources, err
}
