package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/plan"
)

// readMySQL reads information_schema of a MySQL or MariaDB server.
func (r *reader) readMySQL(ctx context.Context) {
	maria := false
	r.each(ctx, "SELECT VERSION(), DATABASE()", func(v row) {
		if maria = strings.Contains(v.text(0), "MariaDB"); !v[1].Valid {
			r.err = errors.New("the DSN names no database")
		}
	})
	r.readTables(ctx, `SELECT TABLE_NAME,
			IF(TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED'), NULL, CONCAT(LOWER(TABLE_TYPE), ' ', TABLE_NAME)), CONCAT('COLLATE=', TABLE_COLLATION),
			IF(ENGINE = 'InnoDB', NULL, CONCAT('engine ', COALESCE(ENGINE, ''), ': Schema leaves the engine to the server''s default, which must have transactions')),
			IF(CREATE_OPTIONS LIKE '%partitioned%', 'partitioned: Schema makes a table without partitions', NULL),
			IF(TABLE_TYPE = 'SYSTEM VERSIONED', 'system versioned: only current rows are copied, to a table without versions', NULL)
		FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME`)
	r.readMySQLColumns(ctx, maria)
	r.readMySQLIndexes(ctx)
	r.readForeignKeys(ctx, `SELECT k.TABLE_NAME, k.CONSTRAINT_NAME,
			IF(k.REFERENCED_TABLE_SCHEMA = BINARY DATABASE(), NULL, CONCAT(k.REFERENCED_TABLE_SCHEMA, '.', k.REFERENCED_TABLE_NAME, ', in another database')),
			k.REFERENCED_TABLE_NAME, c.DELETE_RULE, c.UPDATE_RULE, k.ORDINAL_POSITION, k.COLUMN_NAME, k.REFERENCED_COLUMN_NAME
		FROM information_schema.KEY_COLUMN_USAGE k LEFT JOIN information_schema.REFERENTIAL_CONSTRAINTS c
			ON c.CONSTRAINT_SCHEMA = DATABASE() AND c.TABLE_NAME = k.TABLE_NAME AND c.CONSTRAINT_NAME = k.CONSTRAINT_NAME
		WHERE k.TABLE_SCHEMA = DATABASE() AND k.REFERENCED_TABLE_NAME IS NOT NULL ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`, "1")
	r.readMySQLChecks(ctx, maria)
	r.readNotes(ctx, `SELECT EVENT_OBJECT_TABLE, CONCAT('trigger ', TRIGGER_NAME, ' ', LOWER(ACTION_TIMING), ' ', LOWER(EVENT_MANIPULATION))
		FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()
		UNION ALL SELECT NULL, CONCAT(LOWER(ROUTINE_TYPE), ' ', ROUTINE_NAME) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()
		UNION ALL SELECT NULL, CONCAT('event ', EVENT_NAME) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE() ORDER BY 1, 2`)
}

func (r *reader) readMySQLColumns(ctx context.Context, maria bool) {
	const query = `SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COALESCE(COLLATION_NAME, ''), COALESCE(GENERATION_EXPRESSION, '')
		FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION`
	r.ofTables(ctx, query, func(t *Table, v row) {
		extra, collation, generated := v.text(5), v.text(6), v.text(7)
		lower := strings.ToLower(extra)
		c := &plan.Column{Name: v.text(1), Type: v.text(2), Nullable: v.text(3) == "YES", Role: plan.RolePlain}
		if t.Options != "COLLATE="+collation {
			c.Collation = collation
		}
		if strings.Contains(lower, "auto_increment") {
			t.Numbered = c.Name
		}
		t.Columns = append(t.Columns, c)
		if generated != "" {
			if !maria {
				generated = strings.ReplaceAll(generated, `\'`, `'`)
			}
			c.Generated = "(" + generated + ") VIRTUAL"
			if strings.Contains(lower, "stored") || strings.Contains(lower, "persistent") {
				c.Generated = "(" + generated + ") STORED"
			}
			return
		}
		text := "NULL"
		if v[4].Valid {
			text = v.text(4)
			switch isCall := strings.HasPrefix(strings.ToLower(text), "current_timestamp"); {
			case maria || isCall:
			case strings.Contains(lower, "default_generated"):
				text = "(" + strings.ReplaceAll(text, `\'`, `'`) + ")"
			case !strings.HasPrefix(text, "b'"):
				text = "'" + strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), "'", "''") + "'"
			}
		}
		const onUpdate = "on update "
		if at := strings.Index(lower, onUpdate); at >= 0 {
			text += " " + strings.ToUpper(onUpdate) + extra[at+len(onUpdate):]
		}
		if text != "NULL" {
			c.Default = &text
		}
	})
}

func (r *reader) readMySQLIndexes(ctx context.Context) {
	const query = `SELECT TABLE_NAME, INDEX_NAME,
			CASE WHEN INDEX_NAME = 'PRIMARY' THEN 'PRIMARY' WHEN INDEX_TYPE IN ('FULLTEXT', 'SPATIAL') THEN INDEX_TYPE WHEN NON_UNIQUE THEN '' ELSE 'UNIQUE' END,
			SEQ_IN_INDEX, COLUMN_NAME, INDEX_TYPE NOT IN ('FULLTEXT', 'SPATIAL') AND (SUB_PART IS NULL OR INDEX_TYPE NOT IN ('BTREE', 'HASH')),
			CONCAT('` + "`', REPLACE(COLUMN_NAME, '`', '``'), '`'" + `, IF(SUB_PART IS NOT NULL AND INDEX_TYPE IN ('BTREE', 'HASH'), CONCAT('(', SUB_PART, ')'), ''))
		FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`
	for _, i := range r.readIndexes(ctx, query) {
		if slices.Contains(i.columns, "") {
			i.table.AddNote("index %s is on an expression: make it yourself", i.name)
			continue
		}
		kind := strings.TrimLeft(i.kind+" ", " ")
		i.add(fmt.Sprintf("CREATE %sINDEX %s ON %s (%s)", kind, sqldialect.MySQL.Quote(i.name), sqldialect.MySQL.Quote(i.table.Name), strings.Join(i.parts, ", ")))
	}
}

// readMySQLChecks notes the checks of tables, but takes the check of a text of MariaDB for what it is: JSON is nothing else there.
func (r *reader) readMySQLChecks(ctx context.Context, maria bool) {
	query := `SELECT TABLE_NAME, CONSTRAINT_NAME, '' FROM information_schema.TABLE_CONSTRAINTS
		WHERE CONSTRAINT_SCHEMA = DATABASE() AND CONSTRAINT_TYPE = 'CHECK' ORDER BY 1, 2`
	if maria {
		query = "SELECT TABLE_NAME, CONSTRAINT_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE() ORDER BY 1, 2"
	}
	r.ofTables(ctx, query, func(t *Table, v row) {
		name, clause := v.text(1), v.text(2)
		if c := t.Column(name); c != nil && clause == "json_valid("+sqldialect.MySQL.Quote(name)+")" && c.Type == "longtext" {
			c.Type, c.Collation = "json", ""
		} else {
			t.AddNote("check %s %s", name, clause)
		}
	})
}
