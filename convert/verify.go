package convert

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// Verify compares the database with what it should be in this phase, and returns what is not: columns that are narrow,
// references that lead nowhere and did lead somewhere before, copies that differ from what is kept of old, counters and
// ids that are among the snow ids, and what the steps of this phase have made.
//
// It only reads, and programs may go on. It reads whole tables, in one transaction for each.
func (c *Conversion) Verify(ctx context.Context) ([]report.Fault, error) {
	v := &verification{d: c.job.Dialect, plan: c.plan, job: &c.job}
	if err := v.all(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
			err = fmt.Errorf("%w: %w", cause, err)
		}
		return nil, fmt.Errorf("convert: verify: %w", err)
	}
	return v.faults, nil
}

// A verification collects faults.
type verification struct {
	d      sqldialect.Dialect
	plan   *plan.Plan
	job    *job.Job
	status *report.Status
	phase  job.Phase // the last one that is complete
	s      *sql.Conn
	faults []report.Fault

	types map[string]map[string]string // of columns, by table
}

func (v *verification) all(ctx context.Context) (err error) {
	if v.status, err = v.job.Status(ctx); err != nil {
		return err
	}
	v.phase = job.Complete(v.status)
	if v.s, err = v.job.DB.Conn(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.s.Close()) }()
	for _, look := range []func(context.Context) error{v.columns, v.narrow, v.references, v.kept, v.ids, v.counters, v.left, v.steps} {
		if err := look(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (v *verification) fault(table, column, what, remedy string) {
	v.faults = append(v.faults, report.Fault{Table: table, Column: column, What: what, Remedy: remedy})
}

// columns looks at the types of the plan's columns.
func (v *verification) columns(ctx context.Context) error {
	v.types = map[string]map[string]string{}
	for _, t := range v.plan.Tables {
		types, err := v.typesOf(ctx, t.Name)
		if err != nil {
			return fmt.Errorf("read the columns of %q: %w", t.Name, err)
		}
		v.types[t.Name] = types
		if len(types) == 0 {
			v.fault(t.Name, "", "the table does not exist", "make a new plan if it was dropped on purpose")
			continue
		}
		for _, c := range t.Columns {
			is, ok := types[c.Name]
			switch {
			case !ok:
				v.fault(t.Name, c.Name, "the column does not exist", "make a new plan if it was dropped on purpose")
			case v.phase >= job.Widen && (!plan.IsWide(is) || isUnsigned(is) != isUnsigned(c.To)):
				v.fault(t.Name, c.Name, fmt.Sprintf("its type is %s, and not %s", is, c.To), "change it to "+c.To+", as it was after phase widen")
			}
		}
	}
	return nil
}

// narrow looks for declared references that the plan does not have, such as of tables that were made since.
func (v *verification) narrow(ctx context.Context) error {
	if v.phase < job.Widen {
		return nil
	}
	links, err := v.links(ctx)
	if err != nil {
		return fmt.Errorf("read the foreign keys: %w", err)
	}
	for _, l := range links {
		parent := v.plan.Table(l.parent)
		if parent == nil || parent.Key != l.key || plan.IsWide(l.kind) || plan.Wide(l.kind) == "" {
			continue
		}
		if t := v.plan.Table(l.table); t != nil && t.Column(l.column) != nil {
			continue // it is a fault already
		}
		v.fault(l.table, l.column, fmt.Sprintf("its type is %s, and it refers to %s.%s, which gets ids of 64 bits", l.kind, l.parent, l.key),
			"change it to "+plan.Wide(l.kind))
	}
	return nil
}

// steps lets the steps of the last complete phase look again.
func (v *verification) steps(ctx context.Context) error {
	found, err := v.job.Look(ctx, v.status)
	for _, f := range found {
		v.fault(f.Step.Table, "", f.Err.Error(), fmt.Sprintf("take step %q back, and run it again", f.Step.Name))
	}
	return err
}

func (v *verification) count(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = v.s.QueryRowContext(ctx, query, args...).Scan(&n)
	return n, err
}

// pairs returns rows of two texts.
func (v *verification) pairs(ctx context.Context, query string, args ...any) (pairs [][2]string, err error) {
	rows, err := v.s.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p [2]string
		if err := rows.Scan(&p[0], &p[1]); err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	return pairs, rows.Err()
}
