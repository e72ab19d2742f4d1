package catalog

import (
	"context"
	"errors"
	"strings"
)

// readMySQL reads information_schema of a MySQL or MariaDB server.
func (r *reader) readMySQL(ctx context.Context) {
	maria := false
	r.each(ctx, "SELECT VERSION(), {schema}", func(v row) {
		if maria = strings.Contains(v.text(0), "MariaDB"); !v[1].Valid {
			r.err = errors.New("the DSN names no database")
		}
	})
	r.readTables(ctx, `SELECT TABLE_NAME,
			IF(TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED'), NULL, CONCAT(LOWER(TABLE_TYPE), ' ', TABLE_NAME)), CONCAT('COLLATE=', TABLE_COLLATION), TABLE_COMMENT,
			IF(ENGINE = 'InnoDB', NULL, CONCAT('engine ', COALESCE(ENGINE, ''),
				IF(ENGINE IN (SELECT ENGINE FROM information_schema.ENGINES WHERE TRANSACTIONS = 'YES'), '', ', without transactions: changes of several rows that were cut off are half done'),
				': Schema leaves the engine to the server''s default, which must have transactions')),
			IF(CREATE_OPTIONS LIKE '%partitioned%', 'partitioned: Schema makes a table without partitions', NULL),
			IF(TABLE_TYPE = 'SYSTEM VERSIONED', 'system versioned: only current rows are copied, to a table without versions', NULL)
		FROM information_schema.TABLES WHERE TABLE_SCHEMA = {schema} ORDER BY TABLE_NAME`)
	written := r.readMySQLTables(ctx)
	r.readMySQLColumns(ctx, written, maria)
	r.readMySQLIndexes(ctx, written)
	// MariaDB opens the tables of all databases for an outer join without DISTINCT, and for triggers by TRIGGER_SCHEMA.
	r.readForeignKeys(ctx, `SELECT k.TABLE_NAME, k.CONSTRAINT_NAME,
			IF(k.REFERENCED_TABLE_SCHEMA = BINARY {schema} OR k.REFERENCED_TABLE_SCHEMA IN ({schemas}), NULL, CONCAT('refers to ', k.REFERENCED_TABLE_SCHEMA, '.', k.REFERENCED_TABLE_NAME, ', in another database')),
			k.REFERENCED_TABLE_NAME, NULLIF(c.DELETE_RULE, 'RESTRICT'), NULLIF(c.UPDATE_RULE, 'RESTRICT'), k.ORDINAL_POSITION, k.COLUMN_NAME, k.REFERENCED_COLUMN_NAME, k.REFERENCED_TABLE_SCHEMA
		FROM information_schema.KEY_COLUMN_USAGE k LEFT JOIN (
			SELECT DISTINCT TABLE_NAME, CONSTRAINT_NAME, DELETE_RULE, UPDATE_RULE FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = {schema}
		) c ON c.TABLE_NAME = k.TABLE_NAME AND c.CONSTRAINT_NAME = k.CONSTRAINT_NAME
		WHERE k.TABLE_SCHEMA = {schema} AND k.REFERENCED_TABLE_NAME IS NOT NULL ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`, "1")
	r.readNotes(ctx, `SELECT EVENT_OBJECT_TABLE, CONCAT('trigger ', TRIGGER_NAME, ' ', LOWER(ACTION_TIMING), ' ', LOWER(EVENT_MANIPULATION))
		FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = {schema}
		UNION ALL SELECT NULL, CONCAT(LOWER(ROUTINE_TYPE), ' ', ROUTINE_NAME) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = {schema}
		UNION ALL SELECT NULL, CONCAT('event ', EVENT_NAME) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = {schema} ORDER BY 1, 2`)
	r.readJoins(ctx, `SELECT NULL, CONCAT('view ', TABLE_NAME), VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = {schema}
		UNION ALL SELECT EVENT_OBJECT_TABLE, CONCAT('trigger ', TRIGGER_NAME), ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = {schema}
		UNION ALL SELECT NULL, CONCAT(LOWER(ROUTINE_TYPE), ' ', ROUTINE_NAME), ROUTINE_DEFINITION FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = {schema} ORDER BY 2`)
}
