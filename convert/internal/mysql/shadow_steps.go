package mysql

import (
	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
)

// widenSteps returns the steps of phase Widen.
func widenSteps(*plan.Plan) ([]job.Step, error) { return nil, nil }

// dropOld returns the steps that drop what phase Widen has left, for phase Finish.
func dropOld(*plan.Plan) []job.Step { return nil }
