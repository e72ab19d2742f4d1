package route

import (
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// An ordering says how the rows of several databases become one result.
type ordering struct {
	by       string // the key's column, or empty: one database after the other
	descends bool
	limit    int  // or -1
	counts   bool // the rows are counts, to be summed
}

// scatter returns a connection for a query about several shards. What it refuses does not depend on how many
// databases there are.
func (r *router) scatter(b *bound, m *model, p place) (gorm.ConnPool, *Error) {
	if _, ok := b.parent.(*transaction); ok {
		return nil, b.refuse(m, ErrCrossShard, "it is about "+list(p.shards)+", and a transaction is in one: query outside of it, or each shard on its own")
	}
	asked := &merger{refuser: refuser{r}, b: b}
	var reason string
	if b.raw {
		asked.order.limit, reason = -1, b.reader.apart()
	} else {
		asked.order, reason = b.ordering(m)
	}
	if reason != "" {
		return nil, b.refuse(m, ErrSpread, "it is about "+list(p.shards)+", and "+reason)
	}
	if p.all {
		for i := range r.shards.Len() {
			asked.targets = append(asked.targets, i)
		}
		return asked, nil
	}
	for _, s := range p.shards {
		asked.targets = append(asked.targets, r.shards.Index(s))
	}
	slices.Sort(asked.targets)
	asked.targets = slices.Compact(asked.targets)
	return asked, nil
}

const noGroups = "groups and distinct rows are not merged: ask each database with Shards.Each"

// apart returns why raw SQL is no query whose rows in several databases are, one after the other, its rows.
func (r *reader) apart() string {
	_, refused := r.read()
	switch has := &r.found; {
	case refused != "":
		return refused
	case !has.selects:
		return "it is no SELECT: write in each database with Shards.Each"
	case has.joins:
		return "the rows of a join may be in two databases: ask each database with Shards.Each"
	case has.grouped || has.distinct:
		return noGroups
	case has.calls:
		return "only counts that GORM has built are summed: ask each database with Shards.Each"
	case has.ordered || has.limited || has.offset || has.locking:
		return "raw SQL with an order, a limit or a lock is not merged: ask each database with Shards.Each"
	}
	return ""
}

// ordering returns how to merge the rows of a statement, or why they can't be merged.
func (b *bound) ordering(m *model) (o ordering, refused string) {
	o.limit = -1
	if m == nil || m.key == nil {
		return o, "the rows of its model have no key to be merged by"
	}
	clauses := b.stmt.Clauses
	has := &b.reader.found
	counted, _ := clauses["SELECT"].Expression.(clause.Expr)
	o.counts = strings.EqualFold(counted.SQL, "count(*)") || strings.EqualFold(counted.SQL, "count(?)") // as Count writes it
	switch {
	case has.grouped || has.distinct:
		return o, noGroups
	case has.calls && !o.counts:
		return o, "only counts are summed: ask each database with Shards.Each"
	case has.locking:
		return o, "locks are for one shard"
	case has.offset:
		return o, "an offset is not merged: page by key, with gormsnow.After"
	case o.counts && (has.limited || has.ordered):
		return o, "a count has no order and no limit"
	case o.counts:
		return o, ""
	}
	limit, _ := clauses["LIMIT"].Expression.(clause.Limit)
	order, _ := clauses["ORDER BY"].Expression.(clause.OrderBy)
	if has.ordered {
		ok := order.Expression == nil && len(order.Columns) == 1
		if ok {
			o.by, o.descends, ok = b.byKey(m, order.Columns[0])
		}
		if !ok {
			return o, "its rows are merged by " + m.key.Name + " only: order by it, or sort the rows"
		}
	}
	if has.limited {
		if limit.Limit == nil || !has.ordered {
			return o, "a limit needs an order: order by " + m.key.Name
		}
		o.limit = *limit.Limit
	}
	return o, ""
}

// byKey reports whether rows are ordered by the key.
func (b *bound) byKey(m *model, c clause.OrderByColumn) (column string, descends, ok bool) {
	name, descends := c.Column.Name, c.Desc
	if c.Column.Raw {
		words := strings.Fields(name)
		switch {
		case len(words) == 2 && strings.EqualFold(words[1], "desc"):
			descends = true
		case len(words) == 2 && strings.EqualFold(words[1], "asc"), len(words) == 1:
		default:
			return "", false, false
		}
		name = words[0]
	}
	if table, rest, qualified := strings.Cut(name, "."); qualified {
		if !strings.EqualFold(strings.Trim(table, "`\""), b.stmt.Table) {
			return "", false, false
		}
		name = rest
	} else if c.Column.Table != "" && c.Column.Table != clause.CurrentTable && c.Column.Table != b.stmt.Table {
		return "", false, false
	}
	if name == clause.PrimaryKey && b.stmt.Schema.PrioritizedPrimaryField != nil {
		name = b.stmt.Schema.PrioritizedPrimaryField.DBName
	}
	isKey := strings.EqualFold(strings.Trim(name, "`\""), m.key.DBName)
	return m.key.DBName, descends, isKey && m.key.IndirectFieldType.Kind() != reflect.String
}
