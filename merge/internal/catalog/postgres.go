package catalog

import (
	"context"
	"errors"
)

// postgresDomain is the type of integers or numbers below the domain that a column is of, or the domain of its array's
// elements, as such columns may hold ids. It is NULL for others.
const postgresDomain = `(WITH RECURSIVE b(oid, typmod, brackets) AS (
		SELECT COALESCE(e.oid, c.oid), a.atttypmod, CASE WHEN e.oid IS NULL THEN '' ELSE '[]' END
		FROM pg_type c LEFT JOIN pg_type e ON e.oid = c.typelem AND e.typarray = c.oid WHERE c.oid = a.atttypid AND 'd' IN (c.typtype, e.typtype)
		UNION ALL SELECT d.typbasetype, d.typtypmod, brackets FROM b JOIN pg_type d ON d.oid = b.oid AND d.typtype = 'd'
	) SELECT format_type(b.oid, typmod) || brackets FROM b WHERE b.oid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'numeric'::regtype))`

// postgresSequences are the columns whose defaults use a sequence.
const postgresSequences = `SELECT q.oid AS seq, k.oid, k.relname, k.relnamespace, a.attnum, a.attname FROM pg_depend p JOIN pg_attrdef d ON p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid
	JOIN pg_class q ON p.refclassid = 'pg_class'::regclass AND q.oid = p.refobjid AND q.relkind = 'S'
	JOIN pg_class k ON k.oid = d.adrelid JOIN pg_attribute a ON a.attrelid = k.oid AND a.attnum = d.adnum`

// postgresExtensions are the statements that make the extensions which columns, their defaults and indexes need.
const postgresExtensions = `WITH RECURSIVE own(classid, objid) AS (
		SELECT 'pg_class'::regclass::oid, k.oid FROM pg_class k WHERE k.relnamespace = {schema}::regnamespace AND k.relkind IN ('r', 'p') AND NOT k.relispartition
	), parts(classid, objid) AS (
		SELECT classid, objid FROM own
		UNION SELECT 'pg_class'::regclass::oid, x.indexrelid FROM pg_index x JOIN own ON own.objid = x.indrelid WHERE NOT x.indisexclusion
		UNION SELECT 'pg_attrdef'::regclass::oid, d.oid FROM pg_attrdef d JOIN own ON own.objid = d.adrelid
	), used(classid, objid) AS (
		SELECT d.refclassid, d.refobjid FROM parts p JOIN pg_depend d ON d.classid = p.classid AND d.objid = p.objid WHERE d.refclassid <> 'pg_class'::regclass
		UNION SELECT d.refclassid, d.refobjid FROM used u JOIN pg_depend d ON d.classid = u.classid AND d.objid = u.objid WHERE d.refclassid NOT IN ('pg_class'::regclass, 'pg_extension'::regclass)
	)
	SELECT DISTINCT 'CREATE EXTENSION IF NOT EXISTS ' || quote_ident(e.extname) || CASE WHEN e.extnamespace = {schema}::regnamespace THEN '' ELSE ' WITH SCHEMA ' || quote_ident(n.nspname) END
	FROM used u JOIN pg_depend x ON x.classid = u.classid AND x.objid = u.objid AND x.deptype = 'e' AND x.refclassid = 'pg_extension'::regclass
		JOIN pg_extension e ON e.oid = x.refobjid JOIN pg_namespace n ON n.oid = e.extnamespace ORDER BY 1`

