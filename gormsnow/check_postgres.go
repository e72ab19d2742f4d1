package gormsnow

import (
	"database/sql"

	"gorm.io/gorm"

	"github.com/shardsnow/snow/internal/idcolumn"
)

// readPostgres reads the catalogue. A name without a schema is looked up along
// the search_path, as in queries.
func readPostgres(db *gorm.DB, t *liveTable) error {
	name := db.Statement.Quote(t.name)
	err := eachRow(db, func(rows *sql.Rows) error {
		var column, typ, base, identity, value string
		var modifier int64
		var deterministic bool
		if err := rows.Scan(&column, &typ, &base, &modifier, &identity, &value, &deterministic); err != nil {
			return err
		}
		c := idcolumn.Postgres(t.name, column, typ, base, modifier, identity, value)
		c.Fold = idcolumn.PostgresFold(base, deterministic)
		t.columns[column] = c
		return nil
	}, `SELECT a.attname, format_type(a.atttypid, a.atttypmod), COALESCE(base.typname, t.typname),
			CASE WHEN base.oid IS NULL THEN a.atttypmod ELSE t.typtypmod END,
			a.attidentity::text, COALESCE(pg_get_expr(d.adbin, d.adrelid), ''),
			COALESCE((SELECT to_jsonb(l)->>'collisdeterministic' FROM pg_collation l WHERE l.oid = a.attcollation), 'true')::boolean
		FROM pg_attribute a
		JOIN pg_type t ON t.oid = a.atttypid
		LEFT JOIN pg_type base ON t.typtype = 'd' AND base.oid = t.typbasetype
		LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped`, name)
	if err != nil {
		return err
	}
	return readUnique(db, t, `SELECT i.indexrelid::text, a.attname
		FROM pg_index i
		CROSS JOIN LATERAL generate_series(0, i.indnkeyatts - 1) AS n
		LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[n] AND a.attnum > 0
		WHERE i.indrelid = to_regclass(?) AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
		ORDER BY i.indexrelid, n`, name)
}
