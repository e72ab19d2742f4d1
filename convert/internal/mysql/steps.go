// Package mysql makes the steps of a conversion on MySQL and MariaDB.
package mysql

import (
	"fmt"
	"slices"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/internal/mysql/count"
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
	// The mirrors of the tables of old go before tables are counted: while a table is locked, MySQL finds none of its
	// triggers if foreign keys of others cascade to it, so that no trigger can come before them.
	counted := slices.Concat(count.Prepare(p), letGoSteps(p), count.Steps(p))
	finish := slices.Concat(count.FinishSteps(p), dropOld(p))
	setGate(counted, "All programs can read and store ids of 64 bits; none inserts snow ids yet.")
	setGate(finish, "The new programs insert snow ids, and the old ones are stopped. From here on the tables watch whether rows without ids come.")
	return slices.Concat(widen, counted, finish), nil
}

// setGate has programs asked before the first of some steps.
func setGate(steps []job.Step, what string) {
	if len(steps) > 0 {
		steps[0].Gate = what
	}
}
