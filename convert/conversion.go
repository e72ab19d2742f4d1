package convert

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// Config configures [New]. All of it may be zero.
type Config struct {
	// Holder tells people who converts the database. Default: the host's name and the process id.
	Holder string

	// Lease is how long a process that has the job's lock may be silent: 1 s to 1 h. Then another one may end its
	// sessions and take over. A process that was killed is no obstacle. Default: 1 min.
	Lease time.Duration

	// Gates are the names of gates that are open, because the programs do what the [*report.GateError] said. It is
	// remembered.
	Gates []string

	// Until is the name of a step after which Run ends, or of a phase: widen, count or finish. For Back it is the
	// last step that is taken back, or the phase.
	Until string

	// Confirm is asked before a step that blocks somebody, and before each step that Back takes back. If it returns
	// an error, Run and Back end. Default: all is confirmed.
	Confirm func(context.Context, Question) error

	// Events, if not nil, is called with what happens, by one goroutine at a time. The run waits for it.
	Events func(report.Event)

	// Replicas are asked how far behind they are, between chunks. PostgreSQL's primary says so by itself, to an
	// account with the role pg_monitor.
	Replicas []*sql.DB

	// LagQuery returns the number of seconds that a replica is behind, such as a query of pt-heartbeat's table.
	// Default: what the server says of itself.
	LagQuery string

	// MaxLag is how far a replica may be behind. -1 is no limit. Default: 1.5 s.
	MaxLag time.Duration

	// MaxBusy is how many sessions may work at the same time, as Threads_running of MySQL counts them, and the state
	// "active" of PostgreSQL. -1 is no limit. Default: 25.
	MaxBusy int

	// PauseFile makes the run wait between chunks for as long as a file of this name exists.
	PauseFile string
}

// A Question is what [Config].Confirm is asked.
type Question struct {
	Step       string
	Title      string
	Blocks     string // whom the step blocks, and for how long; may be empty on the way back
	Undo       bool   // the step is about to be taken back
	Back       string // until when it can be taken back
	Statements []string
}

// A Conversion carries out a plan. It is safe for concurrent use, but one Run or Back works at a time, among all
// processes.
type Conversion struct {
	job  job.Job
	plan *plan.Plan
}

// New returns the conversion of a database by a plan, which must not be changed any more. DB is a pool of the
// database's primary; its account may create tables and triggers and end its own sessions. It needs at least 4
// connections, each with a session of its own on the server: no pooler that shares sessions. A wrong field is a
// [*snow.FieldError]. New does not ask the database.
func New(d sqldialect.Dialect, db *sql.DB, p *plan.Plan, cfg Config) (*Conversion, error) {
	steps, err := stepsOf(d, p)
	if err == nil {
		var c *Conversion
		if c, err = newConversion(d, db, p, cfg, steps); err == nil {
			return c, nil
		}
	}
	return nil, fmt.Errorf("convert: new: %w", err)
}

func newConversion(d sqldialect.Dialect, db *sql.DB, p *plan.Plan, cfg Config, steps []job.Step) (*Conversion, error) {
	if db == nil {
		return nil, &snow.FieldError{Field: "db", Value: "nil", Bound: "want a database"}
	}
	if open := db.Stats().MaxOpenConnections; open > 0 && open < 4 {
		return nil, &snow.FieldError{Field: "db", Value: fmt.Sprintf("of %d connections", open), Bound: "want at least 4"}
	}
	host, _ := os.Hostname()
	c := &Conversion{plan: p, job: job.Job{
		DB: db, Dialect: d, Steps: steps, Until: cfg.Until, Gates: slices.Clone(cfg.Gates), Events: cfg.Events,
		Holder: cmp.Or(cfg.Holder, fmt.Sprintf("%s pid %d", cmp.Or(host, "unknown host"), os.Getpid())),
		Lease:  cmp.Or(cfg.Lease, time.Minute),
		Throttle: job.Throttle{
			Replicas: slices.Clone(cfg.Replicas), LagQuery: cfg.LagQuery, PauseFile: cfg.PauseFile, Every: time.Second,
			MostLag: cmp.Or(cfg.MaxLag, 1500*time.Millisecond), MostBusy: cmp.Or(cfg.MaxBusy, 25),
		},
	}}
	c.job.Baseline = func(ctx context.Context, db *sql.DB) (string, error) { return measure(ctx, d, p, db) }
	if cfg.Confirm != nil {
		c.job.Confirm = func(ctx context.Context, s *job.Step, back bool) error {
			return cfg.Confirm(ctx, Question{Step: s.Name, Title: s.Title, Blocks: s.Blocks, Undo: back, Back: s.Back, Statements: s.Statements})
		}
	}
	if err := c.check(cfg); err != nil {
		return nil, err
	}
	text, err := json.Marshal(essence(p))
	c.job.Plan = string(text)
	return c, err
}

