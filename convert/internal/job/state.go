package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// A stored is what the database has of a step.
type stored struct {
	seq      int
	state    report.State
	gate     bool // it is open
	position string
	done, of int64
	seconds  float64
}

// load reads the states of all steps by their names, and the run's plan.
func load(ctx context.Context, q querier, e engine) (plan string, states map[string]*stored, err error) {
	err = q.QueryRowContext(ctx, "SELECT plan FROM snow_convert_run WHERE id = 1").Scan(&plan)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", nil, err
	}
	rows, err := q.QueryContext(ctx, "SELECT name, seq, state, gate, position, done_rows, of_rows, "+e.age("begun")+", "+e.age("ended")+" FROM snow_convert_steps")
	if err != nil {
		return "", nil, err
	}
	defer rows.Close()
	states = map[string]*stored{}
	for rows.Next() {
		var name string
		var gate int
		var begun, ended sql.NullFloat64 // ago
		s := new(stored)
		if err := rows.Scan(&name, &s.seq, &s.state, &gate, &s.position, &s.done, &s.of, &begun, &ended); err != nil {
			return "", nil, err
		}
		s.gate, s.seconds = gate != 0, max(0, begun.Float64-ended.Float64)
		states[name] = s
	}
	return plan, states, rows.Err()
}

// isMissing reports whether an error says that no run has been in the database.
func isMissing(d sqldialect.Dialect, err error) bool { return d.Classify(err) == sqldialect.NoTable }

// enterPlan stores the plan of the first run, or compares it with the one that is there.
func (w *worker) enterPlan(ctx context.Context, stored string) error {
	if stored == "" {
		_, err := w.db.ExecContext(ctx, w.e.sql("UPDATE snow_convert_run SET plan = ? WHERE id = 1 AND fence = ?"), w.Plan, w.fence)
		return err
	}
	differences, err := compare(stored, w.Plan)
	if err != nil {
		return fmt.Errorf("compare the plan with the stored one: %w", err)
	}
	if len(differences) > 0 {
		return &report.PlanError{Differences: differences}
	}
	return nil
}

// setState stores the state of a step, if the owner still is one.
func (w *worker) setState(ctx context.Context, seq int, state report.State) error {
	insert := w.e.inserted("INSERT INTO snow_convert_steps (name, seq, state, gate, position, done_rows, of_rows) VALUES (?, ?, 'waiting', 0, '', 0, 0)")
	step := &w.Steps[seq]
	return w.transaction(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, w.e.sql(insert), step.Name, seq); err != nil {
			return err
		}
		times := ""
		switch state {
		case report.Doing:
			times = ", ended = NULL, begun = COALESCE(begun, " + w.e.now() + ")"
		case report.Done, report.Verified:
			times = ", ended = " + w.e.now()
		case report.Waiting:
			times = ", gate = 0, begun = NULL, ended = NULL, position = '', done_rows = 0, of_rows = 0"
		}
		_, err := tx.ExecContext(ctx, w.e.sql("UPDATE snow_convert_steps SET state = ?"+times+" WHERE name = ?"), string(state), step.Name)
		return err
	})
}

// openGate stores that programs have done what the gate of a step says.
func (w *worker) openGate(ctx context.Context, seq int) error {
	if err := w.setState(ctx, seq, report.Waiting); err != nil {
		return err
	}
	return w.transaction(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, w.e.sql("UPDATE snow_convert_steps SET gate = 1 WHERE name = ?"), w.Steps[seq].Name)
		return err
	})
}

// storeSQL stores a position and the rows so far.
const storeSQL = "UPDATE snow_convert_steps SET position = ?, done_rows = ?, of_rows = ? WHERE name = ?"

// lockRow keeps the row of the fence from being changed until the transaction ends.
func (o *owner) lockRow() string {
	if _, ok := o.e.(mysqlEngine); ok {
		return " LOCK IN SHARE MODE" // MariaDB has no FOR SHARE
	}
	return " FOR SHARE"
}

// transaction does something in a transaction that keeps the fence.
func (w *worker) transaction(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	err = w.check(ctx, tx, w.lockRow())
	if err == nil {
		err = do(tx)
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
