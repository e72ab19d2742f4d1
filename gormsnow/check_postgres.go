package gormsnow

import (
	"database/sql"
	"strings"

	"gorm.io/gorm"
)

// readPostgres reads the catalogue. A name without a schema is looked up along
// the search_path, as in queries.
func readPostgres(db *gorm.DB, t *liveTable) error {
	name := db.Statement.Quote(t.name)
	err := eachRow(db, func(rows *sql.Rows) error {
		var c liveColumn
		var base, identity, value string
		var modifier int64
		if err := rows.Scan(&c.name, &c.typ, &base, &modifier, &identity, &value); err != nil {
			return err
		}
		switch base {
		case "int8":
			c.kind, c.size = integerColumn, 64
		case "int4":
			c.kind, c.size = integerColumn, 32
		case "int2":
			c.kind, c.size = integerColumn, 16
		case "numeric": // a modifier is precision << 16 | scale, plus four
			if precision, scale := (modifier-4)>>16, (modifier-4)&0x7FF; modifier < 0 || precision-scale >= digits {
				c.kind = anyColumn
			}
		case "text", "varchar", "bpchar":
			c.kind, c.size = textColumn, max(0, modifier-4)
		}
		switch {
		case identity != "":
			c.auto, c.cure = "an identity column", "ALTER TABLE "+t.name+" ALTER "+c.name+" DROP IDENTITY"
		case strings.HasPrefix(value, "nextval("):
			c.auto, c.cure = "serial", "ALTER TABLE "+t.name+" ALTER "+c.name+" DROP DEFAULT"
		}
		t.columns[c.name] = c
		return nil
	}, `SELECT a.attname, format_type(a.atttypid, a.atttypmod), COALESCE(base.typname, t.typname),
			CASE WHEN base.oid IS NULL THEN a.atttypmod ELSE t.typtypmod END,
			a.attidentity::text, COALESCE(pg_get_expr(d.adbin, d.adrelid), '')
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
