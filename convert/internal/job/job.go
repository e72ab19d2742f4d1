package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// A Job is a conversion: its steps, and how they are done.
type Job struct {
	DB      *sql.DB
	Dialect sqldialect.Dialect
	Plan    string // what the steps depend on, as JSON
	Steps   []Step

	// Baseline measures the database before the first step. What it returns is kept. It may be nil.
	Baseline func(context.Context, *sql.DB) (string, error)

	Holder   string
	Lease    time.Duration
	Throttle Throttle

	// Until is a step or a phase after which Run ends, or Back ends; empty for none.
	Until string
	// Gates are open.
	Gates []string
	// Confirm is asked before a step that blocks somebody, and before any step is taken back.
	Confirm func(ctx context.Context, step *Step, back bool) error
	Events  func(report.Event)
}

// String returns the word for a phase.
func (p Phase) String() string {
	switch p {
	case Widen:
		return "widen"
	case Count:
		return "count"
	case Finish:
		return "finish"
	}
	return "Phase(" + strconv.Itoa(int(p)) + ")"
}

// GateName returns the name of the gate before a step: its phase, with a number if it is not the phase's first gate.
func (j *Job) GateName(seq int) string {
	n := 0
	for i := range j.Steps[:seq+1] {
		if s := &j.Steps[i]; s.Gate != "" && s.Phase == j.Steps[seq].Phase {
			n++
		}
	}
	name := j.Steps[seq].Phase.String()
	if n > 1 {
		name += "-" + strconv.Itoa(n)
	}
	return name
}

// GateNames returns the names of all gates.
func (j *Job) GateNames() (names []string) {
	for i := range j.Steps {
		if j.Steps[i].Gate != "" {
			names = append(names, j.GateName(i))
		}
	}
	return names
}

// A worker does steps as long as it is the owner.
type worker struct {
	*Job
	*owner
	db     *sql.DB // of sessions that the next owner ends
	gauge  *gauge
	states map[string]*stored
}

// work calls do as the owner, and ends all sessions and goroutines before it returns.
func (j *Job) work(ctx context.Context, do func(context.Context, *worker) error, last func(context.Context, querier) error) (err error) {
	e, err := engineOf(j.Dialect)
	if err != nil {
		return err
	}
	own, o, err := own(ctx, j.DB, e, j.Holder, j.Lease, j.tell)
	if err != nil {
		return err
	}
	db := sql.OpenDB(&connector{j.DB, o})
	db.SetMaxIdleConns(64) // a session is entered in a table before it is used
	w := &worker{Job: j, owner: o, db: db, gauge: &gauge{Throttle: j.Throttle, dialect: j.Dialect, e: e, db: db}}
	err = w.begin(own)
	if err == nil {
		err = do(own, w)
	}
	if cause := context.Cause(own); cause != nil && err != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err) // which drivers hide
	}
	if err != nil {
		last = nil
	}
	return errors.Join(err, db.Close(), o.release(ctx, last))
}

// begin reads what is stored, and compares the plan.
func (w *worker) begin(ctx context.Context) error {
	plan, states, err := load(ctx, w.db, w.e)
	if err != nil {
		return fmt.Errorf("read the job's state: %w", err)
	}
	w.states = states
	if err := w.enterPlan(ctx, plan); err != nil {
		return err
	}
	for name := range states {
		if !slices.ContainsFunc(w.Steps, func(s Step) bool { return s.Name == name }) {
			return fmt.Errorf("the database has step %q, which this version of the program does not know: use the version that began", name)
		}
	}
	return nil
}

func (j *Job) tell(e report.Event) {
	if j.Events != nil {
		j.Events(e)
	}
}

// state returns what is stored of a step.
func (w *worker) state(step *Step) stored {
	if s := w.states[step.Name]; s != nil {
		return *s
	}
	return stored{state: report.Waiting}
}

// run returns what a step gets.
func (w *worker) run(seq int) *Run {
	step := &w.Steps[seq]
	at := w.state(step)
	done, of := at.done, at.of
	w.progress(step.Name, done, of)
	r := &Run{DB: w.db, Position: at.position}
	tell := func(e report.Event) {
		e.Step, e.Title = step.Name, step.Title
		w.tell(e)
	}
	r.Store = func(ctx context.Context, tx *sql.Tx, position string) error {
		if err := w.check(ctx, tx, w.lockRow()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, w.e.sql(storeSQL), position, done, of, step.Name)
		return err
	}
	r.Check = func(ctx context.Context) error { return w.check(ctx, w.db, "") }
	r.Wait = func(ctx context.Context, rows, about int64) error {
		done, of = rows, about
		w.progress(step.Name, done, of)
		tell(report.Event{Kind: report.Progress, Done: done, Of: of})
		return w.gauge.wait(ctx, tell)
	}
	return r
}

