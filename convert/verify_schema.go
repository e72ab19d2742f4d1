package convert

import (
	"context"
	"fmt"
	"strings"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/sqldialect"
)

func isUnsigned(kind string) bool { return strings.Contains(strings.ToLower(kind), "unsigned") }

// typesOf returns the types of a table's columns by their names. Generated columns have an empty one.
func (v *verification) typesOf(ctx context.Context, table string) (map[string]string, error) {
	query := `SELECT column_name, CASE WHEN extra LIKE '%VIRTUAL%' OR extra LIKE '%STORED%' OR extra LIKE '%PERSISTENT%' THEN '' ELSE column_type END
		FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position`
	if v.d == sqldialect.Postgres {
		query = `SELECT a.attname, CASE WHEN a.attgenerated <> '' THEN '' ELSE format_type(a.atttypid, a.atttypmod) END
			FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
			WHERE c.relname = $1 AND c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped`
	}
	pairs, err := v.pairs(ctx, query, table)
	types := make(map[string]string, len(pairs))
	for _, p := range pairs {
		types[p[0]] = p[1]
	}
	return types, err
}

// A link is a column of a foreign key.
type link struct{ table, column, kind, parent, key string }

// links returns the columns of all foreign keys, but those of shadows and kept tables.
func (v *verification) links(ctx context.Context) (links []link, err error) {
	query := `SELECT k.table_name, k.column_name, c.column_type, k.referenced_table_name, k.referenced_column_name
		FROM information_schema.key_column_usage k JOIN information_schema.columns c
			ON c.table_schema = k.table_schema AND c.table_name = k.table_name AND c.column_name = k.column_name
		WHERE k.table_schema = DATABASE() AND k.referenced_table_schema = DATABASE()`
	if v.d == sqldialect.Postgres {
		query = `SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), p.relname, b.attname
			FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid JOIN pg_catalog.pg_class p ON p.oid = k.confrelid
			CROSS JOIN LATERAL unnest(k.conkey, k.confkey) AS n (child, parent)
			JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = n.child
			JOIN pg_catalog.pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = n.parent
			WHERE k.contype = 'f' AND k.connamespace = current_schema()::regnamespace`
	}
	rows, err := v.s.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var l link
		if err := rows.Scan(&l.table, &l.column, &l.kind, &l.parent, &l.key); err != nil {
			return nil, err
		}
		if !isOurs(l.table) && !isOurs(l.column) {
			links = append(links, l)
		}
	}
	return links, rows.Err()
}

// isOurs reports whether a name is of something that the conversion has made.
func isOurs(name string) bool {
	for _, job := range []string{"snow_convert_run", "snow_convert_steps"} { // and their keys
		if strings.HasPrefix(name, job) {
			return false
		}
	}
	return strings.HasPrefix(name, "_snow_") || strings.HasPrefix(name, "~snow_convert") || strings.HasPrefix(name, "snow_convert_")
}

// left looks for what steps have made and should have removed: after the last step, and where nothing has begun.
func (v *verification) left(ctx context.Context) error {
	begun := false
	for _, s := range v.status.Steps {
		begun = begun || s.State != report.Waiting
	}
	if begun && v.phase < job.Finish {
		return nil
	}
	query := `SELECT 'table', table_name FROM information_schema.tables WHERE table_schema = DATABASE()
		UNION ALL SELECT 'trigger', trigger_name FROM information_schema.triggers WHERE trigger_schema = DATABASE()
		UNION ALL SELECT 'routine', routine_name FROM information_schema.routines WHERE routine_schema = DATABASE()`
	if v.d == sqldialect.Postgres {
		query = `SELECT 'relation', relname::text FROM pg_catalog.pg_class WHERE relnamespace = current_schema()::regnamespace
			UNION ALL SELECT 'function', proname::text FROM pg_catalog.pg_proc WHERE pronamespace = current_schema()::regnamespace
			UNION ALL SELECT 'constraint', conname::text FROM pg_catalog.pg_constraint WHERE connamespace = current_schema()::regnamespace
			UNION ALL SELECT 'trigger of ' || c.relname, t.tgname::text FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
				WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal
			UNION ALL SELECT 'column of ' || c.relname, a.attname::text FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
				WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT a.attisdropped`
	}
	things, err := v.pairs(ctx, query)
	if err != nil {
		return fmt.Errorf("look for what is left: %w", err)
	}
	for _, thing := range things {
		if isOurs(thing[1]) {
			v.fault("", "", fmt.Sprintf("the %s %q is left of the conversion", thing[0], thing[1]), "drop it")
		}
	}
	return nil
}
