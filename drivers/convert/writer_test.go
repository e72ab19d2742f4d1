package convert_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// A writer inserts, updates and deletes rows of its own. They refer to each other, and to rows that all share and
// nobody touches.
type writer struct {
	*world
	number int
	fresh  bool        // it knows of snow ids, which it gives to rows of the tables in world.wide
	source snow.Source // if fresh
	db     *sql.DB
	random *rand.Rand
	rows   model
	latest []*row         // inserted last
	prefer *row           // new rows refer to it
	early  []*row         // are in rows, although their transaction is not over
	made   int            // marks
	done   int            // transactions
	met    map[string]int // transactions that the server took back, by its code
}

// errNoParent says that a row would need one that is not there yet.
var errNoParent = errors.New("no row to refer to")

// work does something until the first context ends, or until something is not as it should be. The second context is
// the one of the statements. done gets something for each transaction, if somebody waits for it.
func (w *writer) work(ctx, server context.Context, done chan<- struct{}) error {
	for ctx.Err() == nil {
		before := w.done
		if err := w.once(server); err != nil {
			return fmt.Errorf("writer %d: %w", w.number, err)
		}
		if w.done == before {
			continue
		}
		select {
		case done <- struct{}{}:
		default:
		}
	}
	return nil
}

// once does one transaction. What the server takes back is counted, and forgotten.
func (w *writer) once(ctx context.Context) error {
	var apply func()
	err := w.transaction(ctx, func(q querier) (err error) {
		switch n := w.random.IntN(100); {
		case n < 40:
			apply, err = w.insert(ctx, q, w.any(), 1) // as most programs do
		case n < 55:
			apply, err = w.insert(ctx, q, w.any(), 2+w.random.IntN(6))
		case n < 70:
			apply, err = w.family(ctx, q)
		case n < 88:
			apply, err = w.update(ctx, q)
		default:
			apply, err = w.remove(ctx, q)
		}
		return err
	})
	early := w.early
	w.early, w.prefer = nil, nil
	if err != nil {
		w.rows.forget(early, nil)
	}
	switch kind := w.kind(err); {
	case err == nil:
		apply()
		w.done++
	case errors.Is(err, errNoParent):
	case kind != "":
		w.met[kind]++
	default:
		return err
	}
	return nil
}

func (w *writer) transaction(ctx context.Context, do func(querier) error) error {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(timed{tx, w.blocked}); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return timed{tx, w.blocked}.commit()
}

// any returns a table into which writers insert.
func (w *writer) any() *table {
	for {
		t := w.tables[w.order[w.random.IntN(len(w.order))]]
		if !w.isLookup(t) && len(t.key) > 0 {
			return t
		}
	}
}

// family inserts a row, and rows that refer to it.
func (w *writer) family(ctx context.Context, q querier) (apply func(), err error) {
	parent := w.any()
	var applies []func()
	first, err := w.insert(ctx, q, parent, 1)
	if err != nil {
		return nil, err
	}
	first() // its children look for it
	if len(w.latest) == 0 {
		return nil, errNoParent
	}
	w.early, w.prefer = w.latest, w.latest[0]
	for _, name := range w.order {
		t := w.tables[name]
		if w.isLookup(t) || t == parent || !slices.ContainsFunc(t.foreign, func(f *reference) bool { return f.table == parent.name }) || w.random.IntN(2) == 0 {
			continue
		}
		child, failed := w.insert(ctx, q, t, 1+w.random.IntN(2))
		if errors.Is(failed, errNoParent) {
			continue
		}
		if failed != nil {
			return nil, failed
		}
		applies = append(applies, child)
	}
	return func() {
		for _, f := range applies {
			f()
		}
	}, nil
}

