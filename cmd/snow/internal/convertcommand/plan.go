package convertcommand

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/convert"
	"github.com/shardsnow/snow/convert/plan"
)

// makePlan writes a plan. It does not overwrite one, because somebody may have edited it.
func (c *Command) makePlan(ctx context.Context) error {
	layout, err := snow.ParseLayout(c.layout)
	if err != nil {
		return &UsageError{fmt.Errorf("--layout: %w", err)}
	}
	if _, err := os.Lstat(c.plan); err == nil {
		return fmt.Errorf("%s exists already, and somebody may have edited it: remove it, or choose another name", c.plan)
	}
	if err := c.connect(ctx, database.Existing); err != nil {
		return err
	}
	p, err := convert.Inspect(ctx, c.dialect, c.db, convert.InspectConfig{Layout: layout, DeclaredOnly: c.declared})
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := p.WriteYAML(&text); err != nil {
		return err
	}
	if err := create(c.plan, text.Bytes()); err != nil {
		return err
	}
	if err := c.print(summaryOf(c, p)); err != nil {
		return err
	}
	if open := openQuestions(p); open > 0 {
		return &NoError{fmt.Errorf("open questions in %s: %d", c.plan, open), "Answer each with widen or leave, in the file."}
	}
	return nil
}

func create(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// readPlan reads the file of the plan.
func (c *Command) readPlan() (*plan.Plan, error) {
	f, err := os.Open(c.plan)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := plan.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.plan, err)
	}
	if open := openQuestions(p); open > 0 {
		return nil, &NoError{fmt.Errorf("open questions in %s: %d", c.plan, open), "Answer each with widen or leave, in the file."}
	}
	return p, nil
}

func openQuestions(p *plan.Plan) (n int) {
	for _, q := range p.Questions {
		if q.Answer == "" {
			n++
		}
	}
	return n
}

// A planSummary is what plan prints.
type planSummary struct {
	File      string         `json:"file"`
	Server    string         `json:"server"`
	Questions int            `json:"questions"` // that are open
	Tables    []tableSummary `json:"tables"`
	Before    []string       `json:"before"`
	then      string
}

type tableSummary struct {
	Table   string        `json:"table"`
	Columns []string      `json:"columns"`
	Method  plan.Method   `json:"method"`
	Why     string        `json:"why,omitempty"`
	Rows    int64         `json:"rows"`
	Bytes   int64         `json:"bytes"`
	Takes   time.Duration `json:"takes"`
}

func summaryOf(c *Command, p *plan.Plan) planSummary {
	s := planSummary{File: c.plan, then: c.runAgain(), Server: p.Server, Questions: openQuestions(p), Tables: []tableSummary{}, Before: p.Before}
	for _, t := range p.Tables {
		one := tableSummary{Table: t.Name, Columns: []string{}, Method: t.Method, Why: t.Why, Rows: t.Rows, Bytes: t.Bytes}
		one.Takes = time.Duration(t.Seconds * float64(time.Second))
		for _, column := range t.Columns {
			one.Columns = append(one.Columns, column.Name)
		}
		s.Tables = append(s.Tables, one)
	}
	return s
}

// writeText implements result.
func (s planSummary) writeText(w io.Writer) {
	fmt.Fprintln(w, "TABLE\tCOLUMNS\tMETHOD\tROWS\tMB\tABOUT")
	for _, t := range s.Tables {
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%d\t%s\n", t.Table, len(t.Columns), t.Method, t.Rows, t.Bytes/1_000_000, t.Takes.Round(time.Second))
	}
	fmt.Fprintf(w, "%s has the plan for %s: review it, and edit it\n", s.File, s.Server)
	fmt.Fprintln(w, "then: "+s.then)
}
