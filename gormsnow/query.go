package gormsnow

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/internal/analysis"
)

// CreatedBetween is the condition that a row's primary key was made in
// [from, to), as [snow.Layout.Between] computes it. It is a range of the primary
// key, so it needs no time column and no index on one. Adjacent ranges share no
// row and miss none. For a layout with lanes it is several ranges, joined by OR.
//
//	db.Where(gormsnow.CreatedBetween(layout, from, to)).Find(&orders)
//	gorm.G[Order](db).Where(gormsnow.CreatedBetween(layout, from, to)).Find(ctx)
//
// GORM accepts it wherever it accepts conditions: in Where, Or, Not, Clauses, the
// conditions of Find, Update and Delete, and Preload. The column is the primary
// key of the statement's model, qualified by the table; in a composite primary
// key, it is the member called id.
//
// The statement fails with [gorm.ErrModelValueRequired] if it has no model, with a
// [*FieldError] if the primary key is not a 64-bit integer, and with an error if l
// is the zero Layout.
func CreatedBetween(l snow.Layout, from, to time.Time) clause.Expression {
	return between{layout: l, from: from, to: to}
}

// Created is [CreatedBetween] with the layout of the source of the database's
// plugin:
//
//	db.Where(gormsnow.Created(from, to)).Find(&orders)
//
// The statement also fails with [ErrNoPlugin] if the database has no plugin, and
// with an error if the source has no method Layout() [snow.Layout], as
// [snow.Generator] has.
func Created(from, to time.Time) clause.Expression {
	return between{ofPlugin: true, from: from, to: to}
}

type between struct {
	layout   snow.Layout
	ofPlugin bool // use the plugin's layout instead
	from, to time.Time
}

func (b between) findLayout(stmt *gorm.Statement) (snow.Layout, error) {
	layout, none := b.layout, "the layout is the zero Layout"
	if b.ofPlugin {
		p := pluginOf(stmt.DB)
		if p == nil {
			return layout, ErrNoPlugin
		}
		layout, none = p.Layout(), "the source of the plugin has no Layout: pass one to CreatedBetween"
	}
	if layout == (snow.Layout{}) {
		return layout, errors.New(none)
	}
	return layout, nil
}

// Build implements [clause.Expression].
func (b between) Build(builder clause.Builder) { b.write(builder, " >= ", " AND ", " < ", " OR ") }

// NegationBuild builds the condition within Not.
func (b between) NegationBuild(builder clause.Builder) {
	b.write(builder, " < ", " OR ", " >= ", " AND ")
}

// write writes a condition for each range of keys: lower and upper compare the key
// with its bounds, bounds joins the two, and ranges joins the conditions.
func (b between) write(builder clause.Builder, lower, bounds, upper, ranges string) {
	stmt, key, err := keyOf(builder)
	var layout snow.Layout
	if err == nil {
		layout, err = b.findLayout(stmt)
	}
	if err != nil {
		_ = builder.AddError(fmt.Errorf("gormsnow: created between: %w", err))
		return
	}
	if layout.Bits().Lane != 0 { // or there is one range
		text(builder, "(")
		defer text(builder, ")")
	}
	between := "("
	for lo, hi := range layout.Between(b.from, b.to) {
		text(builder, between)
		builder.WriteQuoted(key)
		text(builder, lower)
		builder.AddVar(builder, int64(lo))
		text(builder, bounds)
		builder.WriteQuoted(key)
		text(builder, upper)
		builder.AddVar(builder, int64(hi))
		text(builder, ")")
		between = ranges + "("
	}
}

// After is the page of at most limit rows whose primary key is greater than id,
// oldest first. For the first page pass the zero ID, and for each further page the
// id of the last row. Unlike with OFFSET, the database reads only the rows of the
// page, and rows that are inserted or deleted elsewhere don't shift it. A row that
// another worker inserts late, with an id that was made a moment ago, may belong to
// a page that was already read.
//
// Keys of a layout with lanes (see [snow.Bits]) ascend from span to span. Within a
// span the page is in the order of the keys too, but that is lane by lane, not
// oldest first. A row that is inserted now may belong to a page that was already
// read if that page has rows of the present span.
//
//	db.Clauses(gormsnow.After(last, 50)).Find(&orders)
//	gorm.G[Order](db, gormsnow.After(last, 50)).Find(ctx)
//
// Where accepts it as well. FindInBatches needs Clauses: its batches then end
// with the page. The column is the same as for [CreatedBetween]. If the statement
// has a smaller Limit, the smaller one counts.
//
// The statement fails as with CreatedBetween. It also fails if limit is less than
// 1 or id is negative (a [*snow.FieldError]), if the rows are ordered by something
// else first, in Count, and in an Update or Delete if the database has no LIMIT
// there.
func After(id snow.ID, limit int) clause.Expression { return page{id: id, limit: limit} }