// insert inserts rows in one statement, and reads them again by the key that the server has told.
func (w *writer) insert(ctx context.Context, q querier, t *table, n int) (apply func(), err error) {
	if c := t.column(t.counted); c != nil && c.kind == "smallint" {
		n = 1 // there, a block is one number on MySQL, so that few are lost, and longer statements fail
	}
	var rows []*row
	keys := make(map[string]bool)
	for range n {
		r, err := w.draw(t)
		if err != nil {
			return nil, err
		}
		id := r.id()
		if t.counted == "" && (keys[id] || w.rows[t.name][id] != nil) {
			continue // the same pair again
		}
		keys[id] = true
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil, errNoParent
	}
	told := t.counted != ""
	if key := w.wide[t.name]; w.fresh && key != "" {
		told = false
		for _, r := range rows {
			id, err := w.source.Next(ctx)
			if err != nil {
				return nil, err
			}
			r.values[key] = text(id.String())
			r.fresh = true
		}
	}
	if err := w.send(ctx, q, t, rows, told); err != nil {
		return nil, fmt.Errorf("insert into %s: %w", t.name, err)
	}
	for i, r := range rows {
		where, args := w.where(t.key, r)
		stored, err := read(ctx, q, w.dialect, t, where, args...)
		if err != nil {
			return nil, err
		}
		if len(stored) != 1 {
			return nil, fmt.Errorf("%s: row %d of %d was told the key %s, and %d rows have it", t.name, i, len(rows), r.id(), len(stored))
		}
		for name, v := range r.values {
			c := t.column(name)
			if got := stored[0].values[name]; (isText(c.kind) || t.refers(name) || name == t.counted) && got != v {
				return nil, fmt.Errorf("%s %s: the row with the key that was told has %s %v, want %v", t.name, r.id(), name, got, v)
			}
		}
		stored[0].fresh = r.fresh
		rows[i] = stored[0]
	}
	return func() {
		w.latest = rows
		for _, r := range rows {
			w.rows.put(r)
		}
	}, nil
}

// send inserts rows, and sets the keys that the server tells.
func (w *writer) send(ctx context.Context, q querier, t *table, rows []*row, told bool) error {
	var names, tuples []string
	var args []any
	placeholder := func(v sql.NullString) string {
		if !v.Valid {
			return "NULL"
		}
		args = append(args, v.String)
		if w.dialect == sqlsnow.Postgres {
			return "$" + strconv.Itoa(len(args))
		}
		return "?"
	}
	// Programs leave the key out, or ask for a number with DEFAULT; on MySQL also with NULL and 0.
	asks := ""
	if told {
		asks = []string{"", "", "DEFAULT", "NULL", "0"}[w.random.IntN(5)]
		if w.dialect == sqlsnow.Postgres && asks != "" {
			asks = "DEFAULT"
		}
	}
	for _, c := range t.columns {
		if !c.generated && (c.name != t.counted || !told || asks != "") {
			names = append(names, quote(w.dialect, c.name))
		}
	}
	for _, r := range rows {
		var values []string
		for _, c := range t.columns {
			switch {
			case c.generated:
			case c.name == t.counted && told:
				if asks != "" {
					values = append(values, asks)
				}
			default:
				values = append(values, placeholder(r.values[c.name]))
			}
		}
		tuples = append(tuples, "("+strings.Join(values, ", ")+")")
	}
	statement := fmt.Sprintf("INSERT INTO %s (%s) VALUES %s", quote(w.dialect, t.name), strings.Join(names, ", "), strings.Join(tuples, ", "))
	if !told {
		_, err := q.ExecContext(ctx, statement, args...)
		return err
	}
	if w.dialect == sqlsnow.Postgres {
		returned, err := q.QueryContext(ctx, statement+" RETURNING "+quote(w.dialect, t.counted), args...) //nolint:sqlclosecheck // each does
		if err != nil {
			return err
		}
		i := 0
		return each(returned, func() error {
			var id string
			err := returned.Scan(&id)
			rows[i].values[t.counted] = text(id)
			i++
			return err
		})
	}
	result, err := q.ExecContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	first, err := result.LastInsertId()
	if err != nil {
		return err
	}
	last, err := q.QueryContext(ctx, "SELECT LAST_INSERT_ID()") //nolint:sqlclosecheck // each does
	if err != nil {
		return err
	}
	err = each(last, func() error {
		var id int64
		if err := last.Scan(&id); err != nil {
			return err
		}
		if id != first {
			return fmt.Errorf("LAST_INSERT_ID() is %d, and the reply had %d", id, first)
		}
		return nil
	})
	for i, r := range rows {
		r.values[t.counted] = text(strconv.FormatInt(first+int64(i), 10))
	}
	return err
}

