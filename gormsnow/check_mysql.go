package gormsnow

import (
	"database/sql"
	"strings"

	"gorm.io/gorm"
)

// readMySQL reads information_schema, which shows only tables on which the user
// has a privilege.
func readMySQL(db *gorm.DB, t *liveTable) error {
	const table = " WHERE table_schema = COALESCE(NULLIF(?, ''), DATABASE()) AND table_name = ?"
	err := eachRow(db, func(rows *sql.Rows) error {
		var c liveColumn
		var dataType, extra string
		var characters, precision, scale sql.Null[int64]
		if err := rows.Scan(&c.name, &dataType, &c.typ, &characters, &precision, &scale, &extra); err != nil {
			return err
		}
		switch strings.ToLower(dataType) {
		case "bigint":
			c.kind, c.size = integerColumn, 64
		case "int", "integer":
			c.kind, c.size = integerColumn, 32
		case "mediumint":
			c.kind, c.size = integerColumn, 24
		case "smallint":
			c.kind, c.size = integerColumn, 16
		case "tinyint":
			c.kind, c.size = integerColumn, 8
		case "decimal":
			if precision.V-scale.V >= digits {
				c.kind = anyColumn
			}
		case "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "binary", "varbinary":
			c.kind, c.size = textColumn, characters.V
		}
		if strings.Contains(strings.ToLower(extra), "auto_increment") {
			c.auto, c.cure = "AUTO_INCREMENT", "ALTER TABLE "+t.name+" MODIFY "+c.name+" BIGINT NOT NULL"
		}
		t.columns[c.name] = c
		return nil
	}, `SELECT column_name, data_type, column_type, character_maximum_length, numeric_precision, numeric_scale, extra
		FROM information_schema.columns`+table, t.schema, t.table)
	if err != nil {
		return err
	}
	return readUnique(db, t, `SELECT index_name, column_name FROM information_schema.statistics`+table+
		` AND non_unique = 0 ORDER BY index_name, seq_in_index`, t.schema, t.table)
}
