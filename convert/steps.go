package convert

import (
	"fmt"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// stepsOf returns the steps of a plan.
func stepsOf(d sqldialect.Dialect, p *plan.Plan) ([]job.Step, error) {
	if p.Dialect != d.String() {
		return nil, fmt.Errorf("the plan is for %q, not %s", p.Dialect, d)
	}
	return nil, fmt.Errorf("a database of %s is not converted in place", d)
}
