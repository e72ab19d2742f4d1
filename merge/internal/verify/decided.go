package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/settle"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// reportDecided reports what the ledger says of rows that gave way or were left out, and how long it took.
func reportDecided(ctx context.Context, v *verifying, l ledger.Ledger) error {
	for _, t := range v.Plan.Tables {
		if t.Skip {
			v.report.Skipped = append(v.report.Skipped, t.Name)
		}
	}
	for i, t := range v.run.Tables {
		row := v.report.Tables[i]
		if t.Table.Empty {
			v.report.LeftOut = append(v.report.LeftOut, report.LeftOut{Table: row.Table, Source: row.Source, Reason: "empty", Rows: row.Dropped})
			continue
		}
		if row.Dropped > 0 {
			if err := reportLeftOut(ctx, v.report, l, t); err != nil {
				return err
			}
		}
		if row.Renamed > 0 {
			if err := reportRenamed(ctx, v, l, t); err != nil {
				return err
			}
		}
		if row.Merged > 0 {
			v.report.Clashes = append(v.report.Clashes, merged(v.Plan, t, row.Merged))
		}
	}
	return durations(ctx, v, l)
}

// reportLeftOut reports the rows of a source table that were dropped, by reason.
func reportLeftOut(ctx context.Context, to *report.Report, l ledger.Ledger, t *ledger.SourceTable) error {
	reasons, err := l.Reasons(ctx, t)
	if err != nil {
		return err
	}
	all := map[string]*report.LeftOut{}
	for reason, n := range reasons {
		row := report.LeftOut{Table: t.Table.Name, Source: t.Source, Reason: reason}
		if c := droppedFor(t.Table, reason); c != nil {
			row.Reason, row.Column = c.Name, c.Name
		}
		for _, c := range t.Table.WithoutRows {
			if settle.ReasonOf(t.Table, c) == reason {
				row.Where = c.Where
				if c.Except != "" {
					row.Where += ", except " + c.Except
				}
			}
		}
		if all[row.Reason] == nil {
			all[row.Reason] = &row
		}
		all[row.Reason].Rows += n
	}
	for _, reason := range slices.Sorted(maps.Keys(all)) {
		to.LeftOut = append(to.LeftOut, *all[reason])
	}
	return nil
}

// droppedFor returns the column that is in the reason why a row was dropped, such as owner_id = 17, or nil.
func droppedFor(t *plan.Table, reason string) (found *plan.Column) {
	for _, c := range t.Columns {
		if c.DropsRows() && strings.HasPrefix(reason, c.Name+" = ") && (found == nil || len(c.Name) > len(found.Name)) {
			found = c
		}
	}
	return found
}

// reportRenamed reports the new names in a source table.
func reportRenamed(ctx context.Context, v *verifying, l ledger.Ledger, t *ledger.SourceTable) error {
	columns, err := l.Renamed(ctx, t)
	if err != nil {
		return err
	}
	for _, column := range slices.Sorted(maps.Keys(columns)) {
		row := report.Clash{Table: t.Table.Name, Source: t.Source, Rule: plan.RuleSuffix, Column: column, Rows: columns[column]}
		for _, u := range t.Table.Unique {
			if c := t.Table.RenameColumn(u, v.Engine.Kind); c == nil || c.Name != column {
				continue
			}
			switch u.Rule {
			case plan.RuleSuffix:
				row.Unique = append(row.Unique, u.Columns)
				row.How = append(row.How, howRenamed(v.Plan, t, u)...)
			case plan.RuleRenumber:
				row.Rule, row.Unique = u.Rule, append(row.Unique, u.Columns)
				row.How = append(row.How, howRenumbered(v.Job, t, u, column))
			}
		}
		row.How = slices.Compact(row.How)
		names, err := l.SomeRenames(ctx, t, column, report.MaxSamples)
		if err != nil {
			return err
		}
		for _, c := range names {
			row.Names = append(row.Names, report.NewName{Row: sqlvalue.KeyText(c.Row), Before: sqlvalue.Text(c.Before), After: sqlvalue.Text(c.After)})
		}
		v.report.Clashes = append(v.report.Clashes, row)
	}
	return nil
}

