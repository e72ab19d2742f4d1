package route

import (
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

	found found
	depth int
}

// read returns the WHERE clause of a SELECT, UPDATE or DELETE.
func (r *reader) read() (rows *condition) {
	r.advance() // SELECT, UPDATE or DELETE
	r.found.selects = r.kind == query
	if r.kind == with {
		r.refuse("it begins with WITH or TABLE")
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
	if r.kind == where {
		r.advance()
		rows = r.or()
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
	return rows
}

// skim looks whether an INSERT can be read.
func (r *reader) skim() {
	for r.advance(); r.kind != end; r.advance() {
		r.look()
	}
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

func (r *reader) or() *condition {
	c := r.and()
	for r.kind == or {
		r.advance()
		c = either(c, r.and())
	}
	return c
}

func (r *reader) and() *condition {
	c := r.term()
	for r.kind == and {
		r.advance()
		c = both(c, r.term())
	}
	return c
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
func (r *reader) term() *condition {
	switch r.kind {
	case not:
		r.advance()
		r.term()
		return nil
	case opened:
		if c, ok := r.tuple(); ok {
			return c
		}
		if r.depth++; r.depth > 100 {
			r.refuse("it has more than 100 parentheses within each other")
		}
		r.advance()
		c := r.or()
		r.depth--
		if r.kind != closed {
			r.refuse("its parentheses can't be read")
		}
		r.advance()
		if r.ends() {
			return c
		}
		r.skip()
		return nil
	}
	if r.ends() {
		r.refuse("a condition is empty")
		return nil
	}
	c := r.comparison()
	if !r.ends() {
		r.skip()
		return nil
	}
	return c
}

// comparison reads column = ?, ? = column and column IN (?, …).
func (r *reader) comparison() *condition {
	if r.kind == value {
		arg := r.arg
		if r.advance(); r.kind != equal {
			return nil
		}
		r.advance()
		f, ok := r.column()
		if !ok {
			return nil
		}
		return equals(f, arg)
	}
	f, ok := r.column()
	if !ok {
		return nil
	}
	switch r.kind {
	case equal:
		if r.advance(); r.kind != value {
			return nil
		}
		c := equals(f, r.arg)
		r.advance()
		return c
	case in:
		if r.advance(); r.kind != opened {
			return nil
		}
		c := equals(f)
		for first := true; ; first = false {
			if r.advance(); r.kind == name && first && strings.EqualFold(r.text, "NULL") {
				if r.advance(); r.kind == closed { // GORM's empty list
					r.advance()
					return c
				}
			}
			if r.kind != value {
				r.rest()
				return nil
			}
			c.add(r.arg)
			switch r.advance(); r.kind {
			case comma:
			case closed:
				r.advance()
				return c
			default:
				r.rest()
				return nil
			}
		}
	}
	return nil
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
func (r *reader) tuple() (*condition, bool) {
	before, at := r.scanner, r.token
	back := func() (*condition, bool) {
		r.scanner, r.token = before, at
		return nil, false
	}
	var columns []*condition
	for {
		r.advance()
		f, ok := r.column()
		if !ok || r.kind != comma && r.kind != closed {
			return back()
		}
		columns = append(columns, equals(f))
		if r.kind == closed {
			break
		}
	}
	if r.advance(); len(columns) < 2 || r.kind != in {
		return back()
	}
	if r.advance(); r.kind != opened {
		return back()
	}
	for {
		if r.advance(); r.kind != opened {
			return back()
		}
		for i, c := range columns {
			if r.advance(); r.kind != value {
				return back()
			}
			c.add(r.arg)
			if r.advance(); r.kind != comma && i < len(columns)-1 || r.kind != closed && i == len(columns)-1 {
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
	var all *condition
	for _, c := range columns {
		all = both(all, c)
	}
	return all, true
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
