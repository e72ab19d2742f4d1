package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shardsnow/snow/convert/internal/job"
)

// drop drops the tables of old and the lists, and gives the constraints their names back.
func (g *group) drop(ctx context.Context, run *job.Run) error {
	return g.work(ctx, run, func(s *session, w world) error {
		if err := g.stopKeeping(ctx, s, w); err != nil {
			return err
		}
		if err := run.Check(ctx); err != nil {
			return err
		}
		var names []string
		for _, r := range w {
			names = append(names, oldOf(r.name), forward().log(r.name), backward().log(r.name))
		}
		if err := patiently(ctx, func() error { return s.exec(ctx, "DROP TABLE IF EXISTS "+quoteAll(names)) }); err != nil {
			return err
		}
		statements, tables := map[string]string{}, g.names()
		for _, r := range w {
			links, err := linksIn(r.name, r.text)
			if err != nil {
				return err
			}
			if statement := g.renameKeys(r); statement != "" {
				statements[r.name] = statement
			}
			for _, l := range links {
				if l.refers != "" && !slices.Contains(tables, l.refers) {
					tables = append(tables, l.refers)
				}
			}
		}
		if len(statements) == 0 {
			return nil
		}
		return s.locked(ctx, tables, func() error {
			for name, statement := range statements {
				if err := s.exec(ctx, statement); err != nil {
					return err
				}
				delete(statements, name)
			}
			return nil
		})
	})
}

// renameKeys returns the statement that gives the foreign keys of a table their names back. The server changes no row
// for it, and no moment is without the keys.
func (g *group) renameKeys(r *relation) string {
	var parts []string
	for line := range strings.Lines(r.text) {
		line = strings.TrimSuffix(strings.TrimRight(line, "\n"), ",")
		m := foreignKeyLine().FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		now := unquote(line[m[2]:m[3]])
		if name := g.keyName(r, now); name != now {
			parts = append(parts, "DROP FOREIGN KEY "+quote(now), "ADD "+strings.TrimSpace(line[:m[2]])+" "+quote(name)+line[m[3]:])
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("ALTER TABLE %s %s, ALGORITHM=INPLACE", quote(r.name), strings.Join(parts, ", "))
}

// keyName returns the name that a foreign key had before.
func (g *group) keyName(r *relation, now string) string {
	for _, k := range r.plan.ForeignKeys {
		if now == derived("", k.Name) {
			return k.Name
		}
	}
	if before, ours := strings.CutPrefix(now, "_snow_"); ours && utf8.RuneCountInString(now) < maxName {
		return before
	}
	return now
}
