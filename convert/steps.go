package convert

import (
	"fmt"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/internal/mysql"
	"github.com/shardsnow/snow/convert/internal/postgres"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// stepsOf returns the steps of a plan.
func stepsOf(d sqldialect.Dialect, p *plan.Plan) ([]job.Step, error) {
	if p == nil {
		return nil, &snow.FieldError{Field: "plan", Value: "nil", Bound: "want one"}
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	if p.Dialect != d.String() {
		return nil, &plan.Error{Reason: fmt.Sprintf("it is for %s, not %s", p.Dialect, d)}
	}
	if d == sqldialect.Postgres {
		return postgres.Steps(p)
	}
	return mysql.Steps(p)
}
