package gormsnow

import (
	"database/sql"
	"reflect"
	"slices"
	"strconv"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/internal/analysis"
)

// soleKey returns the primary key if it is a single column that the plugin fills,
// and if a stored row with an id of this statement was certainly inserted by this
// statement, with its other keys. Otherwise it returns nil.
func (on *conflict) soleKey(stmt *gorm.Statement, m *model) *schema.Field {
	pks := stmt.Schema.PrimaryFields
	if len(pks) != 1 || !slices.Contains(m.Keys, pks[0]) {
		return nil
	}
	// Rows of one statement may meet each other.
	if slices.ContainsFunc(m.Keys, func(key *schema.Field) bool { return on.changes(key.DBName) }) {
		return nil
	}
	return pks[0]
}

func (d *doubt) has(key *schema.Field) bool {
	return slices.ContainsFunc(d.slots, func(s slot) bool { return s.key == key })
}

// dropInserted removes from doubts the rows whose primary key, which the plugin
// assigned, is in the table.
func (on *conflict) dropInserted(stmt *gorm.Statement, m *model, doubts []*doubt) ([]*doubt, error) {
	key := on.soleKey(stmt, m)
	var ids []any
	for _, d := range doubts {
		if d.has(key) {
			ids = append(ids, d.sent[key.DBName])
		}
	}
	if len(ids) == 0 || on.affected == 0 {
		return doubts, nil
	}
	q := newQuery(stmt)
	q.write("SELECT ", clause.Column{Name: key.DBName}, " FROM ", on.table(stmt), " WHERE ", clause.Column{Name: key.DBName}, " IN ")
	q.AddVar(q, ids)
	found := make(map[snow.ID]bool, len(ids))
	err := q.each(func(rows *sql.Rows) error {
		id := reflect.New(key.IndirectFieldType)
		err := rows.Scan(id.Interface())
		found[idOf(id.Elem())] = true
		return err
	})
	return slices.DeleteFunc(doubts, func(d *doubt) bool {
		return d.has(key) && found[idOf(reflect.ValueOf(d.sent[key.DBName]))]
	}), err
}

