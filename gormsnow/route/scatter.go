package route

import (
	"slices"
	"strings"

	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// An ordering says how the rows of several databases become one result.
type ordering struct {
	by        []sorted   // empty: one database after the other
	limit     int        // or -1
	combine   []combined // by column of the only row of each database, or nil
	nullsLast bool
}

// A sorted is a column that rows are sorted by.
type sorted struct {
	column   string
	measure  measure
	descends bool
}

// A combined is a function whose values in several databases make one.
type combined struct {
	function string
	measure  measure
}

// scatter returns a connection for a query about several shards. What it refuses does not depend on how many
// databases there are.
func (r *router) scatter(b *bound, m *model, p place) (*merger, *Error) {
	if _, ok := transactionOf(b.parent); ok {
		return nil, b.refuse(m, ErrCrossShard, "it is about "+list(p.shards)+", and a transaction is in one: query outside of it, or each shard on its own")
	}
	asked := &merger{refuser: refuser{r}, b: b}
	var reason string
	if b.raw {
		asked.order.limit, reason = -1, r.rules.apart(b)
	} else {
		asked.order, reason = orderingOf(b, m)
	}
	if reason != "" {
		return nil, b.refuse(m, ErrSpread, "it is about "+list(p.shards)+", and "+reason)
	}
	if p.all {
		for i := range r.shards.Len() {
			asked.databases = append(asked.databases, i)
		}
		return asked, nil
	}
	for _, s := range p.shards {
		asked.databases = append(asked.databases, r.shards.Index(s))
	}
	slices.Sort(asked.databases)
	asked.databases = slices.Compact(asked.databases)
	return asked, nil
}

const noGroups = "groups and distinct rows are not merged: ask each database with Shards.Each"

// apart returns why raw SQL is no query whose rows in several databases are, one after the other, its rows.
func (r *rules) apart(b *bound) string {
	said := b.text(&model{}).read(r.dialect)
	_, refused := r.shards(said, b.stmt.Vars)
	switch has := &said.found; {
	case refused != "":
		return refused
	case !has.selects:
		return "it is no SELECT: write in each database with Shards.Each"
	case has.joins:
		return "the rows of a join may be in two databases: ask each database with Shards.Each"
	case has.grouped || has.distinct:
		return noGroups
	case has.calls:
		return "what functions return is merged only if GORM has built the SQL: ask each database with Shards.Each"
	case has.ordered || has.limited || has.offset || has.locking:
		return "raw SQL with an order, a limit or a lock is not merged: ask each database with Shards.Each"
	}
	return ""
}

// orderingOf returns how to merge the rows of a statement, or why they can't be merged.
func orderingOf(b *bound, m *model) (o ordering, refused string) {
	o.limit, o.nullsLast = -1, b.rules.dialect == "postgres"
	if m == nil || m.key == nil && !m.global {
		return o, "the rows of its model have no key to be merged by"
	}
	has := &b.found
	var selects []selected
	if has.calls || has.ordered {
		selects = selection(b.sql, b.rules.dialect)
	}
	switch {
	case has.grouped || has.distinct:
		return o, noGroups
	case has.calls:
		o.combine, refused = combinedBy(b, selects)
	}
	limit, order := b.stmt.Clauses["LIMIT"], b.stmt.Clauses["ORDER BY"]
	switch {
	case refused != "":
		return o, refused
	case has.locking:
		return o, "locks are for one shard"
	case has.offset:
		return o, "an offset is not merged: page by key, with gormsnow.After"
	case o.combine != nil && (has.limited || has.ordered):
		return o, "a count or a sum has no order and no limit"
	case has.ordered:
		o.by, refused = sortedBy(b, m, order, selects)
	}
	if refused == "" && has.limited {
		l, _ := limit.Expression.(clause.Limit)
		if l.Limit == nil || !has.ordered || !bare(limit) {
			return o, "a limit needs an order: order by " + m.sortable()
		}
		o.limit = *l.Limit
	}
	return o, refused
}

// bare reports whether a clause is built of its expression only.
func bare(c clause.Clause) bool {
	return c.BeforeExpression == nil && c.AfterNameExpression == nil && c.AfterExpression == nil && c.Builder == nil
}

// combinedBy returns how to combine what functions return in each database.
func combinedBy(b *bound, selects []selected) (all []combined, refused string) {
	const others = "only count, sum, min and max of a column are merged: ask each database with Shards.Each"
	if slices.ContainsFunc(selects, func(s selected) bool { return s.function == "avg" }) {
		return nil, "averages of parts don't make the average: select the sum and the count"
	}
	if !aggregated(selects) {
		return nil, others
	}
	for _, s := range selects {
		c := combined{s.function, number}
		if s.function != "count" {
			f := fieldOf(b, s.table, s.name)
			if f == nil {
				return nil, others
			}
			c.measure = measured(f, b.rules.dialect)
			if c.measure == unmeasured || s.function == "sum" && c.measure != number {
				return nil, f.Name + " is no number or time, so its " + s.function + " is not merged: ask each database with Shards.Each"
			}
		}
		all = append(all, c)
	}
	return all, ""
}

// sortedBy returns the columns that rows are sorted by.
func sortedBy(b *bound, m *model, order clause.Clause, selects []selected) (all []sorted, refused string) {
	by, _ := order.Expression.(clause.OrderBy)
	if by.Expression != nil || !bare(order) {
		by.Columns = nil
	}
	for _, c := range by.Columns {
		if !c.Column.Raw {
			all = append(all, columnOf(b, c.Column.Table, c.Column.Name, c.Desc))
			continue
		}
		for part := range strings.SplitSeq(c.Column.Name, ",") {
			words := strings.Fields(part)
			descends := len(words) == 2 && strings.EqualFold(words[1], "desc")
			if len(words) != 1 && !descends && (len(words) != 2 || !strings.EqualFold(words[1], "asc")) {
				return nil, unsorted(m)
			}
			table, name, qualified := strings.Cut(words[0], ".")
			if !qualified {
				table, name = "", table
			}
			all = append(all, columnOf(b, strings.Trim(table, "`\""), strings.Trim(name, "`\""), descends != c.Desc))
		}
	}
	for _, s := range all {
		switch {
		case s.column == "":
			return nil, unsorted(m)
		case s.measure == unmeasured:
			return nil, s.column + " is neither a number nor a time, and databases sort others by rules of their own: order by " + m.sortable() + ", or sort the rows"
		case !gives(selects, b.stmt.Table, s.column, b.found.joins):
			return nil, "its rows are merged by " + s.column + ", which it does not select: select it"
		}
	}
	if len(all) == 0 {
		return nil, unsorted(m)
	}
	return all, ""
}

func unsorted(m *model) string {
	return "its rows are merged by columns only: order by " + m.sortable() + " or other columns, or sort the rows"
}

// columnOf returns a column that rows are sorted by. It has no name if it is not of the model.
func columnOf(b *bound, table, name string, descends bool) sorted {
	if name == clause.PrimaryKey && b.stmt.Schema.PrioritizedPrimaryField != nil {
		name = b.stmt.Schema.PrioritizedPrimaryField.DBName
	}
	f := fieldOf(b, table, name)
	if f == nil {
		return sorted{}
	}
	return sorted{f.DBName, measured(f, b.rules.dialect), descends}
}

// fieldOf returns the field of a column of the model, or nil.
func fieldOf(b *bound, table, column string) *schema.Field {
	if table != "" && table != clause.CurrentTable && !strings.EqualFold(table, b.stmt.Table) {
		return nil
	}
	for _, f := range b.stmt.Schema.Fields {
		if f.DBName != "" && strings.EqualFold(f.DBName, column) && b.stmt.Schema.FieldsByDBName[f.DBName] == f {
			return f
		}
	}
	return nil
}
