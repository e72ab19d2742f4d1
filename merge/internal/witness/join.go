package witness

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// links returns the references of a table.
func (w *Witness) links(t *plan.Table) (all []link) {
	for _, c := range t.Columns {
		for i, r := range c.Refers {
			if parent := w.Plan.Table(r.Table); c.HoldsReferences() && parent != nil && !parent.Skip && parent.Key() != nil {
				all = append(all, link{c, i, parent, c.BecomesNull() && w.loses(parent)})
			}
		}
	}
	return all
}

// told returns the columns that tell people which row it is: its key or, where it has none, what it refers to.
func told(db *Database, t *plan.Table) (columns []string) {
	if key := t.RowKey(); len(key) > 0 {
		return key
	}
	for _, c := range t.Columns {
		if c.HoldsReferences() && (db.Name == "" || c.In(db.Name)) {
			columns = append(columns, c.Name)
		}
	}
	return columns
}

// statement selects the tuples of a table in a database, and what tells rows apart if keys. Of shares of the rows
// it selects one, by their content, which is the same share in all databases.
func (w *Witness) statement(db *Database, t *plan.Table, links []link, shares int64, keys bool) string {
	q := w.Dialect.Quote
	own := w.text("c", t)
	list, from := []string{own}, " FROM "+db.SQL(t.Name)+" AS c"
	for i, l := range links {
		p := fmt.Sprintf("p%d", i)
		if db.Name != "" && (!l.column.In(db.Name) || !l.parent.In(db.Name)) || !l.joins() {
			list = append(list, "''")
			continue
		}
		key := p + "." + q(l.parent.Key().Name)
		list = append(list, "CASE WHEN "+key+" IS NULL THEN '' ELSE "+w.present(p, l.parent)+" END")
		from += " LEFT JOIN " + db.SQL(l.parent.Name) + " AS " + p + " ON " + w.refers("c."+q(l.column.Name), key, l.column)
		if l.column.Role == plan.RolePolymorphic {
			from += " AND COALESCE(c." + q(l.column.By) + w.asText() + ", '') " + w.among(l)
		}
		for _, none := range l.column.None {
			from += " AND c." + q(l.column.Name) + w.asText() + " <> " + w.Dialect.Literal(none)
		}
	}
	for _, name := range columnsWithin(db, t, links) {
		if sqltype.Of(w.Dialect, t.Column(name).Type).Kind == sqltype.Bytes { // as they are
			list = append(list, "c."+q(name))
		} else {
			list = append(list, "c."+q(name)+w.asText())
		}
	}
	if keys {
		for _, name := range told(db, t) {
			list = append(list, "c."+q(name)+w.asText())
		}
	}
	text := "SELECT " + strings.Join(list, ", ") + from
	if shares > 1 && own != "''" {
		switch w.Dialect {
		case sqlsnow.MySQL:
			text += fmt.Sprintf(" WHERE CRC32(%s) %% %d = 0", w.raw("c", t), shares)
		case sqlsnow.Postgres:
			text += fmt.Sprintf(" WHERE ('x' || substr(%s, 1, 8))::bit(32)::bigint %% %d = 0", own, shares)
		}
	}
	return text
}

// among is the condition that a value of the column By is of the kind of a link.
func (w *Witness) among(l link) string {
	value := l.column.Refers[l.ref].Value
	if value != plan.AnyKind {
		return "= " + w.Dialect.Literal(value)
	}
	var others []string
	for _, r := range l.column.Refers {
		if r.Value != value {
			others = append(others, w.Dialect.Literal(r.Value))
		}
	}
	if len(others) == 0 {
		return "IS NOT NULL" // of COALESCE
	}
	return "NOT IN (" + strings.Join(others, ", ") + ")"
}

// present is the content of a parent that is there. It is not empty even if the table has no content.
func (w *Witness) present(alias string, t *plan.Table) string {
	if len(w.content(t)) == 0 {
		return "'?'"
	}
	return w.text(alias, t)
}

func (w *Witness) asText() string {
	if w.Dialect == sqlsnow.Postgres {
		return "::text"
	}
	return ""
}

