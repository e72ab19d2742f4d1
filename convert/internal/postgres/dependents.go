package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// A dependent is something that names a column by its number, and so would stay with the old column in a swap. It is
// dropped before and made anew after, by the text that PostgreSQL gives for it. The text has names, not numbers.
type dependent struct {
	What   string // for people
	Drop   string
	Create []string
}

// moved is a table of the columns that change, as SQL.
func moved(tables []*table) string {
	var rows []string
	for _, t := range tables {
		for _, c := range t.Columns {
			if a := t.column(c.Name); a != nil {
				rows = append(rows, fmt.Sprintf("(%s::oid, %d)", t.oid, a.Num))
			}
		}
		for _, a := range t.generated() {
			rows = append(rows, fmt.Sprintf("(%s::oid, %d)", t.oid, a.Num))
		}
	}
	return "(VALUES " + strings.Join(rows, ", ") + ") AS m(rel, num)"
}

// uses are the objects of a catalogue that depend on columns that change.
func uses(catalog string, tables []*table) string {
	return fmt.Sprintf(`(SELECT DISTINCT d.objid FROM pg_catalog.pg_depend d JOIN %s ON d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = m.rel AND d.refobjsubid = m.num
		WHERE d.classid = 'pg_catalog.%s'::regclass)`, moved(tables), catalog)
}

// relation is the name of a table as SQL.
func relation(oid string) string {
	return "(SELECT format('%I.%I', rn.nspname, rc.relname) FROM pg_catalog.pg_class rc JOIN pg_catalog.pg_namespace rn ON rn.oid = rc.relnamespace WHERE rc.oid = " + oid + ")"
}

// comment is a statement for the comment of an object; NULL if it has none.
func comment(oid, catalog, kind, name string) string {
	return fmt.Sprintf("'COMMENT ON %s ' || %s || ' IS ' || quote_literal(obj_description(%s, '%s'))", kind, name, oid, catalog)
}

// state is a statement that makes a trigger or rule fire as it did; NULL if it fires as one that is new.
func state(of, kind, name, enabled string) string {
	return fmt.Sprintf("'ALTER TABLE ' || %s || CASE %s WHEN 'D' THEN ' DISABLE' WHEN 'R' THEN ' ENABLE REPLICA' WHEN 'A' THEN ' ENABLE ALWAYS' END || ' %s ' || quote_ident(%s)", of, enabled, kind, name)
}

