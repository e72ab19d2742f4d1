package catalog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/plan"
)

// A mysqlReader reads the catalog of a MySQL or MariaDB server, from information_schema.
type mysqlReader struct{ *Catalog }

func (c *mysqlReader) load(ctx context.Context, r Querier) error {
	var version, schema, collation sql.NullString
	err := each(ctx, r, "SELECT VERSION(), DATABASE(), @@collation_database", nil, func(scan func(...any) error) error {
		return scan(&version, &schema, &collation)
	})
	if err != nil {
		return err
	}
	if !schema.Valid {
		return errors.New("the DSN names no database")
	}
	maria := strings.Contains(version.String, "MariaDB")
	for _, load := range []func() error{
		func() error { return c.readTables(ctx, r) },
		func() error { return c.readColumns(ctx, r, maria) },
		func() error { return c.readIndexes(ctx, r) },
		func() error { return c.readForeignKeys(ctx, r, schema.String) },
		func() error { return c.readChecks(ctx, r, maria) },
		func() error { return c.readTriggers(ctx, r) },
	} {
		if err := load(); err != nil {
			return err
		}
	}
	return nil
}

func (c *mysqlReader) readTables(ctx context.Context, r Querier) error {
	const query = "SELECT TABLE_NAME, TABLE_TYPE, COALESCE(TABLE_COLLATION, ''), COALESCE(ENGINE, ''), COALESCE(CREATE_OPTIONS, '')" +
		" FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME"
	return each(ctx, r, query, nil, func(scan func(...any) error) error {
		var name, kind, collation, engine, options string
		if err := scan(&name, &kind, &collation, &engine, &options); err != nil {
			return err
		}
		switch {
		case ours(name):
			return nil
		case kind != "BASE TABLE" && kind != "SYSTEM VERSIONED":
			c.Notes = append(c.Notes, strings.ToLower(kind)+" "+name)
			return nil
		}
		t := &Table{Table: &plan.Table{Name: name}}
		if collation != "" {
			t.Options = "COLLATE=" + collation
		}
		if engine != "InnoDB" {
			t.AddNote("engine %s: Schema leaves the engine to the server's default, which must have transactions", engine)
		}
		if strings.Contains(options, "partitioned") {
			t.AddNote("partitioned: Schema makes a table without partitions")
		}
		if kind == "SYSTEM VERSIONED" {
			t.AddNote("system versioned: only current rows are copied, to a table without versions")
		}
		c.Tables = append(c.Tables, t)
		return nil
	})
}

func (c *mysqlReader) readColumns(ctx context.Context, r Querier, maria bool) error {
	const query = "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COALESCE(COLLATION_NAME, '')," +
		" COALESCE(GENERATION_EXPRESSION, '') FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION"
	return each(ctx, r, query, nil, func(scan func(...any) error) error {
		var table, nullable, extra, collation, generated string
		var value sql.NullString
		column := &plan.Column{Role: plan.RolePlain}
		if err := scan(&table, &column.Name, &column.Type, &nullable, &value, &extra, &collation, &generated); err != nil {
			return err
		}
		t := c.Table(table)
		if t == nil {
			return nil
		}
		lower := strings.ToLower(extra)
		column.Nullable = nullable == "YES"
		if t.Options != "COLLATE="+collation {
			column.Collation = collation
		}
		switch {
		case generated != "":
			if !maria {
				generated = strings.ReplaceAll(generated, `\'`, `'`)
			}
			column.Generated = "(" + generated + ") VIRTUAL"
			if strings.Contains(lower, "stored") || strings.Contains(lower, "persistent") {
				column.Generated = "(" + generated + ") STORED"
			}
		case value.Valid:
			text := value.String
			switch isCall := strings.HasPrefix(strings.ToLower(text), "current_timestamp"); {
			case maria || isCall:
			case strings.Contains(lower, "default_generated"):
				text = "(" + strings.ReplaceAll(text, `\'`, `'`) + ")"
			case !strings.HasPrefix(text, "b'"):
				text = "'" + strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), "'", "''") + "'"
			}
			if text != "NULL" {
				column.Default = &text
			}
		}
		if at := strings.Index(lower, "on update "); at >= 0 && generated == "" {
			text := "NULL"
			if column.Default != nil {
				text = *column.Default
			}
			text += " " + strings.ToUpper(extra[at:at+len("on update ")]) + extra[at+len("on update "):]
			column.Default = &text
		}
		if strings.Contains(lower, "auto_increment") {
			t.Numbered = column.Name
		}
		t.Columns = append(t.Columns, column)
		return nil
	})
}

