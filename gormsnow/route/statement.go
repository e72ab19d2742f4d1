package route

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/internal/analysis"
)

// Operations, as an [Error] names them. They are GORM's processors.
const (
	opCreate = "create"
	opQuery  = "query"
	opUpdate = "update"
	opDelete = "delete"
	opRow    = "row"
	opRaw    = "raw"
)

// rules know the models of a database and the shards of its statements.
type rules struct {
	layout  snow.Layout
	dialect string
	global  map[reflect.Type]bool // models whose rows are in every database
	each    []uint64              // the shards, unless they are many
	read    readings
	models  sync.Map          // *schema.Schema → *model
	tables  map[string]*model // join tables of the models that New was told
}

func (r *rules) model(s *schema.Schema) *model {
	if m, ok := r.models.Load(s); ok {
		return m.(*model)
	}
	m := newModel(s, r.layout)
	if m.global = r.global[s.ModelType]; !m.global && !m.sharded() {
		r.joined(m, s)
	}
	stored, _ := r.models.LoadOrStore(s, m)
	return stored.(*model)
}

// A place says which rows a statement is about.
type place struct {
	set
	any bool // every database gives the same answer
	all bool // the rows of all shards, as Scatter asks for
}

// place returns where a statement belongs.
func (r *rules) place(b *bound, query string, args []any) (place, *Error) {
	m := b.model()
	p, err := r.find(b, m, query, args)
	switch hinted := r.layout.Shard(snow.ID(b.hint.shard)); {
	case b.hint.kind == on && (err.is(ErrUnrouted) || err == nil && !p.known && !p.any):
		p, err = place{set: set{true, r.one(hinted)}}, nil
	case b.hint.kind == on && err == nil && p.known && (len(p.shards) > 1 || len(p.shards) == 1 && p.shards[0] != hinted):
		err = b.refuse(m, ErrMismatch, fmt.Sprintf("On names the shard %d, and the rows are in %s", hinted, list(p.shards)))
	// Of raw SQL all that is known is what the caller says.
	case b.hint.kind == scatter && err.is(ErrUnrouted) && (b.raw || b.stmt.Schema == nil),
		b.hint.kind == scatter && err == nil && !p.known && !p.any:
		p, err = place{all: true}, nil
	case err == nil && !p.known && !p.any:
		err = b.refuse(m, ErrUnrouted, "no condition on "+m.columns()+" with = or IN holds for all its rows: add one, or name the shard with On"+orScatter(b))
	}
	if err == nil && (b.op == opUpdate || b.op == opDelete) && m != nil && m.key != nil {
		err = r.moves(b, m, p)
	}
	return p, err
}

func orScatter(b *bound) string {
	if b.op == opQuery || b.op == opRow {
		return ", or ask all shards with Scatter"
	}
	return ""
}

// find looks for the shards of a statement in its rows and conditions.
func (r *rules) find(b *bound, m *model, query string, args []any) (place, *Error) {
	stmt := b.stmt
	b.sql = query
	unrouted := func(reason string) (place, *Error) { return place{}, b.refuse(m, ErrUnrouted, reason) }
	switch {
	case b.raw:
		return unrouted("it is raw SQL: name the shard with On" + orScatter(b))
	case m == nil:
		return unrouted("it has no model: use db.Model, or name the shard with On" + orScatter(b))
	case stmt.TableExpr != nil && stmt.TableExpr.SQL != stmt.Quote(stmt.Schema.Table):
		return unrouted("its table is an expression: name the shard with On" + orScatter(b))
	case m.global && b.op != opQuery && b.op != opRow && associated(b):
		return unrouted("its rows are in every database, and an association would write them: leave them out with Omit")
	case m.global && b.op != opQuery && b.op != opRow:
		return unrouted("its rows are in every database: write them in each, with Shards.Each, or in one with On")
	case !m.global && !m.sharded():
		return unrouted("it has no shard tag: give its key one, pass it to Global if its rows are in every database, or name the shard with On")
	case !m.global && m.refused != "":
		return unrouted(m.refused)
	}
	if b.op == opCreate {
		return r.rows(b, m, args)
	}
	said := r.read.of(b.text(m), r.dialect)
	found, refused := r.shards(said, args)
	b.found = said.found
	switch {
	case refused != "":
	case b.from:
		found, refused = r.through(b, m)
	default:
		refused = r.joins(b, m)
	}
	switch {
	case refused != "":
		return unrouted(refused + ": write it otherwise, or name the shard with On")
	case m.global && !b.from:
		return place{any: true}, nil
	}
	return place{set: found, any: found.known && len(found.shards) == 0}, nil
}

// associated reports whether GORM saves rows that belong to others. It remembers these in a setting.
func associated(b *bound) bool {
	_, saved := b.stmt.Settings.Load("gorm:saved_association_map")
	return saved
}

