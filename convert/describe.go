package convert

import (
	"bytes"
	"fmt"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// Describe fills in the steps of a plan, for people: what is sent to the server, what that blocks, and until when it can
// be taken back. The plan must pass [plan.Plan.Check]. Steps that the plan had are replaced.
func Describe(dialect sqlsnow.Dialect, p *plan.Plan) error {
	steps, err := stepsOf(dialect, p)
	if err != nil {
		return fmt.Errorf("convert: describe: %w", err)
	}
	describe(p, steps)
	return nil
}

// describeAll describes the steps as if all questions were answered with widen.
func describeAll(dialect sqlsnow.Dialect, p *plan.Plan) error {
	if len(p.Tables) == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := p.WriteYAML(&b); err != nil {
		return err
	}
	widened, err := plan.Read(&b)
	if err != nil {
		return err
	}
	for _, q := range widened.Questions {
		q.Answer = plan.Widen
	}
	widened.Resolve()
	steps, err := stepsOf(dialect, widened)
	if err != nil {
		return err
	}
	describe(p, steps)
	return nil
}

// describe writes steps as a plan has them.
func describe(p *plan.Plan, steps []job.Step) {
	p.Steps = nil
	for _, s := range steps {
		p.Steps = append(p.Steps, &plan.Described{Name: s.Name, Title: s.Title, Statements: s.Statements, Blocks: s.Blocks, Gate: s.Gate, Back: s.Back})
	}
}
