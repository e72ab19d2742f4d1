package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// A sequence is one that numbers a column.
type sequence struct {
	Oid, SQL, Type                  string
	Start, Increment, Max, Min, Own string // Own is true if the column owns it
	Cache                           string
	Cycle                           bool
	Comment                         string
}

// sequences are the ones that a column owns, or that its default uses.
func sequences(ctx context.Context, q querier, t *table, a *attribute) ([]sequence, error) {
	return query[sequence](ctx, q, fmt.Sprintf(`SELECT s.seqrelid::text AS "Oid", %[3]s AS "SQL", pg_catalog.format_type(s.seqtypid, NULL) AS "Type",
			s.seqstart::text AS "Start", s.seqincrement::text AS "Increment", s.seqmax::text AS "Max", s.seqmin::text AS "Min", s.seqcache::text AS "Cache",
			s.seqcycle AS "Cycle", COALESCE(obj_description(s.seqrelid, 'pg_class'), '') AS "Comment", o.own::text AS "Own"
		FROM pg_catalog.pg_sequence s JOIN (
			SELECT objid AS oid, true AS own FROM pg_catalog.pg_depend WHERE classid = 'pg_catalog.pg_class'::regclass AND refclassid = 'pg_catalog.pg_class'::regclass
				AND refobjid = %[1]s AND refobjsubid = %[2]d AND deptype IN ('a', 'i')
			UNION SELECT d.refobjid, false FROM pg_catalog.pg_attrdef f JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_attrdef'::regclass AND d.objid = f.oid
				AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid <> f.adrelid WHERE f.adrelid = %[1]s AND f.adnum = %[2]d
		) o ON o.oid = s.seqrelid ORDER BY o.own DESC, s.seqrelid`, t.oid, a.Num, relation("s.seqrelid")))
}

// moveCounter gives the second column the default or identity of the other one, before the two change names.
func moveCounter(ctx context.Context, tx *sql.Tx, t *table, p pair) error {
	all, err := sequences(ctx, tx, t, p.live)
	if err != nil {
		return err
	}
	column := "ALTER TABLE " + t.sql + " ALTER COLUMN "
	if p.live.Identity != "" && len(all) > 0 {
		return moveIdentity(ctx, tx, t, p, all[0])
	}
	if p.live.Default != "" {
		if err := execute(ctx, tx, column+quote(p.spare)+" SET DEFAULT "+p.live.Default, column+quote(p.live.Name)+" DROP DEFAULT"); err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	for _, s := range all {
		if seen[s.Oid] {
			continue
		}
		seen[s.Oid] = true
		if s.Own == "true" {
			if err := execute(ctx, tx, fmt.Sprintf("ALTER SEQUENCE %s OWNED BY %s.%s", s.SQL, t.sql, quote(p.spare))); err != nil {
				return err
			}
		}
		// A sequence of several tables stays as wide as the widest.
		if s.Own == "true" || p.wide {
			if err := execute(ctx, tx, "ALTER SEQUENCE "+s.SQL+" AS "+p.to); err != nil {
				return err
			}
		}
	}
	return nil
}

// moveIdentity makes the second column an identity with a sequence of the same name, state and rights. PostgreSQL
// cannot hand one over.
func moveIdentity(ctx context.Context, tx *sql.Tx, t *table, p pair, s sequence) error {
	// Nobody takes a number from the sequence after that, until the end of the transaction.
	if err := execute(ctx, tx, "ALTER SEQUENCE "+s.SQL+" CACHE "+s.Cache); err != nil {
		return err
	}
	last, err := one(ctx, tx, "SELECT last_value || ', ' || is_called FROM "+s.SQL)
	if err != nil {
		return err
	}
	rights, err := query[struct{ S string }](ctx, tx, `SELECT format('GRANT %s ON SEQUENCE %s TO %s%s', x.privilege_type, `+literal(s.SQL)+`,
			CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_catalog.pg_get_userbyid(x.grantee)) END, CASE WHEN x.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) AS "S"
		FROM pg_catalog.pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) x WHERE c.oid = `+s.Oid)
	if err != nil {
		return err
	}
	// A bound that is the end of the narrow type becomes the end of the other.
	bounds := " MINVALUE " + s.Min + " MAXVALUE " + s.Max
	switch descends := strings.HasPrefix(s.Increment, "-"); {
	case !descends && isEnd(s.Max):
		bounds = " MINVALUE " + s.Min + " NO MAXVALUE"
	case descends && isEnd(s.Min):
		bounds = " NO MINVALUE MAXVALUE " + s.Max
	}
	cycle := " NO CYCLE"
	if s.Cycle {
		cycle = " CYCLE"
	}
	when := "BY DEFAULT"
	if p.live.Identity == "a" {
		when = "ALWAYS"
	}
	column := "ALTER TABLE " + t.sql + " ALTER COLUMN "
	statements := []string{
		column + quote(p.live.Name) + " DROP IDENTITY",
		column + quote(p.spare) + " ADD GENERATED " + when + " AS IDENTITY (SEQUENCE NAME " + s.SQL + " INCREMENT BY " + s.Increment +
			bounds + " START WITH " + s.Start + " CACHE " + s.Cache + cycle + ")",
		"SELECT pg_catalog.setval(" + literal(s.SQL) + "::regclass, " + last + ")",
	}
	for _, r := range rights {
		statements = append(statements, r.S)
	}
	if s.Comment != "" {
		statements = append(statements, "COMMENT ON SEQUENCE "+s.SQL+" IS "+literal(s.Comment))
	}
	return execute(ctx, tx, statements...)
}

// isEnd reports whether a bound is the end of a type of integers.
func isEnd(bound string) bool {
	switch bound {
	case "32767", "2147483647", "9223372036854775807", "-32768", "-2147483648", "-9223372036854775808":
		return true
	}
	return false
}
