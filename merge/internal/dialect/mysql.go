package dialect

import (
	"strings"
	"sync"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

var mysql = sync.OnceValue(func() *Dialect {
	return &Dialect{
		Kind:      sqlsnow.MySQL,
		Now:       "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))",
		MaxParams: 65535,
		Writers:   16,
		read: func(column string, c *plan.Column) string {
			switch {
			case sqltype.Of(sqlsnow.MySQL, c.Type).Kind == sqltype.Time:
				return "CAST(" + column + " AS CHAR)" // drivers may make times of them, which have no zero date
			case sqltype.Word(c.Type) == "float":
				return column + " * 1e0" // a FLOAT is written with 6 digits
			}
			return column
		},
		Carrier: func(c *plan.Column) Carrier {
			if sqltype.IsBinary(c.Type) {
				return CarryBytes
			}
			switch sqltype.Word(c.Type) {
			case "float", "double", "real":
				return CarryFloat
			case "year":
				return CarryInteger // the text '0' would be 2000
			}
			switch kind := sqltype.Of(sqlsnow.MySQL, c.Type).Kind; {
			case kind == sqltype.Bytes:
				return CarryBytes
			case kind == sqltype.Integer, kind == sqltype.Decimal && isID(c):
				return CarryInteger
			}
			return CarryText
		},
		content: mysqlContent,
		Held:    "SELECT fence FROM snow_merge_lease WHERE id = 1 AND fence = ? LOCK IN SHARE MODE",
		Begin:   "START TRANSACTION",
		Source: []string{
			"SET SESSION time_zone = '+00:00', autocommit = 1, sql_mode = '', sql_quote_show_create = 1", "SET NAMES utf8mb4",
			"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
		},
		// Zero dates and keys of zero are copied as they are; anything that does not fit is an error.
		Target: []string{
			"SET SESSION time_zone = '+00:00', autocommit = 1, sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'," +
				" foreign_key_checks = 1, unique_checks = 1", "SET NAMES utf8mb4",
			"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE",
		},
		Unchecked: "SET SESSION foreign_key_checks = 0",
		Saved:     mysqlSaved(),
		types: map[string]string{
			"name":      "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
			"code":      "VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin",
			"text":      "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
			"list":      "LONGBLOB", // of digits: whatever it is compared with is compared byte by byte
			"end":       "ENGINE=InnoDB",
			"clustered": "ENGINE=InnoDB",
		},
	}
})

// mysqlContent makes one hash of the texts of numbers and dates, and of the hashes of what may be long.
func mysqlContent(columns []*plan.Column) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		name, word := sqldialect.MySQL.Quote(c.Name), sqltype.Word(c.Type)
		switch kind := sqltype.Of(sqlsnow.MySQL, c.Type).Kind; {
		case kind == sqltype.Integer, word == "decimal", word == "double", word == "year":
			parts[i] = "QUOTE(" + name + ")"
		case word == "float":
			parts[i] = "QUOTE(" + name + " * 1e0)"
		case word == "bit":
			parts[i] = "QUOTE(" + name + " + 0)"
		case kind == sqltype.Time, word == "time":
			parts[i] = "QUOTE(CAST(" + name + " AS CHAR))"
		case kind == sqltype.Text, kind == sqltype.Bytes, word == "enum", word == "set":
			parts[i] = "COALESCE(SHA2(CAST(" + name + " AS BINARY), 256), 'NULL')"
		case kind == sqltype.JSON:
			parts[i] = "COALESCE(SHA2(CAST(" + name + " AS CHAR), 256), 'NULL')"
		default: // a point, say
			parts[i] = "COALESCE(SHA2(HEX(" + name + "), 256), 'NULL')"
		}
	}
	return "SHA2(CONCAT_WS(',', " + strings.Join(parts, ", ") + "), 256)"
}

// mysqlSaved returns the query of the statements that set back whatever a session of a merge may set. Only MariaDB
// executes what follows /*M!, and only MySQL what follows /*!50720.
func mysqlSaved() string {
	parts := []string{"'SET SESSION '"}
	for i, name := range []string{
		"time_zone", "autocommit", "sql_mode", "sql_quote_show_create", "foreign_key_checks", "unique_checks",
		"lock_wait_timeout", "innodb_lock_wait_timeout", "character_set_client", "character_set_results", "character_set_connection", "collation_connection",
	} {
		comma := ", "
		if i == 0 {
			comma = ""
		}
		value := "@@SESSION." + name
		if strings.HasPrefix(name, "character_set") || name == "time_zone" || name == "sql_mode" || name == "collation_connection" {
			value = "QUOTE(" + value + ")"
		}
		parts = append(parts, "'"+comma+name+" = ', "+value)
	}
	return "SELECT CONCAT(" + strings.Join(parts, ", ") + ", ';SET SESSION TRANSACTION ISOLATION LEVEL '" +
		", REPLACE(/*!50720 @@transaction_isolation */ /*M! @@tx_isolation */, '-', ' ')" +
		", IF(/*!50720 @@transaction_read_only */ /*M! @@tx_read_only */, ', READ ONLY', ', READ WRITE')" +
		", ';SET @snow_merge_session = NULL')"
}
