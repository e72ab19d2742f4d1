package chunk

import (
	"context"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// ReadCopies is [ReadRange] for a table without a primary key. What takes the place of the key comes after the
// values of columns: a hash of all values in content, and which of the rows that have it this one is; or the rowid
// of SQLite. Equal rows are alike, so it does not matter that the database may count them in another order the next
// time. There is no index of hashes: the database reads all of the table, and sorts the rows from after on. Of
// equal rows, where is true of all or of none.
func ReadCopies(ctx context.Context, e *dialect.Dialect, q Queryer, t *plan.Table, content, columns []*plan.Column, where string, after, upto []any, limit int) ([][]any, error) {
	hash, unique := e.Content(t, content)
	r := &copiesReader{e: e, hash: hash, from: " FROM " + e.Table(t.Name), only: where}
	if unique {
		return ReadAll(ctx, e, q, r.byID(columns, after, upto, limit), append(columns[:len(columns):len(columns)], number), r.args)
	}
	text := r.byHash(columns, after, upto, limit)
	return ReadAll(ctx, e, q, text, append(columns[:len(columns):len(columns)], digits, number), r.args)
}

// What takes the place of a primary key.
var (
	digits = &plan.Column{Name: "hash", Type: "varchar(64)"}
	number = &plan.Column{Name: "n", Type: "bigint"}
)

// A copiesReader writes a query.
type copiesReader struct {
	e          *dialect.Dialect
	hash, from string
	only       string // the condition on rows, or empty
	args       []any
}

// bind returns the placeholder of one more argument.
func (r *copiesReader) bind(v any) string {
	r.args = append(r.args, v)
	return r.e.Placeholder(len(r.args))
}

func (r *copiesReader) byID(columns []*plan.Column, after, upto []any, limit int) string {
	var where []string
	if r.only != "" {
		where = append(where, r.only)
	}
	if after != nil {
		where = append(where, r.hash+" > "+r.bind(after[0]))
	}
	if upto != nil {
		where = append(where, r.hash+" <= "+r.bind(upto[0]))
	}
	list := r.hash
	if len(columns) > 0 {
		list = r.e.SelectList(columns) + ", " + r.hash
	}
	return "SELECT " + list + r.from + all(where) + " ORDER BY " + r.hash + upTo(limit)
}

func (r *copiesReader) byHash(columns []*plan.Column, after, upto []any, limit int) string {
	var within, where, names []string
	list := ""
	for i, c := range columns {
		name := "c" + strconv.Itoa(i)
		names = append(names, name)
		list += r.e.SelectList([]*plan.Column{c}) + " AS " + name + ", "
	}
	// Postgres computes a hash once for each row behind OFFSET 0, and MySQL where it is written out.
	var only []string
	if r.only != "" {
		only = []string{r.only}
	}
	hash, from := "k", " FROM (SELECT "+list+r.hash+" AS k"+r.from+all(only)+" OFFSET 0) AS hashed_"
	list = strings.Join(append(names, "k"), ", ")
	if r.e.Kind == sqlsnow.MySQL {
		hash, from, list = r.hash, r.from, strings.TrimPrefix(from, " FROM (SELECT ")
		list, _, _ = strings.Cut(list, " AS k FROM ")
		list += " AS k"
		within = only
	}
	if after != nil {
		within = append(within, hash+" >= "+r.bind(after[0]))
	}
	if upto != nil {
		within = append(within, hash+" <= "+r.bind(upto[0]))
	}
	some := ""
	if limit > 0 { // rows before after have its hash; of the last hash there may be some only, and any of them will do
		most := limit
		if after != nil {
			n, _ := after[1].(int64)
			most += int(n)
		}
		some = " ORDER BY k" + upTo(most)
	}
	if after != nil {
		where = append(where, "(k > "+r.bind(after[0])+" OR n > "+r.bind(after[1])+")")
	}
	if upto != nil {
		where = append(where, "(k < "+r.bind(upto[0])+" OR n <= "+r.bind(upto[1])+")")
	}
	names = append(names, "k", "n")
	return "SELECT " + strings.Join(names, ", ") + " FROM (SELECT " + strings.Join(names[:len(names)-1], ", ") + ", ROW_NUMBER() OVER (PARTITION BY k) AS n" +
		" FROM (SELECT " + list + from + all(within) + some + ") AS some_) AS rows_" + all(where) + " ORDER BY k, n" + upTo(limit)
}

// all returns the clause for rows that meet all conditions.
func all(conditions []string) string {
	if len(conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}

func upTo(limit int) string {
	if limit == 0 {
		return ""
	}
	return " LIMIT " + strconv.Itoa(limit)
}
