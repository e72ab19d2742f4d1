package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/convert/internal/mysql/restate"
)

// The depths of entries of a list. Rows that a foreign key changes with others are listed one deeper.
const (
	maxDepth    = 16  // the server itself carries changes on 15 times
	depthScan   = 126 // the tables must be compared, because changes may have been missed
	depthFailed = 127 // a change could not be repeated in the target
)

// A trigger has the sql_mode of the session that has made it, whatever its caller's is. Neither kind reads anything, so
// a program's view of the data begins no sooner than without them. Neither locks more than the program's own statement
// has locked, while source and target are equal.

// listing returns the statement that makes a trigger that lists changed rows.
func (d direction) listing(r *relation, event string) string {
	values := make([]string, 0, 2*len(r.tracked))
	for _, side := range []string{"OLD", "NEW"} {
		for _, c := range r.tracked {
			if (side == "OLD") == (event == "insert") && event != "update" {
				values = append(values, "NULL")
				continue
			}
			values = append(values, side+"."+quote(c))
		}
	}
	return fmt.Sprintf("INSERT INTO %s VALUES (UUID_SHORT(), 0, %s)", quote(d.log(r.name)), strings.Join(values, ", "))
}

// repeating returns what a trigger does that repeats a change in the target. What the target refuses is listed, and the
// program's statement goes on. Only a deadlock, or a wait for a lock that took too long, ends it, as without triggers.
//
// MySQL since 9.6 may have its foreign keys in SQL. Its REPLACE then fires the triggers of DELETE and INSERT, and
// leaves the rows alone that refer to the row. The target can't do that, so a row that comes again is listed as well.
func (d direction) repeating(r *relation, event string, keysInSQL bool) string {
	target := quote(d.to(r.name))
	stored := r.stored()
	found := each(r.key, " AND ", func(c string) string { return column(target, c) + " = OLD." + quote(c) })
	var change string
	switch event {
	case "insert":
		change = fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", target, quoteAll(stored), each(stored, ", ", func(c string) string { return "NEW." + quote(c) }))
	case "update":
		change = fmt.Sprintf("UPDATE %s SET %s WHERE %s", target, each(stored, ", ", func(c string) string { return quote(c) + " = NEW." + quote(c) }), found)
	case "delete":
		change = fmt.Sprintf("DELETE FROM %s WHERE %s", target, found)
	}
	failed := strings.Replace(d.listing(r, event), "UUID_SHORT(), 0,", fmt.Sprintf("UUID_SHORT(), %d,", depthFailed), 1)
	if keysInSQL && len(r.children) > 0 {
		key := func(row string) string {
			return "CONCAT_WS('/', " + each(r.key, ", ", func(c string) string { return "HEX(" + row + "." + quote(c) + ")" }) + ")"
		}
		switch event {
		case "delete":
			change += ";\n  SET @_snow_deleted = " + key("OLD")
		case "insert":
			change += fmt.Sprintf(";\n  IF @_snow_deleted = %s THEN %s; END IF;\n  SET @_snow_deleted = NULL", key("NEW"), failed)
		}
	}
	// After a deadlock and its like, the server has rolled back the transaction: the program must hear of it.
	return fmt.Sprintf("BEGIN\n  DECLARE EXIT HANDLER FOR 1213, 1205, 1206, 1020 RESIGNAL;\n  DECLARE CONTINUE HANDLER FOR SQLEXCEPTION %s;\n  %s;\nEND", failed, change)
}

// trigger returns the statement that makes a trigger of a kind.
func trigger(kind, event, table, on, body string) string {
	return fmt.Sprintf("CREATE TRIGGER IF NOT EXISTS %s AFTER %s ON %s FOR EACH ROW %s",
		quote(triggerName(kind, event, table)), strings.ToUpper(event), quote(on), body)
}

// makeListing makes the triggers that list changed rows, on the tables with the names that on returns.
func (d direction) makeListing(ctx context.Context, s *session, w world, on func(string) string) error {
	if made, err := complete(ctx, s, w, d.listed); err != nil || made {
		return err
	}
	return s.locked(ctx, w.names(on), func() error {
		for _, r := range w {
			if err := restate.Begin(ctx, s, on(r.name)); err != nil {
				return err
			}
			for _, event := range events() {
				if err := s.exec(ctx, trigger(d.listed, event, r.name, on(r.name), d.listing(r, event))); err != nil {
					return err
				}
			}
			if err := restate.Table(ctx, s, on(r.name)); err != nil {
				return err
			}
		}
		return nil
	})
}

// dropTriggers drops the triggers of some kinds, wherever they are.
func dropTriggers(ctx context.Context, s *session, w world, kinds ...string) error {
	ours, err := texts(ctx, s, `SELECT TRIGGER_NAME, EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE() AND TRIGGER_NAME LIKE '\\_snow\\_%'`)
	if err != nil {
		return err
	}
	on := map[string]string{}
	for _, row := range ours {
		on[row[0]] = row[1]
	}
	var names, tables []string
	for _, r := range w {
		for _, event := range events() {
			for _, kind := range kinds {
				name := triggerName(kind, event, r.name)
				if on[name] == "" {
					continue
				}
				if names = append(names, name); !slices.Contains(tables, on[name]) {
					tables = append(tables, on[name])
				}
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return s.locked(ctx, tables, func() error {
		for _, table := range tables {
			if err := restate.Begin(ctx, s, table); err != nil {
				return err
			}
		}
		for _, name := range names {
			if err := s.exec(ctx, "DROP TRIGGER IF EXISTS "+quote(name)); err != nil {
				return err
			}
		}
		for _, table := range tables {
			if err := restate.Table(ctx, s, table); err != nil {
				return err
			}
		}
		return nil
	})
}

// complete reports whether all triggers of a kind exist.
func complete(ctx context.Context, q querier, w world, kind string) (bool, error) {
	have, err := triggers(ctx, q)
	if err != nil {
		return false, err
	}
	for _, r := range w {
		for _, event := range events() {
			if !have[triggerName(kind, event, r.name)] {
				return false, nil
			}
		}
	}
	return true, nil
}

func itself(table string) string { return table }