func (c *Conversion) check(cfg Config) error {
	phases := []string{job.Widen.String(), job.Count.String(), job.Finish.String()}
	isStep := slices.ContainsFunc(c.job.Steps, func(s job.Step) bool { return s.Name == cfg.Until })
	switch {
	case len(c.job.Holder) > 255:
		return &snow.FieldError{Field: "Holder", Value: strconv.Quote(c.job.Holder[:80]), Bound: "want at most 255 characters"}
	case c.job.Lease < time.Second || c.job.Lease > time.Hour:
		return &snow.FieldError{Field: "Lease", Value: cfg.Lease.String(), Bound: "want 1 s to 1 h"}
	case cfg.MaxLag < -1:
		return &snow.FieldError{Field: "MaxLag", Value: cfg.MaxLag.String(), Bound: "want a time, or -1 for no limit"}
	case cfg.MaxBusy < -1:
		return &snow.FieldError{Field: "MaxBusy", Value: strconv.Itoa(cfg.MaxBusy), Bound: "want a number, or -1 for no limit"}
	case cfg.Until != "" && !isStep && !slices.Contains(phases, cfg.Until):
		return &snow.FieldError{Field: "Until", Value: strconv.Quote(cfg.Until), Bound: "want widen, count, finish or the name of a step"}
	}
	gates := c.job.GateNames()
	for _, gate := range cfg.Gates {
		if !slices.Contains(gates, gate) {
			return &snow.FieldError{Field: "Gates", Value: strconv.Quote(gate), Bound: "want one of: " + strings.Join(gates, ", ")}
		}
	}
	return nil
}

// Run does one step after another, and verifies each before the next one, up to the next gate, which is a
// [*report.GateError], or to the end. It continues where an earlier run ended, however that ended. Its other errors
// are [*report.PlanError], [*report.RunningError], [*report.OvertakenError], [*report.RefusedError] and
// [*report.StepError], among others.
func (c *Conversion) Run(ctx context.Context) error {
	return failed("run", c.job.Run(ctx))
}

// Back takes back what Run has done, the last step first, and says before each step until when that is possible. When
// all is taken back, the database is as it was, with the rows of now.
func (c *Conversion) Back(ctx context.Context) error {
	return failed("back", c.job.Back(ctx))
}

// Status says how far the conversion is. It only reads.
func (c *Conversion) Status(ctx context.Context) (*report.Status, error) {
	s, err := c.job.Status(ctx)
	return s, failed("status", err)
}

func failed(what string, err error) error {
	var gate *report.GateError
	if err == nil || errors.As(err, &gate) && err.Error() == gate.Error() {
		return err
	}
	return fmt.Errorf("convert: %s: %w", what, err)
}

// essence returns the parts of a plan that the steps depend on.
func essence(p *plan.Plan) *plan.Plan {
	e := &plan.Plan{Version: p.Version, Dialect: p.Dialect, Guards: p.Guards}
	for _, q := range p.Questions {
		e.Questions = append(e.Questions, &plan.Question{Column: q.Column, Answer: q.Answer})
	}
	for _, t := range p.Tables {
		table := *t
		table.Why, table.Rows, table.Bytes, table.Seconds = "", 0, 0, 0
		e.Tables = append(e.Tables, &table)
	}
	return e
}
