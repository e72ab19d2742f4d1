package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// compare lets the server prove that the two columns are equal in all rows, by a check. It holds from there on for
// all sessions, also for ones that disable triggers. The same check saves SET NOT NULL a scan in the swap.
func compare(p *plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		t, err := read(ctx, r.DB, p)
		if err != nil || t.isSwapped() || t.isWide() {
			return err
		}
		return ensureEqual(ctx, r, t)
	}
}

// rounds is how often rows that differ are filled anew.
const rounds = 5

// ensureEqual fills rows that differ, and proves that none does.
func ensureEqual(ctx context.Context, r *job.Run, t *table) error {
	pairs, err := t.pairs()
	if err != nil {
		return err
	}
	name := equalName(t.name)
	if state, err := constraint(ctx, r.DB, t, name); err != nil || state == "true" {
		return err
	}
	for i := range rounds {
		err := briefly(ctx, r, []string{t.Name}, func(tx *sql.Tx) error {
			if there, err := constraint(ctx, tx, t, name); err != nil || there != "" {
				return err
			}
			if err := lock(ctx, tx, "ACCESS EXCLUSIVE", []string{t.sql}); err != nil {
				return err
			}
			return execute(ctx, tx, fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s) NOT VALID", t.sql, quote(name), equal(pairs)))
		})
		if err != nil {
			return err
		}
		// Rows whose locks the copy did not wait for, and rows of sessions that had disabled the trigger.
		rest, err := one(ctx, r.DB, "SELECT count(*) FROM "+t.sql+" WHERE "+differ(pairs, ""))
		if err != nil {
			return err
		}
		if rest != "0" {
			if err := fill(ctx, r, t, pairs, "", nil); err != nil {
				return err
			}
		}
		err = validate(ctx, r, t.sql, name)
		if err == nil || sqldialect.Code(err) != checkViolation || i == rounds-1 {
			return err
		}
	}
	return nil
}

// equal is the condition of the check.
func equal(pairs []pair) string {
	var all []string
	for _, p := range pairs {
		spare, live := quote(p.spare), quote(p.live.Name)
		if p.live.NotNull {
			all = append(all, fmt.Sprintf("%s IS NOT NULL AND %[1]s OPERATOR(pg_catalog.=) %s", spare, live))
		} else {
			all = append(all, fmt.Sprintf("%s IS NOT DISTINCT FROM %s", spare, live))
		}
	}
	return strings.Join(all, " AND ")
}

// verifyEqual looks whether the check holds.
func verifyEqual(p *plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		t, err := read(ctx, r.DB, p)
		if err != nil || t.isSwapped() || t.isWide() {
			return err
		}
		switch state, err := constraint(ctx, r.DB, t, equalName(t.name)); {
		case err != nil:
			return err
		case state != "true":
			return &Fault{t.Name, "nothing proves that the second columns are equal"}
		}
		return nil
	}
}

// dropEqual takes the check away.
func dropEqual(p *plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		t, err := read(ctx, r.DB, p)
		if err != nil {
			return err
		}
		return alone(ctx, r, t, func(tx *sql.Tx) error {
			return execute(ctx, tx, "ALTER TABLE "+t.sql+" DROP CONSTRAINT IF EXISTS "+quote(equalName(t.name)))
		})
	}
}

// constraint says whether a constraint is valid: true or false, and empty if it does not exist.
func constraint(ctx context.Context, q querier, t *table, name string) (string, error) {
	return one(ctx, q, "SELECT convalidated FROM pg_catalog.pg_constraint WHERE conrelid = "+t.oid+" AND conname = "+literal(name))
}

// validate proves a constraint, while programs write.
func validate(ctx context.Context, r *job.Run, table, name string) error {
	return gently(ctx, r, []string{table}, func(tx *sql.Tx) error {
		return execute(ctx, tx, "ALTER TABLE "+table+" VALIDATE CONSTRAINT "+quote(name))
	})
}