// update changes some columns of a row.
func (w *writer) update(ctx context.Context, q querier) (apply func(), err error) {
	r := w.own()
	if r == nil {
		return nil, errNoParent
	}
	drawn, err := w.draw(r.table)
	if err != nil {
		return nil, err
	}
	var sets []string
	var args []any
	for _, c := range r.table.columns {
		inKey := slices.Contains(r.table.key, c.name)
		if c.generated || c.name == r.table.counted || w.random.IntN(2) == 0 || inKey && (r.table.refers(c.name) || isText(c.kind) || len(r.table.key) == 1) {
			continue
		}
		args = append(args, drawn.values[c.name])
		mark := "?"
		if w.dialect == sqlsnow.Postgres {
			mark = "$" + strconv.Itoa(len(args))
		}
		sets = append(sets, quote(w.dialect, c.name)+" = "+mark)
	}
	if len(sets) == 0 {
		return nil, errNoParent
	}
	after := maps.Clone(r.values)
	for _, c := range r.table.key {
		if i := slices.IndexFunc(sets, func(s string) bool { return strings.HasPrefix(s, quote(w.dialect, c)+" =") }); i >= 0 {
			after[c] = drawn.values[c]
		}
	}
	moved := &row{table: r.table, values: after}
	if moved.id() != r.id() && (w.rows[r.table.name][moved.id()] != nil || w.hasChildren(r)) {
		return nil, errNoParent
	}
	for _, c := range r.table.key {
		args = append(args, r.values[c].String)
	}
	where := w.condition(r.table.key, len(args)-len(r.table.key))
	result, err := q.ExecContext(ctx, fmt.Sprintf("UPDATE %s SET %s WHERE %s", quote(w.dialect, r.table.name), strings.Join(sets, ", "), where), args...)
	if err != nil {
		return nil, fmt.Errorf("update %s: %w", r.table.name, err)
	}
	if n, err := result.RowsAffected(); err != nil || n > 1 {
		return nil, fmt.Errorf("%s %s: updated %d rows, %w", r.table.name, r.id(), n, err)
	}
	condition, keys := w.where(r.table.key, moved)
	stored, err := read(ctx, q, w.dialect, r.table, condition, keys...)
	if err != nil || len(stored) != 1 {
		return nil, fmt.Errorf("%s %s: %d rows after an update, %w", r.table.name, moved.id(), len(stored), err)
	}
	return func() {
		delete(w.rows[r.table.name], r.id())
		r.values = stored[0].values
		w.rows.put(r)
	}, nil
}

// remove deletes a row, and what the database deletes and clears with it.
func (w *writer) remove(ctx context.Context, q querier) (apply func(), err error) {
	r := w.own()
	if r == nil {
		return nil, errNoParent
	}
	dead, nulls, ok := w.rows.deletion(r, w.tables, w.circles, w.dialect == sqlsnow.Postgres)
	if !ok {
		return nil, errNoParent
	}
	where, args := w.where(r.table.key, r)
	result, err := q.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s WHERE %s", quote(w.dialect, r.table.name), where), args...)
	if err != nil {
		return nil, fmt.Errorf("delete from %s: %w", r.table.name, err)
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return nil, fmt.Errorf("%s %s: deleted %d rows, %w", r.table.name, r.id(), n, err)
	}
	return func() { w.rows.forget(dead, nulls) }, nil
}

// own returns one of the writer's rows, or nil.
func (w *writer) own() *row {
	t := w.any()
	rows := w.rows.sorted(t.name)
	if len(rows) == 0 {
		return nil
	}
	return rows[w.random.IntN(len(rows))]
}

func (w *writer) where(key []string, r *row) (condition string, args []any) {
	for _, c := range key {
		args = append(args, r.values[c].String)
	}
	return w.condition(key, 0), args
}

func (w *writer) condition(key []string, before int) string {
	var parts []string
	for i, c := range key {
		mark := "?"
		if w.dialect == sqlsnow.Postgres {
			mark = "$" + strconv.Itoa(before+i+1)
		}
		parts = append(parts, quote(w.dialect, c)+" = "+mark)
	}
	return strings.Join(parts, " AND ")
}
