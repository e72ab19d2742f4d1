package convertcommand

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/convert"
	"github.com/shardsnow/snow/convert/report"
)

// status shows how far the conversion is.
func (c *Command) status(ctx context.Context) error {
	conversion, err := c.conversion(ctx, convert.Config{}, database.ReadOnly)
	if err != nil {
		return err
	}
	s, err := conversion.Status(ctx)
	if err != nil {
		return err
	}
	return c.print(statusOf(s))
}

// A shownStatus is what status prints.
type shownStatus struct {
	Begun    bool          `json:"begun"`
	Finished bool          `json:"finished"`
	Phase    string        `json:"phase,omitempty"`
	Step     string        `json:"step,omitempty"`
	Gate     string        `json:"gate,omitempty"`
	What     string        `json:"what,omitempty"`
	Running  bool          `json:"running"`
	Holder   string        `json:"holder,omitempty"`
	Heard    time.Duration `json:"heard,omitempty"`
	Rows     int64         `json:"rows,omitempty"`
	Of       int64         `json:"of,omitempty"`
	Steps    []shownStep   `json:"steps"`
}

type shownStep struct {
	Name       string        `json:"name"`
	Title      string        `json:"title"`
	Phase      string        `json:"phase"`
	Table      string        `json:"table,omitempty"`
	State      report.State  `json:"state"`
	Gate       string        `json:"gate,omitempty"`
	Blocks     string        `json:"blocks,omitempty"`
	Back       string        `json:"back,omitempty"`
	Rows       int64         `json:"rows,omitempty"`
	Of         int64         `json:"of,omitempty"`
	Took       time.Duration `json:"took,omitempty"`
	Statements []string      `json:"statements"`
}

func statusOf(s *report.Status) shownStatus {
	shown := shownStatus{
		Begun: s.Begun, Finished: s.Finished, Phase: s.Phase, Step: s.Step, Gate: s.Gate, What: s.What,
		Running: s.Running, Holder: s.Holder, Heard: s.Heard, Rows: s.Done, Of: s.Of, Steps: []shownStep{},
	}
	for _, one := range s.Steps {
		statements := one.Statements
		if statements == nil {
			statements = []string{}
		}
		shown.Steps = append(shown.Steps, shownStep{
			one.Name, one.Title, one.Phase, one.Table, one.State, one.Gate, one.Block, one.Back, one.Done, one.Of, one.Took, statements,
		})
	}
	return shown
}

// writeText implements result.
func (s shownStatus) writeText(w io.Writer) {
	fmt.Fprintln(w, "PHASE\tSTATE\tROWS\tSTEP\tBACK")
	for _, one := range s.Steps {
		rows := ""
		switch {
		case s.Running && one.Name == s.Step && s.Of > 0:
			rows = fmt.Sprintf("%d of %d", s.Rows, s.Of)
		case one.Of > 0:
			rows = fmt.Sprint(one.Rows)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", one.Phase, one.State, rows, one.Name, one.Back)
	}
	switch {
	case s.Running:
		fmt.Fprintf(w, "%s works on it, and was heard %v ago\n", s.Holder, s.Heard.Round(time.Second))
	case s.Finished:
		fmt.Fprintln(w, "all steps are done")
	case s.Gate != "":
		fmt.Fprintf(w, "it waits at gate %s: %s\n", s.Gate, s.What)
	case s.Begun:
		fmt.Fprintf(w, "nobody works on it; the next step is %s\n", s.Step)
	default:
		fmt.Fprintln(w, "it has not begun")
	}
}

// An end is what run and back print at the end.
type end struct{ *report.Status }

func endOf(s *report.Status) result { return end{s} }

// writeText implements result.
func (e end) writeText(w io.Writer) {
	switch {
	case e.Finished:
		fmt.Fprintln(w, `all steps are done; "snow convert verify" looks at all of it again`)
	case !e.Begun:
		fmt.Fprintln(w, "the conversion is taken back")
	default:
		fmt.Fprintf(w, "the next step is %s\n", e.Step)
	}
}

// verify compares the database with what it should be.
func (c *Command) verify(ctx context.Context) error {
	conversion, err := c.conversion(ctx, convert.Config{}, database.Existing)
	if err != nil {
		return err
	}
	faults, err := conversion.Verify(ctx)
	if err != nil {
		return err
	}
	shown := shownFaults{Faults: []shownFault{}}
	for _, f := range faults {
		shown.Faults = append(shown.Faults, shownFault{f.Table, f.Column, f.What, f.Remedy})
	}
	if err := c.print(shown); err != nil {
		return err
	}
	if n := len(faults); n > 0 {
		return fmt.Errorf("faults: %d", n)
	}
	return nil
}

// shownFaults is what verify prints.
type shownFaults struct {
	Faults []shownFault `json:"faults"`
}

type shownFault struct {
	Table  string `json:"table,omitempty"`
	Column string `json:"column,omitempty"`
	What   string `json:"what"`
	Remedy string `json:"remedy,omitempty"`
}

// writeText implements result.
func (s shownFaults) writeText(w io.Writer) {
	for _, f := range s.Faults {
		fmt.Fprintln(w, report.Fault(f))
	}
	if len(s.Faults) == 0 {
		fmt.Fprintln(w, "all is as it should be")
	}
}