func (c *mysqlReader) readIndexes(ctx context.Context, r Querier) error {
	const query = "SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, COLUMN_NAME, SUB_PART, INDEX_TYPE" +
		" FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX"
	type index struct {
		table             *Table
		name, kind        string
		columns, parts    []string
		plural            bool
		prefix, expressed bool
	}
	var indexes []*index
	err := each(ctx, r, query, nil, func(scan func(...any) error) error {
		var table, name, kind string
		var column sql.NullString
		var part sql.NullInt64
		var plural bool
		if err := scan(&table, &name, &plural, &column, &part, &kind); err != nil {
			return err
		}
		t := c.Table(table)
		if t == nil {
			return nil
		}
		if n := len(indexes); n == 0 || indexes[n-1].table != t || indexes[n-1].name != name {
			indexes = append(indexes, &index{table: t, name: name, kind: kind, plural: plural})
		}
		i := indexes[len(indexes)-1]
		text := sqldialect.MySQL.Quote(column.String)
		if part.Valid && (kind == "BTREE" || kind == "HASH") {
			i.prefix = true
			text += fmt.Sprintf("(%d)", part.Int64)
		}
		i.expressed = i.expressed || !column.Valid
		i.columns, i.parts = append(i.columns, column.String), append(i.parts, text)
		return nil
	})
	for _, i := range indexes {
		t := i.table
		kind := ""
		switch {
		case i.kind == "FULLTEXT" || i.kind == "SPATIAL":
			kind = i.kind + " "
		case !i.plural:
			kind = "UNIQUE "
		}
		switch {
		case i.expressed:
			t.AddNote("index %s is on an expression: make it yourself", i.name)
		case i.name == "PRIMARY":
			t.PrimaryKey = i.columns
		case i.prefix || strings.HasPrefix(kind, "F") || strings.HasPrefix(kind, "S"):
			t.Indexes = append(t.Indexes, &plan.Index{Name: i.name, Statement: fmt.Sprintf("CREATE %sINDEX %s ON %s (%s)",
				kind, sqldialect.MySQL.Quote(i.name), sqldialect.MySQL.Quote(t.Name), strings.Join(i.parts, ", "))})
			if !i.plural {
				t.AddNote("unique index %s is on the first characters only: a clash is found when the database refuses the row", i.name)
			}
		case !i.plural:
			t.Unique = append(t.Unique, &plan.Unique{Name: i.name, Columns: i.columns, Rule: plan.RuleFail})
		default:
			t.Indexes = append(t.Indexes, &plan.Index{Name: i.name, Columns: i.columns})
		}
	}
	return err
}

func (c *mysqlReader) readForeignKeys(ctx context.Context, r Querier, schema string) error {
	type rules struct{ onDelete, onUpdate string }
	actions := map[[2]string]rules{}
	const constraints = "SELECT TABLE_NAME, CONSTRAINT_NAME, DELETE_RULE, UPDATE_RULE FROM information_schema.REFERENTIAL_CONSTRAINTS" +
		" WHERE CONSTRAINT_SCHEMA = DATABASE()"
	err := each(ctx, r, constraints, nil, func(scan func(...any) error) error {
		var id [2]string
		var action rules
		if err := scan(&id[0], &id[1], &action.onDelete, &action.onUpdate); err != nil {
			return err
		}
		actions[id] = action
		return nil
	})
	if err != nil {
		return err
	}
	const query = "SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME" +
		" FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME IS NOT NULL" +
		" ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION"
	return each(ctx, r, query, nil, func(scan func(...any) error) error {
		var table, name, column, other, parent, refers string
		if err := scan(&table, &name, &column, &other, &parent, &refers); err != nil {
			return err
		}
		t := c.Table(table)
		if t == nil {
			return nil
		}
		if other != schema {
			t.AddNote("foreign key %s refers to %s.%s, in another database", name, other, parent)
			return nil
		}
		if n := len(t.ForeignKeys); n == 0 || t.ForeignKeys[n-1].Name != name {
			action := actions[[2]string{table, name}]
			t.ForeignKeys = append(t.ForeignKeys, &plan.ForeignKey{
				Name: name, Table: parent, OnDelete: ruleOf(action.onDelete), OnUpdate: ruleOf(action.onUpdate),
			})
		}
		k := t.ForeignKeys[len(t.ForeignKeys)-1]
		k.Columns, k.Refers = append(k.Columns, column), append(k.Refers, refers)
		return nil
	})
}

// ruleOf leaves out the action that is the default.
func ruleOf(action string) string {
	if action == "NO ACTION" || action == "RESTRICT" {
		return ""
	}
	return action
}

func (c *mysqlReader) readChecks(ctx context.Context, r Querier, maria bool) error {
	query := "SELECT TABLE_NAME, CONSTRAINT_NAME, '' FROM information_schema.TABLE_CONSTRAINTS" +
		" WHERE CONSTRAINT_SCHEMA = DATABASE() AND CONSTRAINT_TYPE = 'CHECK' ORDER BY 1, 2"
	if maria {
		query = "SELECT TABLE_NAME, CONSTRAINT_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS" +
			" WHERE CONSTRAINT_SCHEMA = DATABASE() ORDER BY 1, 2"
	}
	return each(ctx, r, query, nil, func(scan func(...any) error) error {
		var table, name, clause string
		if err := scan(&table, &name, &clause); err != nil {
			return err
		}
		t := c.Table(table)
		if t == nil {
			return nil
		}
		// This is all that JSON is in MariaDB.
		if column := t.Column(name); column != nil && clause == "json_valid("+sqldialect.MySQL.Quote(name)+")" && column.Type == "longtext" {
			column.Type, column.Collation = "json", ""
			return nil
		}
		t.AddNote("check %s %s", name, clause)
		return nil
	})
}

func (c *mysqlReader) readTriggers(ctx context.Context, r Querier) error {
	const triggers = "SELECT EVENT_OBJECT_TABLE, TRIGGER_NAME, CONCAT(ACTION_TIMING, ' ', EVENT_MANIPULATION)" +
		" FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE() ORDER BY 1, 2"
	err := each(ctx, r, triggers, nil, func(scan func(...any) error) error {
		var table, name, when string
		if err := scan(&table, &name, &when); err != nil {
			return err
		}
		if t := c.Table(table); t != nil {
			t.AddNote("trigger %s %s", name, strings.ToLower(when))
		}
		return nil
	})
	if err != nil {
		return err
	}
	const routines = "SELECT LOWER(ROUTINE_TYPE), ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()" +
		" UNION ALL SELECT 'event', EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE() ORDER BY 1, 2"
	return each(ctx, r, routines, nil, func(scan func(...any) error) error {
		var kind, name string
		if err := scan(&kind, &name); err != nil {
			return err
		}
		c.Notes = append(c.Notes, kind+" "+name)
		return nil
	})
}
