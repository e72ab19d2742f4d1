package postgres

import (
	"context"
	"fmt"
)

// viewTree are the views that read columns that change, and the views that read these.
func viewTree(tables []*table) string {
	return `WITH RECURSIVE tree(oid, depth) AS (
		SELECT w.ev_class, 1 FROM pg_catalog.pg_rewrite w JOIN pg_catalog.pg_class c ON c.oid = w.ev_class
		WHERE c.relkind IN ('v', 'm') AND w.oid IN ` + uses("pg_rewrite", tables) + `
		UNION SELECT w.ev_class, t.depth + 1 FROM tree t JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = t.oid
			AND d.classid = 'pg_catalog.pg_rewrite'::regclass
			JOIN pg_catalog.pg_rewrite w ON w.oid = d.objid AND w.ev_class <> t.oid JOIN pg_catalog.pg_class c ON c.oid = w.ev_class AND c.relkind IN ('v', 'm')
	), ordered AS (SELECT oid, max(depth) AS depth FROM tree GROUP BY oid)`
}

// views are the views of the tree, the ones that read tables first.
func views(ctx context.Context, q querier, tables []*table) ([]dependent, error) {
	name := "quote_ident(n.nspname) || '.' || quote_ident(c.relname)"
	kind := "CASE c.relkind WHEN 'm' THEN 'MATERIALIZED VIEW ' ELSE 'VIEW ' END"
	grantee := "CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_catalog.pg_get_userbyid(x.grantee)) END || CASE WHEN x.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END"
	return query[dependent](ctx, q, fmt.Sprintf(`%[1]s
		SELECT 'view ' || c.relname AS "What", 'DROP ' || %[3]s || %[2]s AS "Drop",
			ARRAY[format('CREATE %%s%%s%%s AS %%s%%s', %[3]s, %[2]s, COALESCE(' WITH (' || array_to_string(c.reloptions, ', ') || ')', ''),
				rtrim(pg_catalog.pg_get_viewdef(c.oid), ';'), CASE WHEN c.relkind = 'm' AND NOT c.relispopulated THEN ' WITH NO DATA' ELSE '' END)]
			|| ARRAY(SELECT pg_catalog.pg_get_indexdef(x.indexrelid) FROM pg_catalog.pg_index x WHERE x.indrelid = c.oid ORDER BY x.indexrelid)
			|| ARRAY(SELECT format('ALTER VIEW %%s ALTER COLUMN %%I SET DEFAULT %%s', %[2]s, a.attname, pg_catalog.pg_get_expr(f.adbin, f.adrelid))
				FROM pg_catalog.pg_attrdef f JOIN pg_catalog.pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum WHERE f.adrelid = c.oid)
			|| ARRAY(SELECT pg_catalog.pg_get_ruledef(w.oid) FROM pg_catalog.pg_rewrite w WHERE w.ev_class = c.oid AND w.rulename <> '_RETURN')
			|| ARRAY(SELECT pg_catalog.pg_get_triggerdef(g.oid) FROM pg_catalog.pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal)
			|| ARRAY(SELECT format('COMMENT ON COLUMN %%s.%%I IS %%L', %[2]s, a.attname, col_description(c.oid, a.attnum))
				FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND col_description(c.oid, a.attnum) IS NOT NULL)
			|| array_remove(ARRAY[%[4]s], NULL)
			|| CASE WHEN c.relacl IS NULL THEN '{}' ELSE ARRAY[
				-- Default privileges may have given others rights on the new view.
				format('DO $snow$ DECLARE r record; BEGIN FOR r IN SELECT DISTINCT x.grantee FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) x WHERE c.oid = %%L::regclass LOOP
					EXECUTE ''REVOKE ALL ON %%s FROM '' || CASE r.grantee WHEN 0 THEN ''PUBLIC'' ELSE quote_ident(pg_catalog.pg_get_userbyid(r.grantee)) END; END LOOP; END $snow$', %[2]s, replace(%[2]s, '''', ''''''))] END
			|| ARRAY(SELECT format('GRANT %%s ON %%s TO %%s', x.privilege_type, %[2]s, %[5]s) FROM aclexplode(c.relacl) x)
			|| ARRAY(SELECT format('GRANT %%s (%%I) ON %%s TO %%s', x.privilege_type, a.attname, %[2]s, %[5]s)
				FROM pg_catalog.pg_attribute a CROSS JOIN LATERAL aclexplode(a.attacl) x WHERE a.attrelid = c.oid AND a.attnum > 0)
			|| CASE WHEN pg_catalog.pg_get_userbyid(c.relowner) = current_user THEN '{}' ELSE ARRAY[format('ALTER %%s%%s OWNER TO %%I', %[3]s, %[2]s, pg_catalog.pg_get_userbyid(c.relowner))] END AS "Create"
		FROM ordered o JOIN pg_catalog.pg_class c ON c.oid = o.oid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace ORDER BY o.depth, c.oid`,
		viewTree(tables), name, kind, comment("c.oid", "pg_class", "' || "+kind+" || '", name), grantee))
}
