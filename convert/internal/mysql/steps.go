// Package mysql makes the steps of a conversion on MySQL and MariaDB.
package mysql

import (
	"fmt"
	"slices"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
)

// Steps returns the steps of a plan, which depend on nothing else.
func Steps(p *plan.Plan) ([]job.Step, error) {
	if p.Dialect != "MySQL" {
		return nil, fmt.Errorf("mysql: steps of a plan for %q", p.Dialect)
	}
	widen, err := widenSteps(p)
	if err != nil {
		return nil, err
	}
	return slices.Concat(widen, countSteps(p), letGoSteps(p), finishSteps(p)), nil
}
