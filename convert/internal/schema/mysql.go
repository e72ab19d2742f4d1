package schema

import (
	"context"
	"strings"
)

// readMySQL reads information_schema of a MySQL or MariaDB server.
func (r *reader) readMySQL(ctx context.Context) {
	r.each(ctx, "SELECT VERSION()", func(v row) {
		r.Product, r.Version = "MySQL", v.text(0)
		if strings.Contains(r.Version, "MariaDB") {
			r.Product = "MariaDB"
		}
		r.Version, _, _ = strings.Cut(strings.TrimPrefix(r.Version, "5.5.5-"), "-")
	})
	if r.err == nil && r.Product == "MySQL" { // it caches sizes and counters for a day otherwise
		r.err = r.try(ctx, "SET SESSION information_schema_stats_expiry = 0", func(row) {})
	}
	r.each(ctx, `SELECT TABLE_NAME, ENGINE, TABLE_ROWS, COALESCE(DATA_LENGTH, 0) + COALESCE(INDEX_LENGTH, 0), TABLE_TYPE = 'SYSTEM VERSIONED'
		FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') ORDER BY TABLE_NAME`, func(v row) {
		r.Tables = append(r.Tables, &Table{Name: v.text(0), Engine: v.text(1), Rows: v.number(2), Bytes: v.number(3), Versioned: v.is(4)})
	})
	r.ofTables(ctx, `SELECT c.TABLE_NAME, c.COLUMN_NAME, c.COLUMN_TYPE, COALESCE(c.GENERATION_EXPRESSION, ''), c.EXTRA LIKE '%auto_increment%',
			(SELECT t.AUTO_INCREMENT FROM information_schema.TABLES t WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_NAME = c.TABLE_NAME), c.EXTRA LIKE '%INVISIBLE%'
		FROM information_schema.COLUMNS c WHERE c.TABLE_SCHEMA = DATABASE() ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION`, func(t *Table, v row) {
		t.Columns = append(t.Columns, Column{Name: v.text(1), Type: v.text(2), Generated: v.text(3)})
		if v.is(4) {
			t.Counted = append(t.Counted, Counter{Column: v.text(1), Kind: "auto_increment", Next: v.number(5), Hidden: v.is(6)})
		}
	})
	r.ofTables(ctx, `SELECT TABLE_NAME, PARTITION_METHOD, PARTITION_EXPRESSION FROM information_schema.PARTITIONS
		WHERE TABLE_SCHEMA = DATABASE() AND PARTITION_NAME IS NOT NULL ORDER BY TABLE_NAME, PARTITION_ORDINAL_POSITION`, func(t *Table, v row) {
		t.Partition = v.text(1) + " (" + v.text(2) + ")"
	})
	r.each(ctx, `SELECT 'trigger', TRIGGER_NAME, EVENT_OBJECT_TABLE, ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE()
		UNION ALL SELECT 'view', TABLE_NAME, NULL, VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE()
		UNION ALL SELECT LOWER(ROUTINE_TYPE), ROUTINE_NAME, NULL, CONCAT(ROUTINE_DEFINITION, ' ', COALESCE((
			SELECT GROUP_CONCAT(COALESCE(p.PARAMETER_NAME, 'RETURNS'), ' ', p.DTD_IDENTIFIER) FROM information_schema.PARAMETERS p
			WHERE p.SPECIFIC_SCHEMA = ROUTINE_SCHEMA AND p.SPECIFIC_NAME = ROUTINE_NAME AND p.ROUTINE_TYPE = ROUTINES.ROUTINE_TYPE), ''))
			FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()
		UNION ALL SELECT 'event', EVENT_NAME, NULL, EVENT_DEFINITION FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE() ORDER BY 1, 2`, r.object)
	r.outsideMySQL(ctx)
	r.serverMySQL(ctx)
	r.each(ctx, `SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.COLUMNS
		WHERE TABLE_SCHEMA NOT IN (DATABASE(), 'mysql', 'sys', 'information_schema', 'performance_schema') AND EXTRA LIKE '%auto_increment%' ORDER BY 1`, func(v row) {
		r.Elsewhere = append(r.Elsewhere, v.text(0))
	})
}

// object notes a row of: kind, name, table of a trigger, text.
func (r *reader) object(v row) {
	o := Object{Kind: v.text(0), Name: v.text(1), Table: v.text(2), Text: v.text(3)}
	r.Objects = append(r.Objects, o)
	if t := r.Table(o.Table); o.Kind == "trigger" && t != nil {
		t.Triggers = append(t.Triggers, o.Name)
	}
}

// outsideMySQL reads the foreign keys between this database and others.
func (r *reader) outsideMySQL(ctx context.Context) {
	add := func(inward bool) func(t *Table, v row) {
		return func(t *Table, v row) {
			if last := len(t.Outside) - 1; last >= 0 && t.Outside[last].Name == v.text(1) && t.Outside[last].Other == v.text(2) {
				t.Outside[last].Columns = append(t.Outside[last].Columns, v.text(3))
				return
			}
			t.Outside = append(t.Outside, Outside{Name: v.text(1), Other: v.text(2), Columns: []string{v.text(3)}, Inward: inward})
		}
	}
	r.ofTables(ctx, `SELECT TABLE_NAME, CONSTRAINT_NAME, CONCAT(REFERENCED_TABLE_SCHEMA, '.', REFERENCED_TABLE_NAME), COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE
		WHERE TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_SCHEMA <> DATABASE() ORDER BY 1, 2, ORDINAL_POSITION`, add(false))
	r.ofTables(ctx, `SELECT REFERENCED_TABLE_NAME, CONSTRAINT_NAME, CONCAT(TABLE_SCHEMA, '.', TABLE_NAME), REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE
		WHERE TABLE_SCHEMA <> DATABASE() AND REFERENCED_TABLE_SCHEMA = DATABASE() ORDER BY 1, 3, 2, ORDINAL_POSITION`, add(true))
}
