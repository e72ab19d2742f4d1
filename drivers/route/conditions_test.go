//go:build unix

package route_test

import (
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
)

// chain returns random conditions, half of the time after one that tells a shard.
func (m *maker) chain() func(*gorm.DB) *gorm.DB {
	var all []func(*gorm.DB) *gorm.DB
	if m.IntN(2) == 0 {
		query, args := "orders.buyer_id = ?", []any{any(m.buyer())}
		if m.IntN(2) == 0 {
			query, args = "orders.id = ?", []any{any(m.order())}
		}
		all = append(all, func(db *gorm.DB) *gorm.DB { return db.Where(query, args...) })
	}
	for range m.IntN(3) {
		query, args := m.condition()
		switch k := m.IntN(10); {
		case k < 6:
			all = append(all, func(db *gorm.DB) *gorm.DB { return db.Where(query, args...) })
		case k < 8:
			all = append(all, func(db *gorm.DB) *gorm.DB { return db.Or(query, args...) })
		case k < 9:
			all = append(all, func(db *gorm.DB) *gorm.DB { return db.Not(query, args...) })
		default:
			other, more := m.condition()
			all = append(all, func(db *gorm.DB) *gorm.DB {
				return db.Where(db.Session(&gorm.Session{NewDB: true}).Where(query, args...).Or(other, more...))
			})
		}
	}
	if m.IntN(4) == 0 {
		slices.Reverse(all)
	}
	return func(db *gorm.DB) *gorm.DB {
		for _, add := range all {
			db = add(db)
		}
		return db
	}
}

func (m *maker) condition() (query any, args []any) {
	switch m.IntN(6) {
	case 0:
		return m.expression(0), nil
	case 1:
		return &Order{BuyerID: m.buyer(), State: m.state()}, nil
	case 2:
		return map[string]any{"buyer_id": m.some(m.buyer), "state": m.state()}, nil
	}
	return m.text(0)
}

func (m *maker) expression(depth int) clause.Expression {
	k := m.IntN(10)
	if depth > 2 {
		k = m.IntN(5)
	}
	column := func(name string) clause.Column { return clause.Column{Table: clause.CurrentTable, Name: name} }
	switch k {
	case 0:
		return clause.Eq{Column: column("buyer_id"), Value: m.buyer()}
	case 1:
		return clause.Eq{Column: clause.PrimaryColumn, Value: m.order()}
	case 2:
		var list []any
		for _, id := range m.some(m.buyer) {
			list = append(list, id)
		}
		return clause.IN{Column: column("buyer_id"), Values: list}
	case 3:
		return clause.Eq{Column: column("state"), Value: m.state()}
	case 4:
		return clause.Gt{Column: column("amount"), Value: m.IntN(8)}
	case 5:
		return clause.And(m.expression(depth+1), m.expression(depth+1))
	case 6:
		return clause.Or(m.expression(depth+1), m.expression(depth+1))
	case 7:
		return clause.Not(m.expression(depth+1), m.expression(depth+1))
	case 8:
		text, args := m.text(depth + 1)
		return clause.Or(clause.Or(clause.Expr{SQL: text, Vars: args}))
	}
	return clause.Or(m.expression(depth + 1))
}

// text is a condition as programs write it, also where GORM puts no parentheses around it.
func (m *maker) text(depth int) (string, []any) {
	k := m.IntN(10)
	if depth > 2 {
		k = m.IntN(7)
	}
	two := func(words ...string) (string, []any) {
		a, x := m.text(depth + 1)
		b, y := m.text(depth + 1)
		return a + words[m.IntN(len(words))] + b, append(slices.Clip(x), y...)
	}
	list := func(one func() snow.ID) []any { return []any{m.some(one)} }
	switch k {
	case 0:
		return "orders.buyer_id = ?", []any{m.buyer()}
	case 1:
		return "orders.id=?", []any{m.order()}
	case 2:
		return "orders.buyer_id IN ?", list(m.buyer)
	case 3:
		return "state = ?", []any{m.state()}
	case 4:
		return "amount BETWEEN ? AND ?", []any{1, 1 + m.IntN(9)}
	case 5:
		return "orders.id in (?)", list(m.order)
	case 6:
		return "state = 'open'", nil
	case 7:
		return two(" AND ", " and ", "\nAND ")
	case 8:
		return two(" OR ", " or ", "\nOR\t", " OR\n")
	}
	inner, args := m.text(depth + 1)
	return []string{"", "NOT "}[m.IntN(2)] + "(" + inner + ")", args
}