// readPostgres reads pg_catalog of a PostgreSQL server.
func (r *reader) readPostgres(ctx context.Context) {
	r.each(ctx, "SELECT {schema}", func(v row) {
		if !v[0].Valid {
			r.err = errors.New("the search_path names no schema that is there: set it in the DSN")
		}
	})
	r.readTables(ctx, `SELECT relname::text, CASE relkind WHEN 'v' THEN 'view ' || relname WHEN 'm' THEN 'materialized view ' || relname
				WHEN 'f' THEN 'foreign table ' || relname || ', which is not copied' END, '', obj_description(oid, 'pg_class'),
			CASE relkind WHEN 'p' THEN 'partitioned: Schema makes a table without partitions' END,
			CASE WHEN relrowsecurity THEN 'row level security: the source''s account must be one that it lets see all rows' END
		FROM pg_class WHERE relnamespace = {schema}::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT relispartition
		ORDER BY relname COLLATE "C"`)
	// Tables that inherit from others, which are no partitions.
	r.ofTables(ctx, `WITH RECURSIVE heirs(elder, heir) AS (
			SELECT inhparent, inhrelid FROM pg_inherits UNION SELECT h.elder, i.inhrelid FROM heirs h JOIN pg_inherits i ON i.inhparent = h.heir
		)
		SELECT e.relname::text, k.relname::text FROM heirs h JOIN pg_class e ON e.oid = h.elder JOIN pg_class k ON k.oid = h.heir
		WHERE e.relnamespace = {schema}::regnamespace AND k.relnamespace = e.relnamespace AND e.relkind = 'r' AND k.relkind = 'r' ORDER BY 1, 2`, func(t *Table, v row) {
		if heir := v.text(1); r.Table(heir) != nil {
			t.Heirs = append(t.Heirs, heir)
		}
	})
	r.each(ctx, postgresExtensions, func(v row) { r.Types = append(r.Types, v.text(0)) })
	r.each(ctx, `SELECT 'CREATE TYPE ' || format_type(t.oid, NULL) || ' AS ENUM (' || COALESCE(string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder), '') || ')'
		FROM pg_type t LEFT JOIN pg_enum e ON e.enumtypid = t.oid WHERE t.typnamespace = {schema}::regnamespace AND t.typtype = 'e' GROUP BY t.oid ORDER BY 1`, func(v row) {
		r.Types = append(r.Types, v.text(0))
	})
	// Servers note things of their own among the options of a column, such as pg_attver from 15.20 on: users can
	// set no such option.
	r.readColumns(ctx, `SELECT k.relname::text, a.attname::text, COALESCE(`+postgresDomain+`, format_type(a.atttypid, a.atttypmod)), NOT a.attnotnull,
			CASE WHEN a.attgenerated = '' AND NOT numbered THEN expression END,
			CASE a.attgenerated WHEN '' THEN '' WHEN 'v' THEN '(' || expression || ') VIRTUAL' ELSE '(' || expression || ') STORED' END,
			COALESCE((SELECT quote_ident(l.collname) FROM pg_collation l WHERE l.oid = a.attcollation AND a.attcollation <> t.typcollation), ''),
			a.attgenerated = '' AND numbered, col_description(k.oid, a.attnum),
			concat_ws(' and ', CASE WHEN a.attstorage <> t.typstorage THEN 'storage ' || a.attstorage::text END,
				'compression ' || NULLIF(to_jsonb(a) ->> 'attcompression', ''), 'options ' || NULLIF(ARRAY(SELECT o FROM unnest(a.attoptions) o WHERE o NOT LIKE 'pg\_%'), '{}')::text)
		FROM pg_class k JOIN pg_attribute a ON a.attrelid = k.oid JOIN pg_type t ON t.oid = a.atttypid
			LEFT JOIN pg_attrdef d ON d.adrelid = k.oid AND d.adnum = a.attnum
			CROSS JOIN LATERAL (SELECT pg_get_expr(d.adbin, d.adrelid) AS expression) e
			CROSS JOIN LATERAL (SELECT a.attidentity <> '' OR COALESCE(expression, '') LIKE 'nextval(%' AS numbered) n
		WHERE k.relnamespace = {schema}::regnamespace AND k.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
		ORDER BY k.relname, a.attnum`)
	// Whatever columns do not say comes after their list in the definition of an index, or instead of it.
	for _, i := range r.readIndexes(ctx, `SELECT k.relname::text, i.relname::text, CASE WHEN x.indisprimary THEN 'PRIMARY' WHEN x.indisunique THEN 'UNIQUE' END,
			u.n, a.attname::text, x.indisexclusion OR right(definition, length(columns)) = columns, definition
		FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class k ON k.oid = x.indrelid
			CROSS JOIN LATERAL unnest(x.indkey) WITH ORDINALITY u(num, n) LEFT JOIN pg_attribute a ON a.attrelid = k.oid AND a.attnum = u.num AND u.num > 0
			CROSS JOIN LATERAL (SELECT pg_get_indexdef(x.indexrelid, 0, true) AS definition, 'USING btree ('
				|| string_agg(COALESCE(quote_ident(b.attname), '?'), ', ' ORDER BY w.n) || ')' AS columns
				FROM unnest(x.indkey) WITH ORDINALITY w(num, n) LEFT JOIN pg_attribute b ON b.attrelid = k.oid AND b.attnum = w.num AND w.num > 0) d
		WHERE k.relnamespace = {schema}::regnamespace AND k.relkind IN ('r', 'p') AND NOT i.relispartition
			AND x.indisvalid AND (x.indisunique OR NOT x.indisexclusion) AND u.n <= x.indnkeyatts
		ORDER BY k.relname, i.relname, u.n`) {
		i.add(i.parts[0])
	}
	const actions = " WHEN 'r' THEN 'RESTRICT' WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' END"
	r.readForeignKeys(ctx, `SELECT k.relname::text, f.conname::text, CASE WHEN p.relnamespace <> k.relnamespace AND ns.nspname NOT IN ({schemas}) THEN 'refers to ' || p.relname || ' in another schema'
				WHEN 'true' = to_jsonb(f) ->> 'conperiod' OR 'false' = to_jsonb(f) ->> 'conenforced' THEN 'is left out: ' || pg_get_constraintdef(f.oid) END, p.relname::text,
			CASE f.confdeltype`+actions+`, CASE f.confupdtype`+actions+`, u.n, a.attname::text, b.attname::text, ns.nspname::text
		FROM pg_constraint f JOIN pg_class k ON k.oid = f.conrelid JOIN pg_class p ON p.oid = f.confrelid JOIN pg_namespace ns ON ns.oid = p.relnamespace
			CROSS JOIN LATERAL unnest(f.conkey, f.confkey) WITH ORDINALITY u(mine, other, n)
			JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = u.mine JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attnum = u.other
		WHERE f.contype = 'f' AND f.conparentid = 0 AND k.relnamespace = {schema}::regnamespace ORDER BY k.relname, f.conname, u.n`, "1")
	// Columns that later versions have are read by their names.
	r.readNotes(ctx, `SELECT k.relname::text, 'constraint ' || f.conname || ': Schema makes an ordinary one of ' || pg_get_constraintdef(f.oid)
		FROM pg_constraint f JOIN pg_class k ON k.oid = f.conrelid WHERE k.relnamespace = {schema}::regnamespace AND (
			f.contype IN ('p', 'u') AND (f.condeferrable OR 'true' = to_jsonb(f) ->> 'conperiod')
			OR f.contype = 'f' AND COALESCE(to_jsonb(f) ->> 'conenforced', 'true') = 'true' AND (f.condeferrable OR f.confmatchtype <> 's' OR NOT f.convalidated OR to_jsonb(f) ->> 'confdelsetcols' <> ''))
		UNION ALL SELECT k.relname::text, 'check ' || f.conname || ' ' || pg_get_constraintdef(f.oid) FROM pg_constraint f JOIN pg_class k ON k.oid = f.conrelid
		WHERE f.contype = 'c' AND k.relnamespace = {schema}::regnamespace
		UNION ALL SELECT k.relname::text, 'exclusion constraint ' || f.conname || ': ' || pg_get_constraintdef(f.oid)
		FROM pg_constraint f JOIN pg_class k ON k.oid = f.conrelid WHERE f.contype = 'x' AND k.relnamespace = {schema}::regnamespace
		UNION ALL SELECT k.relname::text, 'trigger ' || g.tgname FROM pg_trigger g JOIN pg_class k ON k.oid = g.tgrelid
		WHERE NOT g.tgisinternal AND k.relnamespace = {schema}::regnamespace
		UNION ALL SELECT NULL, 'the encoding is SQL_ASCII: a text that is not UTF-8 stops the merge' WHERE getdatabaseencoding() = 'SQL_ASCII'
		UNION ALL SELECT NULL, 'the encoding is ' || getdatabaseencoding() || ': texts are copied by their characters, to a target of encoding UTF8'
		WHERE getdatabaseencoding() NOT IN ('UTF8', 'SQL_ASCII')
		UNION ALL SELECT NULL, count(*) || ' large objects, which are not copied' FROM pg_largeobject_metadata HAVING count(*) > 0
		UNION ALL SELECT k.relname::text, 'column ' || a.attname || ': if its numbers are large objects, those are not copied'
		FROM pg_attribute a JOIN pg_class k ON k.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid
		WHERE k.relnamespace = {schema}::regnamespace AND k.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped AND t.typname IN ('oid', 'lo')
		UNION ALL SELECT k.relname::text, 'column ' || a.attname || ': if the labels of its paths are ids, it is a list with the separator .'
		FROM pg_attribute a JOIN pg_class k ON k.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid
		WHERE k.relnamespace = {schema}::regnamespace AND k.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped AND t.typname = 'ltree'
		UNION ALL SELECT k.relname::text, 'domain ' || format_type(a.atttypid, NULL) || ' of column ' || a.attname || ': Schema makes it ' || `+postgresDomain+`
		FROM pg_attribute a JOIN pg_class k ON k.oid = a.attrelid
		WHERE k.relnamespace = {schema}::regnamespace AND k.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped AND `+postgresDomain+` IS NOT NULL
		UNION ALL SELECT m.relname::text, 'column ' || m.attname || ': sequence ' || m.seq::regclass || ' numbers ' || string_agg(o.relname || '.' || o.attname, ', ' ORDER BY o.relname, o.attname)
			|| ' too: the target numbers each for itself, so that new ids of the two may be equal'
		FROM (`+postgresSequences+`) m JOIN (`+postgresSequences+`) o ON o.seq = m.seq AND (o.oid, o.attnum) <> (m.oid, m.attnum)
		WHERE m.relnamespace = {schema}::regnamespace GROUP BY m.seq, m.relname, m.attname
		UNION ALL SELECT NULL, 'schema ' || n.nspname || ' of the search_path: its tables are not merged: name it and ' || current_schema() || ' under databases'
		FROM pg_namespace n WHERE n.nspname = ANY (current_schemas(false)) AND n.oid <> {schema}::regnamespace AND '' IN ({schemas})
			AND EXISTS (SELECT FROM pg_class k WHERE k.relnamespace = n.oid AND k.relkind IN ('r', 'p') AND k.relname NOT LIKE 'snow\_%')
		UNION ALL SELECT NULL, 'type ' || format_type(t.oid, NULL) FROM pg_type t WHERE t.typnamespace = {schema}::regnamespace
			AND t.typtype IN ('d', 'r', 'c') AND NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = t.typrelid AND k.relkind <> 'c')
		UNION ALL SELECT NULL, 'routine ' || oid::regprocedure::text FROM pg_proc p WHERE pronamespace = {schema}::regnamespace
			AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
		ORDER BY 1, 2`)
	r.readJoins(ctx, `SELECT NULL, 'view ' || relname, pg_get_viewdef(oid) FROM pg_class WHERE relnamespace = {schema}::regnamespace AND relkind IN ('v', 'm')
		UNION ALL SELECT k.relname::text, 'trigger ' || g.tgname, p.prosrc FROM pg_trigger g JOIN pg_class k ON k.oid = g.tgrelid JOIN pg_proc p ON p.oid = g.tgfoid
		WHERE NOT g.tgisinternal AND k.relnamespace = {schema}::regnamespace
		UNION ALL SELECT NULL, 'routine ' || proname, prosrc FROM pg_proc WHERE pronamespace = {schema}::regnamespace ORDER BY 2`)
}