// Run does the steps up to the next gate, or to the end.
func (j *Job) Run(ctx context.Context) error {
	return j.work(ctx, func(ctx context.Context, w *worker) error {
		if err := w.measure(ctx); err != nil {
			return err
		}
		for seq := range w.Steps {
			if err := w.forward(ctx, seq); err != nil {
				return err
			}
			if w.isLast(seq) {
				return nil
			}
		}
		return nil
	}, nil)
}

// measure keeps the baseline before the first step.
func (w *worker) measure(ctx context.Context) error {
	if w.Baseline == nil || len(w.states) > 0 {
		return nil
	}
	w.tell(report.Event{Kind: report.Measures})
	text, err := w.Baseline(ctx, w.db)
	if err != nil {
		return fmt.Errorf("measure the database: %w", err)
	}
	return w.transaction(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, w.e.sql("UPDATE snow_convert_run SET baseline = ? WHERE id = 1"), text)
		return err
	})
}

// isLast reports whether Until is the step, or its phase if the next step is of another one.
func (w *worker) isLast(seq int) bool {
	s := &w.Steps[seq]
	return w.Until == s.Name || w.Until == s.Phase.String() && (seq+1 == len(w.Steps) || w.Steps[seq+1].Phase != s.Phase)
}

// forward brings a step to its end.
func (w *worker) forward(ctx context.Context, seq int) error {
	step := &w.Steps[seq]
	at := w.state(step)
	if at.state == report.Verified {
		return nil
	}
	// What can't be taken back any more is done again instead.
	if at.state == report.Undoing && w.canUndo(ctx, seq) == nil {
		if err := w.undo(ctx, seq); err != nil {
			return err
		}
		at = w.state(step)
	}
	if step.Gate != "" && !at.gate {
		name := w.GateName(seq)
		if !slices.Contains(w.Gates, name) {
			return &report.GateError{Gate: name, Step: step.Name, What: step.Gate}
		}
		if err := w.openGate(ctx, seq); err != nil {
			return err
		}
	}
	if step.Blocks != "" && w.Confirm != nil {
		if err := w.Confirm(ctx, step, false); err != nil {
			return &report.RefusedError{Step: step.Name, Err: err}
		}
	}
	w.tell(report.Event{Kind: report.StepBegins, Step: step.Name, Title: step.Title, Back: step.Back})
	if err := w.setState(ctx, seq, report.Doing); err != nil {
		return err
	}
	if err := w.again(ctx, step.Do, seq); err != nil {
		return &report.StepError{Step: step.Name, At: "do", Err: err}
	}
	if err := w.setState(ctx, seq, report.Done); err != nil {
		return err
	}
	if err := w.again(ctx, step.Verify, seq); err != nil {
		return &report.StepError{Step: step.Name, At: "verify", Err: err}
	}
	if err := w.setState(ctx, seq, report.Verified); err != nil {
		return err
	}
	w.tell(report.Event{Kind: report.StepVerified, Step: step.Name, Title: step.Title})
	return nil
}

// mostTries is how often a step is tried while other transactions are in the way.
const mostTries = 10

// again calls a function of a step, and calls it again if another transaction was in the way.
func (w *worker) again(ctx context.Context, do func(context.Context, *Run) error, seq int) error {
	if do == nil {
		return nil
	}
	for try := 1; ; try++ {
		err := do(ctx, w.run(seq))
		if err == nil || try == mostTries || w.Dialect.Classify(err) != sqldialect.Busy {
			return err
		}
		w.tell(report.Event{Kind: report.Waits, Step: w.Steps[seq].Name, Why: "another transaction was in the way: " + err.Error()})
		if err := pause(ctx, time.Duration(try)*w.Throttle.Every); err != nil {
			return err
		}
		_, states, err := load(ctx, w.db, w.e) // for the position
		if err != nil {
			return err
		}
		w.states = states
	}
}
