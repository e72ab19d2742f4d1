package job

import (
	"context"
	"errors"

	"github.com/shardsnow/snow/convert/report"
)

// Back takes the steps back, the last one first. When none is left, it removes the job's tables.
func (j *Job) Back(ctx context.Context) error {
	complete := false
	return j.work(ctx, func(ctx context.Context, w *worker) error {
		for seq := len(w.Steps) - 1; seq >= 0; seq-- {
			if err := w.canUndo(ctx, seq); err != nil {
				return &report.StepError{Step: w.Steps[seq].Name, At: "undo", Err: err}
			}
			if w.isFirst(seq) {
				break
			}
		}
		for seq := len(w.Steps) - 1; seq >= 0; seq-- {
			step := &w.Steps[seq]
			if w.state(step).state != report.Waiting {
				if w.Confirm != nil {
					if err := w.Confirm(ctx, step, true); err != nil {
						return &report.RefusedError{Step: step.Name, Err: err}
					}
				}
				if err := w.undo(ctx, seq); err != nil {
					return err
				}
			}
			if w.isFirst(seq) {
				complete = seq == 0
				return nil
			}
		}
		complete = true
		return nil
	}, func(ctx context.Context, q querier) error {
		if !complete {
			return nil
		}
		var failed error
		// The fence goes last: a session that finds none is refused.
		for _, table := range []string{"snow_convert_steps", "snow_convert_run_sessions", "snow_convert_run"} {
			_, err := q.ExecContext(ctx, "DROP TABLE "+table)
			failed = errors.Join(failed, err)
		}
		return failed
	})
}

// isFirst reports whether Until is the step, or its phase if the step before is of another one.
func (w *worker) isFirst(seq int) bool {
	s := &w.Steps[seq]
	return w.Until == s.Name || w.Until == s.Phase.String() && (seq == 0 || w.Steps[seq-1].Phase != s.Phase)
}

// canUndo returns why a step can't be taken back, if it has been begun.
func (w *worker) canUndo(ctx context.Context, seq int) error {
	step := &w.Steps[seq]
	if step.CanUndo == nil || w.state(step).state == report.Waiting {
		return nil
	}
	return w.again(ctx, step.CanUndo, seq)
}

// undo takes a step back.
func (w *worker) undo(ctx context.Context, seq int) error {
	step := &w.Steps[seq]
	if err := w.setState(ctx, seq, report.Undoing); err != nil {
		return err
	}
	if err := w.again(ctx, step.Undo, seq); err != nil {
		return &report.StepError{Step: step.Name, At: "undo", Err: err}
	}
	if err := w.setState(ctx, seq, report.Waiting); err != nil {
		return err
	}
	delete(w.states, step.Name)
	w.tell(report.Event{Kind: report.StepUndone, Step: step.Name, Title: step.Title})
	return nil
}
