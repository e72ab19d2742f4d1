package mysql

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// isSwapped reports whether the wider tables have the names. All tables of a group change names in one statement.
func (g *group) isSwapped(ctx context.Context, q querier) (bool, error) {
	found, err := exists(ctx, q, oldOf(g.tables[0].Name))
	return len(found) > 0, err
}

// prepare makes the wider tables, the lists, and the triggers that list changes.
func (g *group) prepare(ctx context.Context, run *job.Run) error {
	return g.work(ctx, run, func(s *session, w world) error {
		if swapped, err := g.isSwapped(ctx, s); err != nil || swapped {
			return err
		}
		if err := g.refuse(ctx, s, w); err != nil {
			return err
		}
		var names []string
		for _, r := range w {
			names = append(names, shadowOf(r.name))
		}
		found, err := exists(ctx, s, names...)
		if err != nil {
			return err
		}
		for _, r := range w {
			if err := run.Check(ctx); err != nil {
				return err
			}
			if err := g.prepareTable(ctx, s, r, found[shadowOf(r.name)]); err != nil {
				return err
			}
		}
		return forward().makeListing(ctx, s, w, itself)
	})
}

func (g *group) prepareTable(ctx context.Context, s *session, r *relation, exists bool) error {
	if !exists {
		text, err := shadowText(g, r)
		if err != nil {
			return err
		}
		if err := s.exec(ctx, text); err != nil {
			return err
		}
	}
	mark, err := markOf(ctx, s, r)
	if err != nil {
		return err
	}
	ids, err := idsOf(ctx, s, shadowOf(r.name))
	if err != nil {
		return err
	}
	for name, mark := range map[string]string{forward().log(r.name): mark, backward().log(r.name): ids} {
		text, err := logText(r, name, mark)
		if err != nil {
			return err
		}
		if err := s.exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// refuse returns an error if a group can't be converted online.
func (g *group) refuse(ctx context.Context, s *session, w world) error {
	server, err := texts(ctx, s, "SELECT @@binlog_format, @@log_bin")
	if err != nil {
		return err
	}
	if server[0][1] == "1" && server[0][0] == "STATEMENT" {
		return fmt.Errorf("mysql: binlog_format is %q: replicas would repeat what triggers do; set it to ROW or MIXED", server[0][0])
	}
	for _, r := range w {
		if _, err := newScan(r, ""); err != nil {
			return err
		}
		if err := checkNames(r, s.mariaDB); err != nil {
			return err
		}
		for _, l := range r.children {
			if s.keysInSQL && l.carries() {
				return fmt.Errorf("mysql: table %q can't be converted online: its foreign key %q has actions, and this server carries them out "+
					"in SQL, where they and the triggers have not been found to work together. Set the method of its group to alter, "+
					"or start the server with innodb_native_foreign_keys", l.table, l.name)
			}
		}
	}
	outside, err := texts(ctx, s, `SELECT TABLE_SCHEMA, TABLE_NAME, REFERENCED_TABLE_NAME FROM information_schema.KEY_COLUMN_USAGE
		WHERE REFERENCED_TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME IN (`+each(g.names(), ", ", literalName)+`)
		AND NOT (TABLE_SCHEMA = DATABASE() AND (TABLE_NAME IN (`+each(g.names(), ", ", literalName)+`)))`)
	if err != nil {
		return err
	}
	if len(outside) > 0 {
		return fmt.Errorf("mysql: table %q of %q refers to %q, and does not change with it", outside[0][1], outside[0][0], outside[0][2])
	}
	theirs, err := texts(ctx, s, `SELECT TRIGGER_NAME, EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE()
		AND EVENT_OBJECT_TABLE IN (`+each(g.names(), ", ", literalName)+`) AND TRIGGER_NAME NOT LIKE '\\_snow\\_%'`)
	if err != nil {
		return err
	}
	if len(theirs) > 0 {
		return fmt.Errorf("mysql: table %q can't be converted online: it has the trigger %q", theirs[0][1], theirs[0][0])
	}
	return nil
}

// markOf returns what changes if somebody truncates or alters a table: no trigger fires on that.
func markOf(ctx context.Context, q querier, r *relation) (string, error) {
	sum := fnv.New64a()
	fmt.Fprint(sum, counterOption().ReplaceAllString(r.text, ""))
	mark := fmt.Sprintf("%016x", sum.Sum64())
	ids, err := idsOf(ctx, q, r.name)
	return mark + " " + ids, err
}

// idsOf returns what changes when a table, or a partition, is made anew.
func idsOf(ctx context.Context, q querier, table string) (string, error) {
	database, err := texts(ctx, q, "SELECT DATABASE(), VERSION()")
	if err != nil {
		return "", err
	}
	list := "INNODB_TABLES"
	if strings.Contains(database[0][1], "MariaDB") {
		list = "INNODB_SYS_TABLES"
	}
	file := fileName(database[0][0]) + "/" + fileName(table)
	pattern := strings.NewReplacer("_", `\_`, "%", `\%`, `\`, `\\`).Replace(file) + "#p#%"
	var ids [][]string
	err = patiently(ctx, func() (err error) { // the server's own tables may be locked
		ids, err = texts(ctx, q, "SELECT TABLE_ID FROM information_schema."+list+" WHERE NAME = ? OR NAME LIKE ? ORDER BY TABLE_ID", file, pattern)
		return err
	})
	if sqldialect.MySQL.Classify(err) == sqldialect.Denied {
		return "", fmt.Errorf("mysql: the account needs the privilege PROCESS, to see whether tables are truncated: %w", err)
	}
	if err != nil {
		return "", err
	}
	sum := fnv.New64a()
	fmt.Fprint(sum, ids)
	return fmt.Sprintf("%016x", sum.Sum64()), nil
}

// fileName returns a name as InnoDB writes it. Characters that are not ASCII have other codes there as well, which
// nobody needs: then a table's number is not found, before and after.
func fileName(name string) string {
	var b strings.Builder
	for _, c := range name {
		if c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			b.WriteRune(c)
			continue
		}
		fmt.Fprintf(&b, "@%04x", c)
	}
	return b.String()
}

// untouched returns an error if a table was truncated or altered since its list was made.
func untouched(ctx context.Context, q querier, w world) error {
	for _, r := range w {
		now, err := markOf(ctx, q, r)
		if err != nil {
			return err
		}
		then, err := comment(ctx, q, forward().log(r.name))
		if err != nil {
			return err
		}
		if then != now {
			return fmt.Errorf("mysql: table %q was truncated, or its definition has changed, since its conversion began: go back, and begin again", r.name)
		}
	}
	return nil
}

func comment(ctx context.Context, q querier, table string) (string, error) {
	found, err := texts(ctx, q, "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?", table)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0][0], nil
}

// discard drops all that prepare has made.
func (g *group) discard(ctx context.Context, run *job.Run) error {
	return g.work(ctx, run, func(s *session, w world) error {
		if swapped, err := g.isSwapped(ctx, s); err != nil || swapped {
			if swapped {
				err = fmt.Errorf("mysql: the wider table of %q is in use", g.name)
			}
			return err
		}
		if err := dropTriggers(ctx, s, w, "m", "l", "b", "r"); err != nil {
			return err
		}
		var names []string
		for _, r := range w {
			names = append(names, shadowOf(r.name), forward().log(r.name), backward().log(r.name))
		}
		return patiently(ctx, func() error { return s.exec(ctx, "DROP TABLE IF EXISTS "+quoteAll(names)) })
	})
}
