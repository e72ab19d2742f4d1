package mysql

import (
	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/internal/mysql/count"
	"github.com/shardsnow/snow/convert/plan"
)

// finishSteps returns the steps of phase Finish.
func finishSteps(p *plan.Plan) []job.Step { return append(count.FinishSteps(p), dropOld(p)...) }