// rows returns the shards of the rows of an INSERT, as it sends them.
func (r *rules) rows(b *bound, m *model, args []any) (place, *Error) {
	values, _ := b.stmt.Clauses["VALUES"].Expression.(clause.Values)
	insert, _ := b.stmt.Clauses["INSERT"].Expression.(clause.Insert)
	key, source := -1, -1
	for i, c := range values.Columns {
		switch m.field(c.Name) {
		case nil:
		case m.key:
			key = i
			if m.key == m.source {
				source = i
			}
		case m.source:
			source = i
		}
	}
	_, refused := r.shards(r.read.of(b.text(m), r.dialect), args)
	switch {
	case refused == "" && (key < 0 || source < 0):
		refused = "the rows have no " + m.columns()
	case refused == "" && insert.Table.Name != "" && insert.Table.Name != clause.CurrentTable:
		refused = "it inserts into another table"
	}
	if refused != "" {
		return place{}, b.refuse(m, ErrUnrouted, refused+": name the shard with On")
	}
	found := set{known: true}
	for i, row := range values.Values {
		ofKey, known := m.shard(m.key, row[key])
		ofSource, also := m.shard(m.source, row[source])
		switch {
		case !known || !also:
			return place{}, b.refuse(m, ErrUnrouted, fmt.Sprintf("row %d has no value that tells its shard in %s or in %s: set both", i, m.key.Name, m.source.Name))
		case ofKey != ofSource:
			return place{}, b.refuse(m, ErrMismatch, fmt.Sprintf("row %d has %s of the shard %d and %s of the shard %d: use Layout.WithShard, or leave the key to the plugin",
				i, m.key.Name, ofKey, m.source.Name, ofSource))
		}
		found.add(r.one(ofKey))
	}
	// The database writes a row that meets this one. Both have the same key or unique columns, so the same shard.
	conflict, _ := b.stmt.Clauses["ON CONFLICT"].Expression.(clause.OnConflict)
	for _, a := range conflict.DoUpdates {
		if f := m.field(unqualified(a.Column.Name)); f != nil {
			if _, same := a.Value.(analysis.Unchanged); same {
				continue
			}
			if c, ok := a.Value.(clause.Column); !ok || !strings.EqualFold(unqualified(c.Name), f.DBName) {
				return place{}, b.refuse(m, ErrMoves, f.Name+" gets another value in ON CONFLICT: leave it out")
			}
		}
	}
	return place{set: found}, nil
}

// moves refuses an UPDATE that gives rows a key or a field of another shard.
func (r *rules) moves(b *bound, m *model, p place) *Error {
	updates, _ := b.stmt.Clauses["SET"].Expression.(clause.Set)
	for _, a := range updates {
		f := m.field(unqualified(a.Column.Name))
		if f == nil {
			continue
		}
		shard, known := m.shard(f, a.Value)
		switch {
		case p.any && !p.all:
			continue
		case !known:
			return b.refuse(m, ErrMoves, "it sets "+f.Name+" to what tells no shard: leave it out, or delete the row and create another")
		case p.all || len(p.shards) != 1 || p.shards[0] != shard:
			return b.refuse(m, ErrMoves, fmt.Sprintf("it sets %s to a value of the shard %d, and the rows are in %s: delete the row and create another", f.Name, shard, list(p.shards)))
		}
	}
	return nil
}

// joins returns why the joined rows may be in other shards than the rows that they are joined to.
func (r *rules) joins(b *bound, m *model) string {
	joins := b.stmt.Joins
	if len(joins) == 0 && b.found.joins {
		return "it has a join in text"
	}
	for _, j := range joins {
		owner, s := m, b.stmt.Schema
		for step := range strings.SplitSeq(j.Name, ".") {
			s.Relationships.Mux.RLock()
			rel := s.Relationships.Relations[step]
			s.Relationships.Mux.RUnlock()
			if rel == nil || rel.JoinTable != nil || j.Expression != nil {
				return fmt.Sprintf("the join %q is text or many-to-many", j.Name)
			}
			other := r.model(rel.FieldSchema)
			if !other.global && !r.together(owner, other, rel) {
				return fmt.Sprintf("rows of %s may be in other shards than their %s", other.name, owner.name)
			}
			owner, s = other, rel.FieldSchema
		}
	}
	return ""
}

// together reports whether related rows are in the same shard: both sides of a reference give it in the same way.
func (r *rules) together(owner, other *model, rel *schema.Relationship) bool {
	for _, ref := range rel.References {
		if ref.PrimaryKey == nil { // a constant
			continue
		}
		mine, theirs := ref.ForeignKey, ref.PrimaryKey
		if ref.OwnPrimaryKey {
			mine, theirs = ref.PrimaryKey, ref.ForeignKey
		}
		f, g := owner.field(mine.DBName), other.field(theirs.DBName)
		if f != nil && g != nil && owner.kind(f) == other.kind(g) {
			return true
		}
	}
	return false
}

// unqualified returns the column of table.column, without quotes.
func unqualified(column string) string {
	column = column[strings.LastIndexByte(column, '.')+1:]
	if column == "" || letter(column[0]) { // as GORM writes it; Trim takes longer than all else here
		return column
	}
	return strings.Trim(column, "`\"[]")
}

func list(shards []uint64) string {
	switch len(shards) {
	case 0:
		return "all shards"
	case 1:
		return fmt.Sprintf("the shard %d", shards[0])
	}
	return fmt.Sprintf("the shards %v", shards)
}

// ownFrom reports whether the caller has added a FROM clause of its own.
func ownFrom(stmt *gorm.Statement) bool {
	from, _ := stmt.Clauses["FROM"].Expression.(clause.From)
	return len(from.Joins) > 0 || len(from.Tables) > 0
}