// howRenamed says who keeps a name, and what the others get.
func howRenamed(p *plan.Plan, t *ledger.SourceTable, u *plan.Unique) (how []string) {
	order := "the first of " + strings.Join(p.Preferred(t.Table, u), ", ") + " keeps its name"
	switch {
	case u.Both:
		how = append(how, "all rows that clash are renamed")
	case len(u.Winner) > 0:
		how = append(how, "the row with the greatest "+strings.Join(u.Winner, ", then ")+" keeps its name; among equal ones, "+order)
	default:
		how = append(how, order)
	}
	switch {
	case u.Template != "":
		how = append(how, "new names are "+u.Template)
	case u.Suffix != "":
		how = append(how, fmt.Sprintf("new names end with %q", u.Suffix))
	default:
		how = append(how, "new names end with _ and the name of the source")
	}
	for _, column := range slices.Sorted(maps.Keys(u.Set)) {
		how = append(how, "renamed rows have "+column+" = "+u.Set[column])
	}
	return how
}

// howRenumbered says whose rows keep their numbers, and what the others get.
func howRenumbered(j *work.Job, t *ledger.SourceTable, u *plan.Unique, column string) string {
	least, most := u.NumberBounds(j.Engine.Kind, t.Table.Column(column))
	return fmt.Sprintf("rows of the first of %s keep their numbers; where one of a later source is not free, its rows get the lowest free ones from %d to %d",
		strings.Join(j.Plan.Preferred(t.Table, u), ", "), least, most)
}

// merged reports rows of a source table that were merged into others.
func merged(p *plan.Plan, t *ledger.SourceTable, n int64) report.Clash {
	row := report.Clash{Table: t.Table.Name, Source: t.Source, Rows: n}
	for _, u := range t.Table.Unique {
		if u.Rule != plan.RuleKeep && u.Rule != plan.RuleMatch {
			continue
		}
		row.Unique = append(row.Unique, u.Columns)
		if row.Rule = u.Rule; len(row.How) == 0 {
			row.How = append(row.How, "the row of the first of "+strings.Join(p.Preferred(t.Table, u), ", ")+" stays, and references lead to it")
		}
	}
	for _, c := range t.Table.Columns {
		switch {
		case c.Combine.IsExpression():
			row.How = append(row.How, c.Name+" = "+string(c.Combine))
		case c.Combine != plan.CombineKeep:
			row.How = append(row.How, c.Name+": "+string(c.Combine))
		}
	}
	return row
}

// idleAfter is how long nothing may be committed for before the time counts as [report.Phase.Idle].
const idleAfter = 5 * time.Minute

// durations reports how long the phases took.
func durations(ctx context.Context, v *verifying, l ledger.Ledger) error {
	at, ended, err := l.Span(ctx, v.ID)
	if err != nil {
		return err
	}
	var all []report.Phase
	last := func() *report.Phase { return &all[len(all)-1] }
	until := func(end time.Time) {
		if idle := end.Sub(at); idle > idleAfter {
			last().Idle += idle
		}
		if end.After(at) { // or the clock was set back
			at = end
		}
		last().Ended = at
	}
	err = l.EachMoment(ctx, v.ID, func(m ledger.Moment) {
		if len(all) == 0 || last().Name != m.Phase {
			all = append(all, report.Phase{Name: m.Phase, Began: at})
		}
		until(m.At)
		last().Rows += m.Rows
	})
	if err == nil && len(all) > 0 && !ended.IsZero() {
		until(ended)
	}
	v.report.Phases = all
	return err
}

// verified returns the report of the verification after which the statements of the plan began, or nil if they have
// not.
func verified(ctx context.Context, j *work.Job, target *chunk.Session) (*report.Report, error) {
	text, err := ledger.Statements{Ledger: ledger.Of(target), Run: j.ID}.Report(ctx)
	if err != nil || text == "" {
		return nil, err
	}
	found := &report.Report{}
	if err := json.Unmarshal([]byte(text), found); err != nil {
		return nil, fmt.Errorf("read the report of the ledger: %w", err)
	}
	return found, nil
}
