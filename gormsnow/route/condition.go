package route

import (
	"slices"
	"strings"

	"gorm.io/gorm/schema"
)

// A reader finds out which shards the rows have that a statement is about. It reads the SQL that GORM has built:
// so GORM's parentheses, or their lack, and the conditions that it adds itself mean what they mean to the
// database. It is no parser of SQL. It knows AND, OR, NOT, parentheses, column = ? and column IN (?, …) in a
// WHERE clause, and takes anything else for a condition that may hold for any row.
type reader struct {
	scanner
	token
	model *model
	table string
	args  []any

	found found
	depth int
	few   []uint64 // for sets of one shard
	used  int
}

// read returns the shards that the WHERE clause of a SELECT, UPDATE or DELETE leads to, or why the statement
// can't be read.
func (r *reader) read() (set, string) {
	r.advance() // SELECT, UPDATE or DELETE
	r.found.selects = r.kind == query
	if r.kind == with {
		return set{}, "it begins with WITH or TABLE"
	}
	r.advance()
	for from := false; r.kind != end && r.kind != where && r.kind != tail && r.kind != last; r.advance() {
		switch {
		case r.kind == opened:
			r.found.calls = r.found.calls || !from
			r.group()
		case r.kind == name && strings.EqualFold(r.text, "DISTINCT"):
			r.found.distinct = true
		case r.kind == name && strings.EqualFold(r.text, "FROM"):
			from = true
		case r.kind == name && (strings.EqualFold(r.text, "JOIN") || strings.EqualFold(r.text, "STRAIGHT_JOIN")):
			r.found.joins = true
		case r.kind == comma && from:
			r.refuse("it is about several tables")
		}
		r.look()
	}
	var shards set
	if r.kind == where {
		r.advance()
		shards = r.or()
	}
	for inner := false; r.kind != end; r.advance() {
		r.found.note(r.token, r.found.limited)
		switch r.kind {
		case tail:
			inner = true
		case last:
			inner = false
		case opened:
			r.group()
		case closed:
			r.refuse("a parenthesis is closed that was not opened")
		case and, or, where:
			if !inner {
				r.refuse("the end of its condition can't be told")
			}
		}
		r.look()
	}
	if r.refused == "" && r.values != len(r.args) {
		r.refuse("it has another number of placeholders than of values")
	}
	return shards, r.refused
}

func (r *reader) advance() { r.token = r.next() }

// look refuses words that would bring in rows of a second query: these could be in any shard.
func (r *reader) look() {
	switch r.kind {
	case query:
		r.refuse("it has a subquery, which would see the rows of one shard only")
	case with:
		r.refuse("it has a UNION or the like, which would see the rows of one shard only")
	}
}

func (r *reader) or() set {
	s := r.and()
	for r.kind == or {
		r.advance()
		s = join(s, r.and())
	}
	return s
}

func (r *reader) and() set {
	s := r.term()
	for r.kind == and {
		r.advance()
		s = meet(s, r.term())
	}
	return s
}

// ends reports whether a condition can end here.
func (r *reader) ends() bool {
	switch r.kind {
	case end, and, or, closed, tail, last:
		return true
	}
	return false
}

// term reads what stands between AND and OR.
func (r *reader) term() set {
	switch r.kind {
	case not:
		r.advance()
		r.term()
		return set{}
	case opened:
		if s, ok := r.tuple(); ok {
			return s
		}
		if r.depth++; r.depth > 100 {
			r.refuse("it has more than 100 parentheses within each other")
		}
		r.advance()
		s := r.or()
		r.depth--
		if r.kind != closed {
			r.refuse("its parentheses can't be read")
		}
		r.advance()
		if r.ends() {
			return s
		}
		r.skip()
		return set{}
	}
	if r.ends() {
		r.refuse("a condition is empty")
		return set{}
	}
	s := r.comparison()
	if !r.ends() {
		r.skip()
		return set{}
	}
	return s
}

