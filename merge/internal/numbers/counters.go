package numbers

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// CountOn sets the counters of the target above the ids of its rows, and above the numbers that stay free for later
// merges. It never sets a counter lower than it was, so it may be called again. found is the catalogue of the target.
func CountOn(ctx context.Context, w *work.Writer, found *catalog.Catalog) error {
	left, err := ledger.Of(w.Conns.Target).Left(ctx)
	if err != nil {
		return err
	}
	for _, t := range w.Order {
		there := found.TableLike(t.Name)
		if !t.IDs.AreNumbers() || there == nil {
			continue
		}
		for _, name := range there.Numbered {
			if err := countColumn(ctx, w, t, catalog.ColumnLike(there.Table, name), left[t.Name]); err != nil {
				return w.Engine.Failed("number table "+strconv.Quote(t.Name)+" above its rows", err)
			}
		}
	}
	return nil
}

// countColumn sets the counter of one column.
func countColumn(ctx context.Context, w *work.Writer, t *plan.Table, c *plan.Column, left []ledger.Numbers) error {
	if c == nil {
		return nil
	}
	target := w.Conns.Target
	table := target.Engine.Table(t.Name)
	var high any
	if err := target.QueryRowContext(ctx, "SELECT MAX("+w.Engine.Quote(c.Name)+") FROM "+table).Scan(&high); err != nil {
		return err
	}
	top, _ := sqlvalue.ParseID(sqlvalue.Text(high)) // 0 where there are no rows
	top = max(0, top)
	if key := t.Key(); key != nil && strings.EqualFold(key.Name, c.Name) {
		for _, numbers := range left {
			top = max(top, numbers.Last)
		}
	}
	if top >= sqltype.Of(w.Engine.Kind, c.Type).Highest() {
		return nil // there is no next number
	}
	switch w.Engine.Kind {
	case sqlsnow.MySQL:
		next, err := counter(ctx, target, table)
		if err != nil || next > top {
			return err
		}
		// The statement commits what is before it, so that it is in no transaction of the lease.
		_, err = target.ExecContext(ctx, setCounter(table, top+1))
		return err
	case sqlsnow.Postgres:
		sequence, err := sequenceOf(ctx, target, t.Name, c.Name)
		if err != nil || sequence == "" {
			return err
		}
		return w.Lease.Transaction(ctx, target, func() error {
			_, err := target.ExecContext(ctx, fmt.Sprintf("SELECT setval(%s, %d, false) FROM %s WHERE CASE WHEN is_called THEN last_value ELSE last_value - 1 END < %d",
				w.Engine.Kind.Literal(sequence), top+1, sequence, top))
			return err
		})
	}
	if !strings.EqualFold(c.Options, "AUTOINCREMENT") {
		return nil
	}
	_, name := target.Engine.Locate(t.Name)
	return w.Lease.Transaction(ctx, target, func() error {
		_, err := target.ExecContext(ctx, "UPDATE sqlite_sequence SET seq = ?1 WHERE lower(name) = lower(?2) AND seq < ?1", top, name)
		if err == nil {
			_, err = target.ExecContext(ctx, "INSERT INTO sqlite_sequence (name, seq) SELECT name, ?1 FROM sqlite_schema WHERE type = 'table' AND lower(name) = lower(?2) AND NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE lower(name) = lower(?2))", top, name)
		}
		return err
	})
}

// setCounter returns the statement that sets the next number of a table of MySQL.
func setCounter(table string, next int64) string {
	return fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", table, next)
}

var counterOption = regexp.MustCompile(`(?m)^\).* AUTO_INCREMENT=(\d+)`)

// counter returns the next number of a table of MySQL. What information_schema says of it may be old.
func counter(ctx context.Context, s *chunk.Session, table string) (int64, error) {
	next := int64(1)
	err := chunk.Visit(ctx, s, "SHOW CREATE TABLE "+table, nil, func(rows *sql.Rows) error {
		var name, statement string
		if err := rows.Scan(&name, &statement); err != nil {
			return err
		}
		m := counterOption.FindStringSubmatch(statement)
		if m == nil {
			return nil
		}
		n, err := strconv.ParseUint(m[1], 10, 64)
		next = int64(min(n, 1<<63-1))
		return err
	})
	return next, err
}