// refers is the condition that a reference is a key.
func (w *Witness) refers(reference, key string, c *plan.Column) string {
	if sqltype.Of(w.Dialect, c.Type).Kind != sqltype.Text {
		return key + " = " + reference
	}
	switch w.Dialect {
	case sqlsnow.MySQL: // as numbers with a point, long ids would be equal to others
		return key + " = CAST(" + reference + " AS SIGNED) AND " + reference + " REGEXP '^-?[0-9]+$'"
	case sqlsnow.Postgres:
		return key + "::numeric = CASE WHEN " + reference + " ~ '^-?[0-9]+$' THEN " + reference + "::numeric END"
	}
	return key + " = CAST(" + reference + " AS INTEGER)"
}

// each calls do with the tuples of a table in a database.
func (w *Witness) each(ctx context.Context, db *Database, t *plan.Table, links []link, shares int64, keys bool, do func(v tuple, key []string)) error {
	u, err := w.unpack(ctx, db, t, links, shares)
	if err != nil {
		return err
	}
	return w.scan(ctx, db, t, links, shares, keys, func(v tuple, within []sql.NullString, key []string) {
		for _, p := range u {
			v.parents[p.link] = p.contents(within)
		}
		do(v, key)
	})
}

// scan calls do with the tuples, where references inside of values lead nowhere, and with these values.
func (w *Witness) scan(ctx context.Context, db *Database, t *plan.Table, links []link, shares int64, keys bool, do func(v tuple, within []sql.NullString, key []string)) error {
	within := len(columnsWithin(db, t, links))
	var cells []sql.NullString
	var into []any
	return visit(ctx, db, w.statement(db, t, links, shares, keys), func(rows *sql.Rows) error {
		if cells == nil {
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			cells, into = make([]sql.NullString, len(columns)), make([]any, len(columns))
			for i := range cells {
				into[i] = &cells[i]
			}
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		v := tuple{content: cells[0].String, parents: make([]string, len(links))}
		for i := range links {
			v.parents[i] = cells[1+i].String
		}
		if w.Dialect == sqlsnow.SQLite && shares > 1 && v.content != "" && (tuple{content: v.content}).digest()[0]%uint64(shares) != 0 {
			return nil
		}
		var key []string
		for _, cell := range cells[1+len(links)+within:] {
			key = append(key, cell.String)
		}
		do(v, cells[1+len(links):][:within], key)
		return nil
	})
}

// shared returns the contents that several rows of a table of the target have, and false if they are too many to
// remember.
func (w *Witness) shared(ctx context.Context, t *plan.Table) (map[string]bool, bool, error) {
	content := w.content(t)
	if len(content) == 0 {
		return nil, false, nil
	}
	if w.identifies(t, content) {
		return nil, true, nil
	}
	text, all := w.text("p", t), map[string]bool{}
	query := fmt.Sprintf("SELECT %[1]s FROM %[2]s AS p GROUP BY %[1]s HAVING COUNT(*) > 1 LIMIT %[3]d", text, w.Target.SQL(t.Name), mostShared+1)
	if w.Dialect == sqlsnow.MySQL { // to sort the bytes takes a third of the time of a temporary table of texts
		query = fmt.Sprintf("SELECT LOWER(HEX(content)) FROM (SELECT SQL_BIG_RESULT UNHEX(%s) AS content FROM %s AS p GROUP BY content HAVING COUNT(*) > 1 LIMIT %d) AS shared",
			text, w.Target.SQL(t.Name), mostShared+1)
	}
	err := visit(ctx, w.Target, query, func(rows *sql.Rows) error {
		var v string
		err := rows.Scan(&v)
		all[v] = true
		return err
	})
	return all, len(all) <= mostShared, err
}

// mostShared is how many contents that several rows have are remembered.
const mostShared = 50_000

// there returns which of some contents rows of a table of the target have.
func (w *Witness) there(ctx context.Context, t *plan.Table, contents []string) (map[string]bool, error) {
	text, found := w.text("p", t), map[string]bool{}
	for part := range slices.Chunk(contents, 1000) {
		literals := make([]string, len(part))
		for i, v := range part {
			literals[i] = w.Dialect.Literal(v)
		}
		err := visit(ctx, w.Target, "SELECT DISTINCT "+text+" FROM "+w.Target.SQL(t.Name)+" AS p WHERE "+text+" IN ("+strings.Join(literals, ", ")+")", func(rows *sql.Rows) error {
			var v string
			err := rows.Scan(&v)
			found[v] = true
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}
