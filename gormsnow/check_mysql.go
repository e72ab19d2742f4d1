package gormsnow

import (
	"database/sql"

	"gorm.io/gorm"

	"github.com/shardsnow/snow/internal/idcolumn"
)

// readMySQL reads information_schema, which shows only tables on which the user
// has a privilege.
func readMySQL(db *gorm.DB, t *liveTable) error {
	const table = " WHERE table_schema = COALESCE(NULLIF(?, ''), DATABASE()) AND table_name = ?"
	err := eachRow(db, func(rows *sql.Rows) error {
		var name, dataType, columnType, extra, value, collation string
		var characters, precision, scale sql.Null[int64]
		if err := rows.Scan(&name, &dataType, &columnType, &characters, &precision, &scale, &extra, &value, &collation); err != nil {
			return err
		}
		c := idcolumn.MySQL(t.name, name, dataType, columnType, characters.V, precision.V, scale.V, extra, value)
		c.Fold = idcolumn.MySQLFold(dataType, collation)
		t.columns[name] = c
		return nil
	}, `SELECT column_name, data_type, column_type, character_maximum_length, numeric_precision, numeric_scale, extra, COALESCE(column_default, ''), COALESCE(collation_name, '')
		FROM information_schema.columns`+table, t.schema, t.table)
	if err != nil {
		return err
	}
	return readUnique(db, t, `SELECT index_name, column_name FROM information_schema.statistics`+table+
		` AND non_unique = 0 ORDER BY index_name, seq_in_index`, t.schema, t.table)
}
