package schema

import "context"

// readPostgres reads pg_catalog of a PostgreSQL server.
func (r *reader) readPostgres(ctx context.Context) {
	r.each(ctx, "SELECT split_part(current_setting('server_version'), ' ', 1)", func(v row) { r.Product, r.Version = "PostgreSQL", v.text(0) })
	r.each(ctx, `SELECT k.relname::text, COALESCE(pg_get_partkeydef(k.oid), ''), s.rows::bigint, s.bytes
		FROM pg_class k CROSS JOIN LATERAL (
			SELECT sum(greatest(p.reltuples, 0)) AS rows, sum(pg_total_relation_size(p.oid)) AS bytes FROM pg_class p
			WHERE p.oid = k.oid OR k.relkind = 'p' AND p.oid IN (SELECT relid FROM pg_partition_tree(k.oid))
		) s WHERE k.relnamespace = current_schema()::regnamespace AND k.relkind IN ('r', 'p') AND NOT k.relispartition ORDER BY k.relname COLLATE "C"`, func(v row) {
		r.Tables = append(r.Tables, &Table{Name: v.text(0), Partition: v.text(1), Rows: v.number(2), Bytes: v.number(3)})
	})
	// A default may use a sequence that belongs to no column, as Hibernate makes them.
	r.ofTables(ctx, `SELECT k.relname::text, a.attname::text, format_type(COALESCE(b.base, a.atttypid), CASE WHEN b.base IS NULL THEN a.atttypmod END), CASE WHEN t.typtype = 'd' THEN t.typname::text ELSE '' END,
			CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) ELSE '' END, a.attidentity::text, q.name, q.owned, q.seq
		FROM pg_class k JOIN pg_attribute a ON a.attrelid = k.oid JOIN pg_type t ON t.oid = a.atttypid
			LEFT JOIN pg_attrdef d ON d.adrelid = k.oid AND d.adnum = a.attnum
			LEFT JOIN LATERAL (SELECT CASE WHEN t.typtype = 'd' THEN t.typbasetype END AS base) b ON true
			LEFT JOIN LATERAL (
				SELECT s.relname::text AS name, s.oid AS seq,
					EXISTS (SELECT 1 FROM pg_depend o WHERE o.classid = 'pg_class'::regclass AND o.objid = s.oid AND o.refobjid = k.oid AND o.refobjsubid = a.attnum AND o.deptype IN ('a', 'i')) AS owned
				FROM pg_class s WHERE s.relkind = 'S' AND (
					EXISTS (SELECT 1 FROM pg_depend p WHERE p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid AND p.refclassid = 'pg_class'::regclass AND p.refobjid = s.oid)
					OR a.attidentity <> '' AND EXISTS (SELECT 1 FROM pg_depend o WHERE o.classid = 'pg_class'::regclass AND o.objid = s.oid AND o.refobjid = k.oid AND o.refobjsubid = a.attnum AND o.deptype = 'i'))
				LIMIT 1
			) q ON true
		WHERE k.relnamespace = current_schema()::regnamespace AND k.relkind IN ('r', 'p') AND NOT k.relispartition AND a.attnum > 0 AND NOT a.attisdropped
		ORDER BY k.relname COLLATE "C", a.attnum`, func(t *Table, v row) {
		c := Column{Name: v.text(1), Type: v.text(2), Domain: v.text(3), Generated: v.text(4)}
		t.Columns = append(t.Columns, c)
		if v.text(6) == "" {
			return
		}
		kind := "serial"
		switch v.text(5) {
		case "a":
			kind = "identity always"
		case "d":
			kind = "identity"
		}
		t.Counted = append(t.Counted, Counter{Column: c.Name, Kind: kind, Sequence: v.text(6), Owned: v.is(7), id: v.text(8)})
	})
	r.ofTables(ctx, `SELECT e.relname::text, k.relname::text FROM pg_inherits h JOIN pg_class e ON e.oid = h.inhparent JOIN pg_class k ON k.oid = h.inhrelid
		WHERE e.relnamespace = current_schema()::regnamespace AND e.relkind = 'r' AND k.relkind = 'r' ORDER BY 1, 2`, func(t *Table, v row) {
		t.Heirs = append(t.Heirs, v.text(1))
		if heir := r.Table(v.text(1)); heir != nil {
			heir.Elder = t.Name
		}
	})
	r.each(ctx, `SELECT 'trigger', g.tgname::text, k.relname::text, p.prosrc FROM pg_trigger g JOIN pg_class k ON k.oid = g.tgrelid JOIN pg_proc p ON p.oid = g.tgfoid
			WHERE NOT g.tgisinternal AND k.relnamespace = current_schema()::regnamespace
		UNION ALL SELECT CASE relkind WHEN 'v' THEN 'view' ELSE 'materialized view' END, relname::text, NULL, pg_get_viewdef(oid) FROM pg_class
			WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('v', 'm')
		UNION ALL SELECT CASE prokind WHEN 'p' THEN 'procedure' ELSE 'function' END, proname::text, NULL, pg_get_functiondef(p.oid) FROM pg_proc p
			WHERE pronamespace = current_schema()::regnamespace AND prokind IN ('f', 'p')
				AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e') ORDER BY 1, 2`, r.object)
	r.ofTables(ctx, `SELECT k.relname::text, c.conname::text, n.nspname || '.' || o.relname, false, (SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = k.oid AND a.attnum = c.conkey[1])
		FROM pg_constraint c JOIN pg_class k ON k.oid = c.conrelid JOIN pg_class o ON o.oid = c.confrelid JOIN pg_namespace n ON n.oid = o.relnamespace
		WHERE c.contype = 'f' AND k.relnamespace = current_schema()::regnamespace AND o.relnamespace <> k.relnamespace
		UNION ALL SELECT o.relname::text, c.conname::text, n.nspname || '.' || k.relname, true, (SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = o.oid AND a.attnum = c.confkey[1])
		FROM pg_constraint c JOIN pg_class k ON k.oid = c.conrelid JOIN pg_class o ON o.oid = c.confrelid JOIN pg_namespace n ON n.oid = k.relnamespace
		WHERE c.contype = 'f' AND o.relnamespace = current_schema()::regnamespace AND o.relnamespace <> k.relnamespace ORDER BY 1, 3, 2`, func(t *Table, v row) {
		t.Outside = append(t.Outside, Outside{Name: v.text(1), Other: v.text(2), Columns: []string{v.text(4)}, Inward: v.is(3)})
	})
	r.serverPostgres(ctx)
}
