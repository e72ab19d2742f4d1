package convert_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/shardsnow/snow/sqlsnow"
)

// draw returns a row that is not there yet, without the key that the database numbers.
func (w *writer) draw(t *table) (*row, error) {
	r := &row{table: t, values: make(map[string]sql.NullString)}
	owned := t.counted != "" // a key of references has one that no other writer uses
	for _, f := range t.foreign {
		if slices.ContainsFunc(f.columns, func(c string) bool { _, is := r.values[c]; return is }) {
			continue
		}
		nullable := !slices.ContainsFunc(f.columns, func(c string) bool { return !t.column(c).nullable })
		mine := !owned && slices.Contains(t.key, f.columns[0])
		var parent *row
		switch own := w.rows.sorted(f.table); {
		case w.prefer != nil && w.prefer.table.name == f.table:
			parent = w.prefer
		case nullable && w.random.IntN(3) == 0:
		case len(own) > 0 && (mine || w.random.IntN(3) > 0):
			parent = own[w.random.IntN(len(own))]
		case !mine:
			parent = w.shared(f.table)
		}
		if parent == nil && !nullable {
			return nil, errNoParent
		}
		owned = owned || mine
		for i, c := range f.columns {
			if r.values[c] = (sql.NullString{}); parent != nil {
				r.values[c] = parent.values[f.target[i]]
			}
		}
	}
	for _, c := range t.columns {
		if _, is := r.values[c.name]; !is && !c.generated && c.name != t.counted {
			r.values[c.name] = w.value(t, c)
		}
	}
	return r, nil
}

// value returns something for a column. What is unique has the number of the writer in it.
func (w *writer) value(t *table, c *column) sql.NullString {
	inKey := slices.Contains(t.key, c.name)
	if c.nullable && w.random.IntN(4) == 0 {
		return sql.NullString{}
	}
	w.made++
	mark := fmt.Sprintf("w%d-%d", w.number, w.made)
	switch {
	case isText(c.kind) && c.length > 0 && c.length < 12:
		return text(fmt.Sprintf("%0*d", c.length, w.made%1000)[:c.length])
	case isText(c.kind):
		return text(mark)
	case strings.HasPrefix(c.kind, "date"), strings.HasPrefix(c.kind, "timestamp"):
		return text("2026-11-26 20:00:00")
	case c.kind == "boolean":
		return text(strconv.FormatBool(w.random.IntN(2) == 0))
	case c.kind == "tinyint":
		return text(strconv.Itoa(w.random.IntN(2)))
	case c.kind == "decimal", c.kind == "numeric", c.kind == "double", c.kind == "real":
		return text(fmt.Sprintf("%d.25", w.random.IntN(100)))
	case c.unique:
		return text(strconv.Itoa(1_000_000*(1+w.number) + w.made))
	case inKey:
		return text(strconv.Itoa(1 + w.random.IntN(30_000)))
	default:
		return text(strconv.Itoa(w.random.IntN(100)))
	}
}

// isLookup reports whether writers insert no rows: the keys would not suffice.
func (w *world) isLookup(t *table) bool {
	return len(t.key) == 0 || slices.ContainsFunc(t.key, func(name string) bool {
		c := t.column(name)
		return isText(c.kind) && c.length > 0 && c.length < 12
	})
}

// hasChildren reports whether rows of the writer refer to the row.
func (w *writer) hasChildren(r *row) bool {
	dead, nulls, ok := w.rows.deletion(r, w.tables, w.circles, w.dialect == sqlsnow.Postgres)
	return !ok || len(dead) > 1 || len(nulls) > 0
}

func text(s string) sql.NullString { return sql.NullString{String: s, Valid: true} }

func isText(kind string) bool {
	return strings.Contains(kind, "char") || strings.Contains(kind, "text") || strings.Contains(kind, "blob") || kind == "bytea"
}

// kind returns the code of an error after which a program tries a transaction again, or empty.
func (w *world) kind(err error) string {
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		switch my.Number {
		// Deadlock, lock wait, definition changed, prepare again, record changed, and a limit of MySQL 9.7: a deletion
		// may lead to 30 tables, and tables of triggers count.
		case 1213, 1205, 1412, 1615, 1020, 6575:
			return strconv.Itoa(int(my.Number))
		}
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code {
		case "40P01", "40001", "55P03", "0A000": // deadlock, serialization, lock not available, cached plan must not change result type
			return pg.Code
		}
	}
	return ""
}
