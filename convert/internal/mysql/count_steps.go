package mysql

import (
	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/internal/mysql/count"
	"github.com/shardsnow/snow/convert/plan"
)

// countSteps returns the steps of phase Count.
func countSteps(p *plan.Plan) []job.Step { return count.Steps(p) }