// dependents are all policies, triggers, rules, statistics, publications and views that must be made anew.
func dependents(ctx context.Context, tx *sql.Tx, tables []*table) ([]dependent, error) {
	policyOn, triggerOn, ruleOn, tableOf := relation("p.polrelid"), relation("g.tgrelid"), relation("w.ev_class"), relation("b.prrelid")
	statistics := "quote_ident(n.nspname) || '.' || quote_ident(s.stxname)"
	all, err := query[dependent](ctx, tx, `
		SELECT 'policy ' || p.polname AS "What", format('DROP POLICY %I ON %s', p.polname, `+policyOn+`) AS "Drop", array_remove(ARRAY[
			format('CREATE POLICY %I ON %s AS %s FOR %s TO %s', p.polname, `+policyOn+`, CASE WHEN p.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
				CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
				(SELECT string_agg(CASE x WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_catalog.pg_get_userbyid(x)) END, ', ') FROM unnest(p.polroles) x))
			|| COALESCE(' USING (' || pg_catalog.pg_get_expr(p.polqual, p.polrelid) || ')', '') || COALESCE(' WITH CHECK (' || pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) || ')', ''),
			`+comment("p.oid", "pg_policy", "POLICY", "quote_ident(p.polname) || ' ON ' || "+policyOn)+`], NULL) AS "Create"
		FROM pg_catalog.pg_policy p WHERE p.oid IN `+uses("pg_policy", tables)+`
		UNION ALL SELECT 'trigger ' || g.tgname, format('DROP TRIGGER %I ON %s', g.tgname, `+triggerOn+`), array_remove(ARRAY[pg_catalog.pg_get_triggerdef(g.oid),
			`+state(triggerOn, "TRIGGER", "g.tgname", "g.tgenabled")+`, `+comment("g.oid", "pg_trigger", "TRIGGER", "quote_ident(g.tgname) || ' ON ' || "+triggerOn)+`], NULL)
		FROM pg_catalog.pg_trigger g WHERE NOT g.tgisinternal AND g.tgname <> `+literal(triggerName)+` AND g.oid IN `+uses("pg_trigger", tables)+`
		UNION ALL SELECT 'rule ' || w.rulename, format('DROP RULE %I ON %s', w.rulename, `+ruleOn+`), array_remove(ARRAY[pg_catalog.pg_get_ruledef(w.oid),
			`+state(ruleOn, "RULE", "w.rulename", "w.ev_enabled")+`, `+comment("w.oid", "pg_rewrite", "RULE", "quote_ident(w.rulename) || ' ON ' || "+ruleOn)+`], NULL)
		FROM pg_catalog.pg_rewrite w JOIN pg_catalog.pg_class c ON c.oid = w.ev_class WHERE c.relkind IN ('r', 'p') AND w.oid IN `+uses("pg_rewrite", tables)+`
		UNION ALL SELECT 'statistics ' || s.stxname, 'DROP STATISTICS ' || `+statistics+`, array_remove(ARRAY[pg_catalog.pg_get_statisticsobjdef(s.oid),
			'ALTER STATISTICS ' || `+statistics+` || ' SET STATISTICS ' || NULLIF(s.stxstattarget, -1),
			'ALTER STATISTICS ' || `+statistics+` || ' OWNER TO ' || NULLIF(quote_ident(pg_catalog.pg_get_userbyid(s.stxowner)), quote_ident(current_user)),
			`+comment("s.oid", "pg_statistic_ext", "STATISTICS", statistics)+`], NULL)
		FROM pg_catalog.pg_statistic_ext s JOIN pg_catalog.pg_namespace n ON n.oid = s.stxnamespace WHERE s.oid IN `+uses("pg_statistic_ext", tables)+`
		UNION ALL SELECT 'publication ' || p.pubname, format('ALTER PUBLICATION %I DROP TABLE ONLY %s', p.pubname, `+tableOf+`),
			ARRAY[format('ALTER PUBLICATION %I ADD TABLE ONLY %s', p.pubname, `+tableOf+`)
			|| COALESCE(' (' || (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
				WHERE a.attrelid = b.prrelid AND a.attnum = ANY (b.prattrs::int2[])) || ')', '')
			|| COALESCE(' WHERE (' || pg_catalog.pg_get_expr(b.prqual, b.prrelid) || ')', '')]
		FROM pg_catalog.pg_publication_rel b JOIN pg_catalog.pg_publication p ON p.oid = b.prpubid WHERE b.oid IN `+uses("pg_publication_rel", tables)+`
		ORDER BY 1`)
	if err != nil {
		return nil, err
	}
	views, err := views(ctx, tx, tables)
	if err != nil {
		return nil, err
	}
	// Policies and rules may read views: so these go last and come first.
	return append(views, all...), nil
}

// dropDependents drops them, the ones that need others first.
func dropDependents(ctx context.Context, tx *sql.Tx, all []dependent) error {
	for i := len(all) - 1; i >= 0; i-- {
		if err := execute(ctx, tx, all[i].Drop); err != nil {
			return fmt.Errorf("%s: %w", all[i].What, err)
		}
	}
	return nil
}

// createDependents makes them anew.
func createDependents(ctx context.Context, tx *sql.Tx, all []dependent) error {
	for _, d := range all {
		if err := execute(ctx, tx, d.Create...); err != nil {
			return fmt.Errorf("%s: %w", d.What, err)
		}
	}
	return nil
}