// comparison reads column = ?, ? = column and column IN (?, …).
func (r *reader) comparison() set {
	if r.kind == value {
		arg := r.arg
		if r.advance(); r.kind != equal {
			return set{}
		}
		r.advance()
		f, ok := r.column()
		if !ok {
			return set{}
		}
		return r.is(f, arg)
	}
	f, ok := r.column()
	if !ok {
		return set{}
	}
	switch r.kind {
	case equal:
		if r.advance(); r.kind != value {
			return set{}
		}
		s := r.is(f, r.arg)
		r.advance()
		return s
	case in:
		if r.advance(); r.kind != opened {
			return set{}
		}
		s := set{known: true}
		for first := true; ; first = false {
			if r.advance(); r.kind == name && first && strings.EqualFold(r.text, "NULL") {
				if r.advance(); r.kind == closed { // GORM's empty list
					r.advance()
					return s
				}
			}
			if r.kind != value {
				r.rest()
				return set{}
			}
			s = r.oneOf(s, f, r.arg)
			switch r.advance(); r.kind {
			case comma:
			case closed:
				r.advance()
				return s
			default:
				r.rest()
				return set{}
			}
		}
	}
	return set{}
}

// oneOf adds the shard of a value to a set.
func (r *reader) oneOf(s set, f *schema.Field, arg int) set {
	one := r.is(f, arg)
	if !s.known || !one.known {
		return set{}
	}
	if i, ok := slices.BinarySearch(s.shards, one.shards[0]); !ok {
		s.shards = slices.Insert(s.shards, i, one.shards[0])
	}
	return s
}

// rest leaves the parentheses that are open.
func (r *reader) rest() {
	for r.kind != closed && r.kind != end {
		if r.kind == opened {
			r.group()
		}
		r.look()
		r.advance()
	}
	if r.kind == closed {
		r.advance()
	}
}

// is returns the shard of the rows whose column has the value.
func (r *reader) is(f *schema.Field, arg int) set {
	if f == nil || arg >= len(r.args) {
		return set{}
	}
	shard, ok := r.model.shard(f, r.args[arg])
	switch {
	case !ok:
		return set{}
	case r.used == len(r.few):
		return set{true, []uint64{shard}}
	}
	r.few[r.used] = shard
	r.used++
	return set{true, r.few[r.used-1 : r.used : r.used]}
}

// column reads the name of a column. The field is nil if the column does not give the shard.
func (r *reader) column() (*schema.Field, bool) {
	if r.kind != name {
		return nil, false
	}
	table, column := "", r.text
	parts := 1
	for r.advance(); r.kind == dot; r.advance() {
		if r.advance(); r.kind != name {
			return nil, false
		}
		table, column = column, r.text
		parts++
	}
	if parts > 2 || parts == 2 && !strings.EqualFold(table, r.table) {
		return nil, true
	}
	return r.model.field(column), true
}

// tuple reads (column, …) IN ((?, …), …), which GORM writes for composite keys.
func (r *reader) tuple() (set, bool) {
	before, at := r.scanner, r.token
	back := func() (set, bool) {
		r.scanner, r.token = before, at
		return set{}, false
	}
	var fields []*schema.Field
	for {
		r.advance()
		f, ok := r.column()
		if !ok || r.kind != comma && r.kind != closed {
			return back()
		}
		fields = append(fields, f)
		if r.kind == closed {
			break
		}
	}
	if r.advance(); len(fields) < 2 || r.kind != in {
		return back()
	}
	if r.advance(); r.kind != opened {
		return back()
	}
	sets := make([]set, len(fields))
	for i := range sets {
		sets[i].known = true
	}
	for {
		if r.advance(); r.kind != opened {
			return back()
		}
		for i, f := range fields {
			if r.advance(); r.kind != value {
				return back()
			}
			sets[i] = r.oneOf(sets[i], f, r.arg)
			if r.advance(); r.kind != comma && i < len(fields)-1 || r.kind != closed && i == len(fields)-1 {
				return back()
			}
		}
		if r.advance(); r.kind == closed {
			break
		}
		if r.kind != comma {
			return back()
		}
	}
	if r.advance(); !r.ends() {
		return back()
	}
	s := sets[0]
	for _, other := range sets[1:] {
		s = meet(s, other)
	}
	return s, true
}

// skip leaves a condition that is not understood.
func (r *reader) skip() {
	pending := 0 // BETWEEN without its AND
	for ; ; r.advance() {
		switch r.kind {
		case between:
			pending++
		case and:
			if pending == 0 {
				return
			}
			pending--
		case opened:
			r.group()
		case end, or, closed, tail, last:
			return
		case odd:
			r.refuse("it has CASE or XOR, whose end can't be told")
		}
		r.look()
	}
}

// group goes to the end of parentheses within a condition that is not understood.
func (r *reader) group() {
	for depth := 1; depth > 0; {
		switch r.advance(); r.kind {
		case end:
			r.refuse("a parenthesis is not closed")
			return
		case opened:
			depth++
		case closed:
			depth--
		}
		r.look()
	}
}
