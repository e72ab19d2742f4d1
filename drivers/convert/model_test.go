package convert_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/sqlsnow"
)

// A row is what must be in a table.
type row struct {
	table  *table
	values map[string]sql.NullString
	fresh  bool // a new program has inserted it
}

// id is the row's primary key as one text.
func (r *row) id() string {
	var parts []string
	for _, c := range r.table.key {
		parts = append(parts, r.values[c].String)
	}
	return strings.Join(parts, "|")
}

// tuple returns the values of some columns; ok is false if one is NULL.
func (r *row) tuple(columns []string) (values []string, ok bool) {
	for _, c := range columns {
		if !r.values[c].Valid {
			return nil, false
		}
		values = append(values, r.values[c].String)
	}
	return values, true
}

// A model is the rows of one writer, by table and primary key.
type model map[string]map[string]*row

func (m model) put(r *row) {
	if m[r.table.name] == nil {
		m[r.table.name] = make(map[string]*row)
	}
	m[r.table.name][r.id()] = r
}

// sorted returns the rows of a table in an order that is always the same.
func (m model) sorted(name string) []*row {
	return slices.SortedFunc(maps.Values(m[name]), func(a, b *row) int { return cmp.Compare(a.id(), b.id()) })
}

// A cleared row loses a reference, because the row that it refers to is deleted.
type cleared struct {
	row     *row
	columns []string
}

// deletion says what becomes of other rows when one is deleted; ok is false if the database refuses that. MySQL 9.7
// leaves orphans where a deletion comes back to a table on its way through another one, as from discussions to posts
// to discussions: if circles is false, ok is false for these, too. InnoDB refuses to delete a row that refers to
// itself, so that itself is false.
func (m model) deletion(first *row, tables map[string]*table, circles, itself bool) (dead []*row, nulls []cleared, ok bool) {
	dead = []*row{first}
	way := []map[string]bool{{}} // the tables before each of them
	for i := 0; i < len(dead); i++ {
		name := dead[i].table.name
		for _, t := range tables {
			for _, f := range t.foreign {
				if f.table != name || f.onDelete == "" {
					continue
				}
				target, _ := dead[i].tuple(f.target)
				for _, r := range m[t.name] {
					if values, whole := r.tuple(f.columns); !whole || !slices.Equal(values, target) {
						continue
					}
					if r == dead[i] && !itself && f.onDelete != "CASCADE" && f.onDelete != "SET NULL" {
						return nil, nil, false
					}
					if slices.Contains(dead, r) {
						continue
					}
					if !circles && t.name != name && way[i][t.name] {
						return nil, nil, false
					}
					switch f.onDelete {
					case "CASCADE":
						before := maps.Clone(way[i])
						before[name] = true
						dead, way = append(dead, r), append(way, before)
					case "SET NULL":
						nulls = append(nulls, cleared{r, f.columns})
					default:
						return nil, nil, false
					}
				}
			}
		}
	}
	return dead, nulls, true
}

// forget applies a deletion.
func (m model) forget(dead []*row, nulls []cleared) {
	for _, c := range nulls {
		for _, name := range c.columns {
			c.row.values[name] = sql.NullString{}
		}
	}
	for _, r := range dead {
		delete(m[r.table.name], r.id())
	}
}

// read returns the rows of a table that a condition selects.
func read(ctx context.Context, q querier, d sqlsnow.Dialect, t *table, where string, args ...any) (found []*row, err error) {
	var columns []string
	for _, name := range t.names() {
		columns = append(columns, quote(d, name))
	}
	rows, err := q.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s WHERE %s", strings.Join(columns, ", "), quote(d, t.name), where), args...)
	if err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		r := &row{table: t, values: make(map[string]sql.NullString)}
		for i, name := range t.names() {
			r.values[name] = values[i]
		}
		found = append(found, r)
		return nil
	})
	return found, err
}

// compare returns how the rows of the database differ from the models. It does not look at rows of a table in skip up
// to that number.
func compare(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, tables map[string]*table, skip map[string]int64, models []model) (differences []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		t := tables[name]
		want := make(map[string]*row)
		for _, m := range models {
			for id, r := range m[name] {
				if want[id] != nil {
					differences = append(differences, fmt.Sprintf("%s %s: two writers were told this key", name, id))
				}
				want[id] = r
			}
		}
		where := "1 = 1"
		if n := skip[name]; n > 0 {
			where = fmt.Sprintf("%s > %d", quote(d, t.key[0]), n)
		}
		rows, err := read(ctx, db, d, t, where)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, r := range rows {
			w := want[r.id()]
			if w == nil {
				differences = append(differences, fmt.Sprintf("%s %s: nobody was told of it: %v", name, r.id(), r.values))
				continue
			}
			delete(want, r.id())
			for _, c := range t.columns {
				if r.values[c.name] != w.values[c.name] {
					differences = append(differences, fmt.Sprintf("%s %s: %s is %v, want %v", name, r.id(), c.name, r.values[c.name], w.values[c.name]))
				}
			}
		}
		for id, r := range want {
			if n, _ := strconv.ParseInt(r.values[t.key[0]].String, 10, 64); n > skip[name] || skip[name] == 0 {
				differences = append(differences, fmt.Sprintf("%s %s is lost: %v", name, id, r.values))
			}
		}
	}
	return differences, nil
}

// orphans counts the references of each column that lead to no row.
func orphans(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, tables map[string]*table) (found []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		for _, f := range tables[name].foreign {
			if f.onDelete == "" {
				continue // the row may have been deleted
			}
			var on, given []string
			for i, c := range f.columns {
				on = append(on, fmt.Sprintf("p.%s = c.%s", quote(d, f.target[i]), quote(d, c)))
				given = append(given, fmt.Sprintf("c.%s IS NOT NULL", quote(d, c)))
			}
			var n int
			err := db.QueryRowContext(ctx, fmt.Sprintf("SELECT COUNT(*) FROM %s c WHERE %s AND NOT EXISTS (SELECT 1 FROM %s p WHERE %s)",
				quote(d, name), strings.Join(given, " AND "), quote(d, f.table), strings.Join(on, " AND "))).Scan(&n)
			if err != nil {
				return nil, err
			}
			if n > 0 {
				found = append(found, fmt.Sprintf("%s.%v: %d orphans", name, f.columns, n))
			}
		}
	}
	return found, nil
}

func quote(d sqlsnow.Dialect, name string) string {
	if d == sqlsnow.Postgres {
		return `"` + name + `"`
	}
	return "`" + name + "`"
}