// find looks for the existing rows that the doubts have met, by their values in
// unique columns.
func (on *conflict) find(stmt *gorm.Statement, m *model, doubts []*doubt) error {
	var columns []string // members of the primary key that the plugin does not fill
	for _, f := range stmt.Schema.PrimaryFields {
		if !slices.Contains(m.Keys, f) {
			columns = append(columns, f.DBName)
		}
	}
	uniques, sole := on.uniques(m), on.soleKey(stmt, m)
	// A member of a composite primary key identifies a row only with the others.
	if len(columns) < len(stmt.Schema.PrimaryFields) {
		for i, u := range uniques {
			if !u.Primary {
				uniques[i].Columns = slices.Concat(u.Columns, columns)
			}
		}
		columns = nil
	}
	// SQLite takes at most 500 SELECTs, one for each row and unique key.
	for chunk := range slices.Chunk(doubts, max(1, 200/max(1, len(uniques)))) {
		q := newQuery(stmt)
		for n, d := range chunk {
			for _, u := range uniques {
				// dropInserted would have found a row with this primary key, unless a
				// trigger sent a plain insert to another table, where affected is 0.
				absent := u.Primary && d.has(sole) && (on.affected > 0 || on.upsert || on.modified)
				if !absent && d.sentIn(u) {
					on.selectRow(stmt, m, q, columns, u, d, n)
				}
			}
		}
		if q.SQL.Len() == 0 {
			continue
		}
		err := q.each(func(rows *sql.Rows) error {
			var n int
			dest := []any{&n}
			var stored []reflect.Value
			for _, key := range m.Keys {
				v := reflect.New(reflect.PointerTo(key.IndirectFieldType)) // for NULL
				stored, dest = append(stored, v), append(dest, v.Interface())
			}
			for range columns {
				dest = append(dest, new(any))
			}
			if err := rows.Scan(dest...); err != nil {
				return err
			}
			d := chunk[n]
			d.stored = stored
			d.matches++
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// uniques returns the unique keys that may have conflicted.
func (on *conflict) uniques(m *model) []analysis.Unique {
	if len(on.Columns) == 0 || on.modified {
		return slices.Clone(m.Uniques)
	}
	var all []analysis.Unique
	for _, u := range m.Uniques {
		if u.Primary || on.anyKey { // the primary key finds a row that was inserted after all
			all = append(all, u)
		}
	}
	var target analysis.Unique
	for _, c := range on.Columns {
		if c.Raw {
			return all // an expression
		}
		target.Columns = append(target.Columns, c.Name)
	}
	if !on.anyKey {
		target.Target = on.TargetWhere.Exprs
	}
	if len(target.Target) == 0 && slices.ContainsFunc(all, func(u analysis.Unique) bool { return slices.Equal(u.Columns, target.Columns) && u.Where == "" }) {
		return all
	}
	return append(all, target)
}

// sentIn reports whether d was sent with a value in each column of u.
func (d *doubt) sentIn(u analysis.Unique) bool {
	for _, c := range u.Columns {
		value := d.sent[c]
		_, computed := value.(clause.Expression) // such as DEFAULT
		if v := reflect.ValueOf(value); computed || !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
			return false
		}
	}
	return true
}

// selectRow adds to q a SELECT of the row that equals d in u. If several of them
// find the same row, UNION returns it once.
func (on *conflict) selectRow(stmt *gorm.Statement, m *model, q *query, columns []string, u analysis.Unique, d *doubt, n int) {
	// Without the lock MySQL would read an old snapshot. The insert has locked the row already.
	before, after := "SELECT ", ""
	if stmt.Dialector.Name() == "mysql" {
		before, after = "(SELECT ", " FOR UPDATE)"
	}
	if q.SQL.Len() > 0 {
		before = " UNION " + before
	}
	q.write(before, strconv.Itoa(n))
	for _, key := range m.Keys {
		q.write(",", clause.Column{Name: key.DBName})
	}
	for _, c := range columns {
		q.write(",", clause.Column{Name: c})
	}
	q.write(" FROM ", on.table(stmt))
	sep := " WHERE "
	for _, c := range u.Columns {
		q.write(sep, clause.Column{Name: c}, " = ")
		q.AddVar(q, d.sent[c])
		sep = " AND "
	}
	if u.Where != "" {
		q.write(" AND (", u.Where, ")")
	}
	if len(u.Target) > 0 {
		q.write(" AND (")
		clause.Where{Exprs: slices.Clone(u.Target)}.Build(q) // Build sorts its expressions
		q.write(")")
	}
	q.write(after)
}

// table returns the table that the rows went to.
func (on *conflict) table(stmt *gorm.Statement) clause.Table {
	if insert, _ := stmt.Clauses["INSERT"].Expression.(clause.Insert); insert.Table.Name != "" {
		return insert.Table
	}
	return clause.Table{Name: clause.CurrentTable}
}

// A query runs on the connection of an INSERT and as a part of it. It does not go
// through callbacks, which could send it to another connection.
type query struct{ *gorm.Statement }

func newQuery(stmt *gorm.Statement) *query {
	return &query{&gorm.Statement{
		DB: stmt.DB, ConnPool: stmt.ConnPool, Context: stmt.Context,
		Schema: stmt.Schema, Table: stmt.Table, TableExpr: stmt.TableExpr,
	}}
}

// write appends SQL, and columns and tables in quotes.
func (q *query) write(parts ...any) {
	for _, part := range parts {
		if text, ok := part.(string); ok {
			q.SQL.WriteString(text)
		} else {
			q.WriteQuoted(part)
		}
	}
}

// each calls scan for each row.
func (q *query) each(scan func(*sql.Rows) error) (err error) {
	text, begin, n := q.SQL.String(), time.Now(), int64(0)
	defer func() {
		q.Logger.Trace(q.Context, begin, func() (string, int64) {
			text, vars := text, q.Vars
			if filter, ok := q.Logger.(gorm.ParamsFilter); ok {
				text, vars = filter.ParamsFilter(q.Context, text, vars...)
			}
			return q.Dialector.Explain(text, vars...), n
		}, err)
	}()
	rows, err := q.ConnPool.QueryContext(q.Context, text, q.Vars...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
		n++
	}
	return rows.Err()
}
