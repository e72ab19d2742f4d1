package route

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"

	"gorm.io/gorm/schema"
)

// A text is the SQL of a statement, and of what it is.
type text struct {
	sql, table string
	model      *model
	inserts    bool
}

// A reading is what a text says, whatever the values of its placeholders are.
type reading struct {
	text
	found   found
	refused string // why it can't be read
	values  int    // placeholders
	rows    *condition
}

func (t text) read(dialect string) *reading {
	r := reader{scanner: scanner{sql: t.sql, dialect: dialect}, model: t.model, table: t.table}
	said := &reading{text: t}
	if t.inserts {
		r.skim()
	} else {
		said.rows = r.read()
	}
	said.found, said.refused, said.values = r.found, r.refused, r.scanner.values
	return said
}

// readings remembers what texts say: GORM builds the same ones again and again. It forgets one if three texts have
// their place among two.
type readings struct {
	seed  maphash.Seed
	slots [1024]atomic.Pointer[reading]
}

func (r *readings) of(t text, dialect string) *reading {
	if len(t.sql) > 1024 {
		return t.read(dialect)
	}
	i := maphash.String(r.seed, t.sql) % uint64(len(r.slots))
	former := r.slots[i].Load()
	for _, said := range [...]*reading{former, r.slots[i^1].Load()} {
		if said != nil && said.text == t {
			return said
		}
	}
	t.sql = strings.Clone(t.sql) // GORM's has room for more
	said := t.read(dialect)
	r.slots[i^1].Store(former)
	r.slots[i].Store(said)
	return said
}

// A condition holds for rows of some shards. If it is nil, it may hold for any row.
type condition struct {
	field  *schema.Field
	values []int // that the field may have, as indexes

	all   bool         // of the parts, or one of them
	parts []*condition // if there are some, the condition has no field
}

// equals returns the condition that a field has one of some values. The field is nil if it does not give the shard.
func equals(f *schema.Field, values ...int) *condition {
	if f == nil {
		return nil
	}
	return &condition{field: f, values: values}
}

// add adds a value.
func (c *condition) add(value int) {
	if c != nil {
		c.values = append(c.values, value)
	}
}

func both(a, b *condition) *condition {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return a.with(b, true)
}

func either(a, b *condition) *condition {
	if a == nil || b == nil {
		return nil
	}
	return a.with(b, false)
}

func (c *condition) with(other *condition, all bool) *condition {
	if c.parts != nil && c.all == all {
		c.parts = append(c.parts, other)
		return c
	}
	return &condition{all: all, parts: []*condition{c, other}}
}

// shards returns the shards of the rows that a statement with these values is about, or why it can't be read.
func (r *rules) shards(said *reading, args []any) (s set, refused string) {
	switch {
	case said.refused != "":
		return set{}, said.refused
	case said.values != len(args):
		return set{}, "it has another number of placeholders than of values"
	}
	return r.of(said.rows, said.model, args), ""
}

func (r *rules) of(c *condition, m *model, args []any) (s set) {
	switch {
	case c == nil:
		return set{}
	case c.parts == nil:
		s.known = true
		for _, v := range c.values {
			shard, known := m.shard(c.field, args[v])
			if !known {
				return set{}
			}
			s.add(r.one(shard))
		}
		return s
	}
	for i, part := range c.parts {
		switch next := r.of(part, m, args); {
		case i == 0:
			s = next
		case c.all:
			s = meet(s, next)
		default:
			s = join(s, next)
		}
	}
	return s
}

// one returns a list of one shard, which must not be changed.
func (r *rules) one(shard uint64) []uint64 {
	if shard >= uint64(len(r.each)) {
		return []uint64{shard}
	}
	return slices.Clip(r.each[shard : shard+1])
}
