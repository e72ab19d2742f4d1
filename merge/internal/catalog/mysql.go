package catalog

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
)

// A mysqlReader reads the catalog of a MySQL or MariaDB server, from information_schema.
type mysqlReader struct {
	*Catalog
	written map[*Table]*mysqlTable
}

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
		func() error { return c.readDefinitions(ctx, r) },
		func() error { return c.readColumns(ctx, r, maria) },
		func() error { return c.readIndexes(ctx, r) },
		func() error { return c.readForeignKeys(ctx, r, schema.String) },
		c.noteChecks,
		func() error { return c.readTriggers(ctx, r) },
	} {
		if err := load(); err != nil {
			return err
		}
	}
	return nil
}

func (c *mysqlReader) readTables(ctx context.Context, r Querier) error {
	const query = "SELECT TABLE_NAME, TABLE_TYPE, COALESCE(TABLE_COLLATION, ''), COALESCE(ENGINE, ''), COALESCE(CREATE_OPTIONS, ''), COALESCE(TABLE_COMMENT, '')" +
		" FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME"
	return each(ctx, r, query, nil, func(scan func(...any) error) error {
		var name, kind, collation, engine, options, comment string
		if err := scan(&name, &kind, &collation, &engine, &options, &comment); err != nil {
			return err
		}
		switch {
		case ours(name):
			return nil
		case kind != "BASE TABLE" && kind != "SYSTEM VERSIONED":
			c.Notes = append(c.Notes, strings.ToLower(kind)+" "+name)
			return nil
		}
		t := &Table{Table: &plan.Table{Name: name, Comment: comment}}
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
