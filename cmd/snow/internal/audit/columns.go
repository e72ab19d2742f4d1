package audit

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/idcolumn"
)

// columns finds columns that make up numbers, counters near their end, and keys and references that are too narrow.
// There is at most one finding for a column.
func (a *audit) columns(ctx context.Context, t *table, now time.Time) error {
	for _, c := range t.columns {
		f := Finding{Table: t.label, Column: c.Name, Severity: Warning}
		var problems []string
		say := func(s Severity, problem string) {
			if problems = append(problems, problem); s == Error {
				f.Severity = Error
			}
		}
		change := change{table: t, column: c, counts: c.Auto != ""}
		if counter := t.counters[c.Name]; counter != nil {
			f.Counter = counter.shown(now)
			if f.Counter.Percent >= near {
				severity := Error
				if counter.reserved {
					severity = Warning
				}
				say(severity, counter.tell(f.Counter))
				change.ends = counter
			}
		}
		if c.Auto != "" {
			severity, problem := Warning, "the table makes up its own numbers where an id is missing: it is "+c.Auto
			switch {
			case t.hasIDs:
				severity, problem = Error, problem+", and it counts on from the largest id"
			case f.Counter != nil && change.ends == nil:
				problem += "; " + f.Counter.String()
			}
			say(severity, problem)
			change.counts = !t.hasIDs && change.ends != nil // programs that make no ids yet need the counter
		}
		narrow, _ := c.Refuse(idcolumn.Number)
		to, refers := a.refersTo(t, c)
		switch {
		case refers && to.key.Kind == idcolumn.Text: // the referenced key is no number
		case refers:
			if counter := a.reaches(to, c); counter != nil {
				f.Counter = counter.shown(now)
				if f.Counter.Percent >= near {
					say(Error, "it ends before the numbers of "+to.label+"."+to.key.Name+", which it refers to: "+f.Counter.String())
					change.widens = true
				} else {
					f.Counter = nil
				}
			}
			if narrow != "" && (change.widens || to.hasIDs || !changesWith(c, to)) {
				severity := Warning
				if to.hasIDs {
					severity = Error
				}
				say(severity, narrow+"; "+to.by+" "+to.label+"."+to.key.Name)
				change.widens = true
			}
		case isKey(t, c) && c.Kind == idcolumn.Integer && narrow != "":
			if r := a.namesOf(t.schema).column(t, c).Reading; c.Auto == "" && r.Quantity {
				break // a time or the like
			}
			change.namesakes = a.namesOf(t.schema).namesakes[t][c.Name]
			switch n := len(change.namesakes); {
			case n == 1:
				narrow += "; " + change.namesakes[0].String() + " refers to it by its name"
			case n > 1:
				narrow += fmt.Sprintf("; %d columns refer to it by their names, such as %s", n, change.namesakes[0])
			}
			say(Warning, narrow)
			change.widens = true
		}
		if len(problems) == 0 {
			continue
		}
		f.Problem = strings.Join(problems, "; ")
		var err error
		if f.Remedy, f.Statements, err = a.remedy(ctx, change); err != nil {
			return err
		}
		a.add(f)
	}
	return nil
}

// isKey reports whether a column alone is the primary key, or makes up numbers.
func isKey(t *table, c idcolumn.Column) bool {
	return c.Auto != "" || len(t.key) == 1 && strings.EqualFold(t.key[0], c.Name)
}

// changesWith reports whether the remedy of a key also changes a column that refers to it.
func changesWith(c idcolumn.Column, to target) bool {
	narrow, _ := to.key.Refuse(idcolumn.Number)
	return narrow != "" && c.Kind == idcolumn.Integer && c.Auto == ""
}

// reaches returns the counter of a key as far as a column can follow that refers to it, or nil if it can follow to
// the end.
func (a *audit) reaches(to target, c idcolumn.Column) *counter {
	counter := to.counters[to.key.Name]
	if counter == nil || counter.down || to.hasIDs || c.Kind != idcolumn.Integer {
		return nil
	}
	most := new(big.Int).SetUint64(c.Most())
	if counter.most.Cmp(most) <= 0 {
		return nil
	}
	shorter := *counter
	shorter.most = most
	return &shorter
}
