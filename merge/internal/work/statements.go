package work

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/report"
)

// Statements returns what the plan says to do on the target when it is verified, and how far that is.
func Statements(ctx context.Context, j *Job, l ledger.Ledger) (all []report.Statement, err error) {
	if len(j.Plan.After) == 0 {
		return nil, nil
	}
	begun, err := ledger.Statements{Ledger: l, Run: j.ID}.All(ctx)
	if err != nil && !l.Engine.IsMissing(err) { // a ledger of an earlier version
		return nil, err
	}
	for i, text := range j.Plan.After {
		s := report.Statement{SQL: text}
		for _, b := range begun {
			if b.Number == i+1 {
				s.SQL, s.State, s.Rows = b.SQL, b.State, b.Rows
			}
		}
		all = append(all, s)
	}
	return all, nil
}
