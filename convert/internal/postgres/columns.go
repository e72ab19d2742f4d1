package postgres

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
)

// addColumns adds the second columns and the trigger, in one transaction.
func addColumns(p *plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		t, err := read(ctx, r.DB, p)
		if err != nil || t.isSwapped() || t.isWide() {
			return err
		}
		return alone(ctx, r, t, func(tx *sql.Tx) error {
			pairs, err := t.pairs()
			if err != nil {
				return err
			}
			for _, p := range pairs {
				switch spare := t.column(p.spare); {
				case spare != nil && spare.Type != wideType:
					return &Fault{t.Name, fmt.Sprintf("it has a column %q of type %s, which is not from this conversion", p.spare, spare.Type)}
				case spare != nil:
				default:
					if err := execute(ctx, tx, fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s %s", t.sql, quote(p.spare), wideType)); err != nil {
						return err
					}
				}
				if err := copyAttributes(ctx, tx, t, p.live.Name, p.spare); err != nil {
					return err
				}
			}
			return makeTrigger(ctx, tx, t, pairs, false)
		})
	}
}

// verifyColumns looks for the second columns and the trigger.
func verifyColumns(p *plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		t, err := read(ctx, r.DB, p)
		if err != nil || t.isWide() && !t.isSwapped() {
			return err
		}
		pairs, err := t.pairs()
		if err != nil {
			return err
		}
		for _, p := range pairs {
			if t.column(p.spare) == nil {
				return &Fault{t.Name, fmt.Sprintf("it has no column %q", p.spare)}
			}
		}
		if fires, err := hasTrigger(ctx, r.DB, t); err != nil || !fires {
			return or(err, &Fault{t.Name, fmt.Sprintf("trigger %q is not there, or does not fire for all sessions", triggerName)})
		}
		return nil
	}
}

// dropColumns takes the second columns back, with all that is on them.
func dropColumns(p *plan.Table) func(context.Context, *job.Run) error {
	return func(ctx context.Context, r *job.Run) error {
		t, err := read(ctx, r.DB, p)
		if err != nil {
			return err
		}
		if t.isSwapped() {
			return &Fault{t.Name, "the columns have changed names: take the swap back before"}
		}
		return alone(ctx, r, t, func(tx *sql.Tx) error {
			if err := dropTrigger(ctx, tx, t); err != nil {
				return err
			}
			return dropAll(ctx, tx, t, func(c *plan.Column) string { return spareName(c.Name) })
		})
	}
}

// dropAll drops columns that the conversion has added or left. No other table refers to them any more.
func dropAll(ctx context.Context, tx *sql.Tx, t *table, name func(*plan.Column) string) error {
	for _, c := range t.Columns {
		if err := execute(ctx, tx, "ALTER TABLE "+t.sql+" DROP COLUMN IF EXISTS "+quote(name(c))); err != nil {
			return err
		}
	}
	return nil
}

// copyAttributes gives a column what another has beside its values: rights, comment, settings of statistics.
func copyAttributes(ctx context.Context, tx *sql.Tx, t *table, from, to string) error {
	statements, err := query[struct{ S string }](ctx, tx, fmt.Sprintf(`
		SELECT format('GRANT %%s (%%I) ON %[1]s TO %%s%%s', x.privilege_type, %[3]s::text, CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_catalog.pg_get_userbyid(x.grantee)) END,
			CASE WHEN x.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) AS "S"
		FROM pg_catalog.pg_attribute a CROSS JOIN LATERAL aclexplode(a.attacl) x WHERE a.attrelid = %[4]s AND a.attname = %[2]s
		UNION ALL SELECT format('COMMENT ON COLUMN %[1]s.%%I IS %%L', %[3]s::text, col_description(a.attrelid, a.attnum))
		FROM pg_catalog.pg_attribute a WHERE a.attrelid = %[4]s AND a.attname = %[2]s AND col_description(a.attrelid, a.attnum) IS NOT NULL
		UNION ALL SELECT format('ALTER TABLE %[1]s ALTER COLUMN %%I SET STATISTICS %%s', %[3]s::text, a.attstattarget)
		FROM pg_catalog.pg_attribute a WHERE a.attrelid = %[4]s AND a.attname = %[2]s AND a.attstattarget >= 0
		UNION ALL SELECT format('ALTER TABLE %[1]s ALTER COLUMN %%I SET (%%s)', %[3]s::text, (SELECT string_agg(o, ', ') FROM unnest(a.attoptions) o WHERE o NOT LIKE 'pg\_%%'))
		FROM pg_catalog.pg_attribute a WHERE a.attrelid = %[4]s AND a.attname = %[2]s AND EXISTS (SELECT FROM unnest(a.attoptions) o WHERE o NOT LIKE 'pg\_%%')`,
		escape(t.sql), literal(from), literal(to), t.oid))
	if err != nil {
		return err
	}
	for _, s := range statements {
		if err := execute(ctx, tx, s.S); err != nil {
			return err
		}
	}
	return nil
}
