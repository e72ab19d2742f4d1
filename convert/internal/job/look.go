package job

import (
	"context"
	"database/sql"
	"errors"

	"github.com/shardsnow/snow/convert/report"
)

// A Found is what a step's own verification finds wrong later.
type Found struct {
	Step *Step
	Err  error
}

// Look verifies the steps of phase Count again, from its end to the beginning of the next phase. Steps of the other
// phases are left out, because they change what the ones before have made.
func (j *Job) Look(ctx context.Context, s *report.Status) (found []Found, err error) {
	const phase = Count
	if Complete(s) != phase {
		return nil, nil
	}
	for i := range j.Steps {
		step := &j.Steps[i]
		if step.Phase > phase && s.Steps[i].State != report.Waiting {
			return nil, nil
		}
	}
	for i := range j.Steps {
		step := &j.Steps[i]
		if step.Phase != phase || step.Verify == nil {
			continue
		}
		if err := step.Verify(ctx, j.reading()); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			found = append(found, Found{step, err})
		}
	}
	return found, nil
}

// Complete returns the last phase whose steps are all verified, or 0.
func Complete(s *report.Status) Phase {
	for phase := Widen; phase <= Finish; phase++ {
		for _, one := range s.Steps {
			if one.Phase == phase.String() && one.State != report.Verified {
				return phase - 1
			}
		}
	}
	return Finish
}

// reading returns a Run for a verification outside of a run.
func (j *Job) reading() *Run {
	none := errors.New("nothing is stored while steps are looked at")
	return &Run{
		DB:    j.DB,
		Store: func(context.Context, *sql.Tx, string) error { return none },
		Check: func(context.Context) error { return nil },
		Wait:  func(ctx context.Context, _, _ int64) error { return ctx.Err() },
	}
}

// Kept returns the baseline, or "" if there is none.
func (j *Job) Kept(ctx context.Context) (text string, err error) {
	err = j.DB.QueryRowContext(ctx, "SELECT baseline FROM snow_convert_run WHERE id = 1").Scan(&text)
	if errors.Is(err, sql.ErrNoRows) || err != nil && isMissing(j.Dialect, err) {
		return "", nil
	}
	return text, err
}