// Before is [After] in the other direction: the page of at most limit rows whose
// primary key is less than id, newest first, or newest span first for a layout with
// lanes. For the first page, which has the
// newest rows, pass the zero ID. It can't be used with FindInBatches, which goes
// from small keys to large ones.
func Before(id snow.ID, limit int) clause.Expression {
	return page{id: id, limit: limit, newest: true}
}

// A page is an expression with a condition, an order and a limit. As a modifier
// it adds all three at once. As a condition it adds order and limit when it is
// built, which is early enough, because WHERE is built before them.
type page struct {
	id     snow.ID
	limit  int
	newest bool
	added  bool // order and limit are in the statement
}

// ModifyStatement implements [gorm.StatementModifier].
func (p page) ModifyStatement(stmt *gorm.Statement) {
	p.addOrderAndLimit(stmt)
	p.added = true
	stmt.AddClause(clause.Where{Exprs: []clause.Expression{p}})
}

func (p page) addOrderAndLimit(stmt *gorm.Statement) {
	// AddClause with a column would drop an ordering expression: keep that, so that check refuses it.
	if old, ok := stmt.Clauses["ORDER BY"].Expression.(clause.OrderBy); !ok || old.Expression == nil {
		stmt.AddClause(clause.OrderBy{Columns: []clause.OrderByColumn{p.order()}})
	}
	if old, ok := stmt.Clauses["LIMIT"].Expression.(clause.Limit); ok && old.Limit != nil && *old.Limit < p.limit {
		return
	}
	stmt.AddClause(clause.Limit{Limit: &p.limit})
}

func (p page) order() clause.OrderByColumn {
	return clause.OrderByColumn{Column: clause.Column{Table: clause.CurrentTable, Name: clause.PrimaryKey}, Desc: p.newest}
}

// Build implements [clause.Expression].
func (p page) Build(builder clause.Builder) {
	stmt, key, err := keyOf(builder)
	if err == nil {
		if !p.added {
			p.addOrderAndLimit(stmt)
		}
		err = p.check(stmt)
	}
	if err != nil {
		name := "after"
		if p.newest {
			name = "before"
		}
		_ = builder.AddError(fmt.Errorf("gormsnow: page of %d rows %s %d: %w", p.limit, name, p.id, err))
		return
	}
	builder.WriteQuoted(key)
	switch {
	case p.newest && p.id == 0:
		text(builder, " <= ")
		builder.AddVar(builder, int64(math.MaxInt64))
		return
	case p.newest:
		text(builder, " < ")
	default:
		text(builder, " > ")
	}
	builder.AddVar(builder, int64(p.id))
}

// check refuses a statement that would not return the page.
func (p page) check(stmt *gorm.Statement) error {
	order, _ := stmt.Clauses["ORDER BY"].Expression.(clause.OrderBy)
	count, _ := stmt.Clauses["SELECT"].Expression.(clause.Expr)
	switch {
	case p.limit < 1:
		return &snow.FieldError{Field: "limit", Value: strconv.Itoa(p.limit), Bound: "want at least 1"}
	case p.id < 0:
		return &snow.FieldError{Field: "id", Value: p.id.String(), Bound: "it is negative"}
	case strings.HasPrefix(strings.ToUpper(count.SQL), "COUNT("):
		return errors.New("a count ignores the limit: count the rows that are found")
	case order.Expression != nil || len(order.Columns) == 0 || order.Columns[0] != p.order():
		return errors.New("the statement has an order of its own: drop it")
	case !slices.Contains(stmt.BuildClauses, "LIMIT"):
		return errors.New("the statement takes no limit: select the rows first")
	}
	return nil
}

// keyOf returns the statement that is being built and the primary key of its
// model. GORM's own placeholder would use another column if there is none.
func keyOf(builder clause.Builder) (*gorm.Statement, clause.Column, error) {
	stmt, ok := builder.(*gorm.Statement)
	if !ok || stmt.Schema == nil {
		return nil, clause.Column{}, gorm.ErrModelValueRequired
	}
	key := stmt.Schema.PrioritizedPrimaryField
	if key == nil {
		return nil, clause.Column{}, &FieldError{stmt.Schema.ModelType.String(), "ID", "the model has no single primary key, nor one called id"}
	}
	// Texts don't sort as numbers do.
	if !analysis.Assignable(key.FieldType) || key.IndirectFieldType.Kind() == reflect.String {
		return nil, clause.Column{}, fieldError(stmt.Schema, key, key.FieldType.String()+" doesn't sort as ids do: make it a snow.ID or a 64-bit integer")
	}
	return stmt, clause.Column{Table: clause.CurrentTable, Name: key.DBName}, nil
}

// text writes SQL. A builder's writer never fails.
func text(builder clause.Builder, sql string) { _, _ = builder.WriteString(sql) }