// sequenceOf returns the sequence that numbers a column of a table of PostgreSQL, as SQL, or "" if none does.
func sequenceOf(ctx context.Context, s *chunk.Session, table, column string) (string, error) {
	name := s.Engine.Kind.Literal(s.Engine.Table(table))
	text := `SELECT COALESCE(pg_get_serial_sequence(` + name + `, a.attname), (SELECT q.oid::regclass::text FROM pg_attrdef d JOIN pg_depend p ON p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid
			JOIN pg_class q ON p.refclassid = 'pg_class'::regclass AND q.oid = p.refobjid AND q.relkind = 'S' WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum LIMIT 1), '')
		FROM pg_attribute a WHERE a.attrelid = ` + name + `::regclass AND a.attname = ` + s.Engine.Kind.Literal(column)
	var sequence string
	err := s.QueryRowContext(ctx, text).Scan(&sequence)
	return sequence, s.Engine.Failed("look for the sequence of table "+strconv.Quote(table), err)
}

// CheckCounters returns an error if a run could not set the counters of a table of the target, which may be nil.
func CheckCounters(ctx context.Context, s *chunk.Session, t *plan.Table, found *catalog.Table) error {
	if found == nil || len(found.Numbered) == 0 {
		return nil
	}
	what := "let the target number table " + strconv.Quote(t.Name) + " above its rows"
	switch s.Engine.Kind {
	case sqlsnow.MySQL:
		if t.Leave == 0 {
			return nil // rows that are inserted do that
		}
		var prepared interface{ Close() error }
		var err error
		if prepared, err = s.PrepareContext(ctx, setCounter(s.Engine.Table(t.Name), 1)); err == nil {
			err = prepared.Close()
		}
		return s.Engine.Failed(what, err)
	case sqlsnow.Postgres:
		for _, name := range found.Numbered {
			sequence, err := sequenceOf(ctx, s, t.Name, name)
			if err != nil || sequence == "" {
				return err
			}
			var may bool
			of := "has_sequence_privilege(current_user, " + s.Engine.Kind.Literal(sequence) + ", "
			if err := s.QueryRowContext(ctx, "SELECT "+of+"'SELECT') AND "+of+"'UPDATE')").Scan(&may); err != nil {
				return s.Engine.Failed(what, err)
			}
			if !may {
				return &plan.Error{Table: t.Name, Column: name, Reason: "the target's account may not set its sequence, " + sequence + ": grant SELECT and UPDATE on it"}
			}
		}
	}
	return nil
}

// Uncounted returns as open the columns that the sources number and the target does not, and what is left in vain.
func Uncounted(j *work.Job, target *catalog.Catalog) (open []report.Open) {
	for _, t := range j.Order {
		found := target.TableLike(t.Name)
		if !t.IDs.AreNumbers() || found == nil {
			continue
		}
		for _, c := range t.Columns {
			reason := ""
			switch {
			case !c.Numbered || c.Generated != "":
			case !counts(found, c.Name):
				reason = "the sources number it, and the target does not: a program that gives no id could not insert a row"
			case j.Engine.Kind == sqlsnow.SQLite && t.Leave > 0 && c.Role == plan.RoleKey && catalog.ColumnLike(found.Table, c.Name).Options != "AUTOINCREMENT":
				reason = fmt.Sprintf("without AUTOINCREMENT the target takes the number after the highest row, so that the %d numbers above the new ids do not stay free", t.Leave)
			}
			if reason != "" {
				open = append(open, report.Open{Kind: report.OpenUnchecked, Table: t.Name, Column: c.Name, Reason: reason})
			}
		}
	}
	return open
}

// counts reports whether a table of the target numbers a column.
func counts(found *catalog.Table, column string) bool {
	return slices.ContainsFunc(found.Numbered, func(name string) bool { return strings.EqualFold(name, column) }) && catalog.ColumnLike(found.Table, column) != nil
}
