package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/shardsnow/snow/convert/report"
)

// Status says how far the job is. It writes nothing.
func (j *Job) Status(ctx context.Context) (*report.Status, error) {
	e, err := engineOf(j.Dialect)
	if err != nil {
		return nil, err
	}
	plan, states, err := load(ctx, j.DB, e)
	if err != nil && !isMissing(j.Dialect, err) {
		return nil, fmt.Errorf("read the job's state: %w", err)
	}
	s := &report.Status{Begun: err == nil && plan != "", Finished: true}
	for seq := range j.Steps {
		step := &j.Steps[seq]
		one := report.StepStatus{
			Name: step.Name, Title: step.Title, Phase: step.Phase.String(), Table: step.Table, State: report.Waiting,
			Gate: step.Gate, Block: step.Blocks, Back: step.Back, Statements: step.Statements,
		}
		open := false
		if at := states[step.Name]; at != nil {
			one.State, one.Done, one.Of, open = at.state, at.done, at.of, at.gate
			one.Took = time.Duration(at.seconds * float64(time.Second))
		}
		if one.State != report.Verified && s.Finished {
			s.Finished, s.Step, s.Phase = false, step.Name, one.Phase
			if step.Gate != "" && !open {
				s.Gate, s.What = j.GateName(seq), step.Gate
			}
		}
		s.Steps = append(s.Steps, one)
	}
	if s.Begun {
		return s, j.alive(ctx, e, s)
	}
	return s, nil
}

// alive says whether a process works on the job.
func (j *Job) alive(ctx context.Context, e engine, s *report.Status) error {
	var place sql.NullString
	if err := j.DB.QueryRowContext(ctx, e.here()).Scan(&place); err != nil {
		return err
	}
	id, err := e.holder(ctx, j.DB, place.String, mainLock)
	if err != nil || id == 0 {
		return err
	}
	var age float64
	var step string
	err = j.DB.QueryRowContext(ctx, "SELECT holder, step, done_rows, of_rows, "+e.age("seen")+" FROM snow_convert_run_sessions ORDER BY seen DESC LIMIT 1").
		Scan(&s.Holder, &step, &s.Done, &s.Of, &age)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	s.Running, s.Heard = err == nil, max(0, time.Duration(age*float64(time.Second)))
	return err
}
