package plan

import (
	"fmt"
	"slices"
)

// A Stage is a table in the order of copying.
type Stage struct {
	Table *Table

	// Deferred are the columns that are copied as NULL, because the rows that they refer to may not be there yet.
	// Phase link sets them.
	Deferred []*Column
}

// merged returns the tables that are not skipped.
func (p *Plan) merged() []*Table {
	return slices.DeleteFunc(slices.Clone(p.Tables), func(t *Table) bool { return t.Skip })
}

// Stages returns the tables in the order of copying: each comes after the tables that its foreign keys refer to. Where
// foreign keys form a circle, it defers columns to break it. A circle where no column can be NULL is an
// [*Error], unless unchecked says that the database checks no foreign keys.
func (p *Plan) Stages(unchecked bool) (all []Stage, err error) {
	order := p.merged()
	if !unchecked {
		if order, err = p.copyOrder(order); err != nil {
			return nil, err
		}
	}
	for i, t := range order {
		stage := Stage{Table: t}
		for _, k := range t.ForeignKeys {
			if to := slices.Index(order, p.Table(k.Table)); unchecked || to < i { // skipped tables are not there
				continue
			}
			if c := k.breaks(p, t); c != nil && !slices.Contains(stage.Deferred, c) {
				stage.Deferred = append(stage.Deferred, c)
			}
		}
		all = append(all, stage)
	}
	return all, nil
}

// copyOrder returns tables in the order of their foreign keys, except for the foreign keys that break a circle.
func (p *Plan) copyOrder(tables []*Table) (order []*Table, err error) {
	parents := func(breaking bool) func(*Table) []*Table {
		return func(t *Table) (all []*Table) {
			for _, k := range t.ForeignKeys {
				if breaking || k.breaks(p, t) == nil {
					all = append(all, p.Table(k.Table))
				}
			}
			return all
		}
	}
	for _, component := range components(tables, parents(true)) {
		strict, circle := inOrder(component, parents(false))
		if circle != nil {
			return nil, &Error{Table: circle.Name, Reason: "its foreign keys form a circle, " + wayAround(circle, parents(false)) + ", and none can be NULL: it takes Config.WithoutForeignKeys, or -without-foreign-keys"}
		}
		order = append(order, strict...)
	}
	return order, nil
}

// breaks returns a column of a foreign key that can be NULL, which turns off the check of the key, or nil. No
// foreign key refers to the column, and its row can be found again.
func (k *ForeignKey) breaks(p *Plan, t *Table) *Column {
	if len(t.RowKey()) == 0 {
		return nil
	}
	for _, name := range k.Columns {
		if c := t.Column(name); c != nil && c.Nullable && c.Generated == "" && !slices.Contains(t.PrimaryKey, name) && !p.referred(t, name) {
			return c
		}
	}
	return nil
}

// referred reports whether a foreign key refers to a column.
func (p *Plan) referred(t *Table, column string) bool {
	return slices.ContainsFunc(p.Tables, func(child *Table) bool {
		return !child.Skip && slices.ContainsFunc(child.ForeignKeys, func(k *ForeignKey) bool {
			return k.Table == t.Name && slices.Contains(k.Refers, column)
		})
	})
}

// components returns the strongly connected components of a graph of tables, each after the components that it
// refers to (Tarjan, "Depth-first search and linear graph algorithms", 1972).
func components(tables []*Table, parents func(*Table) []*Table) (all [][]*Table) {
	index, low := map[*Table]int{}, map[*Table]int{}
	var stack []*Table
	var visit func(t *Table)
	visit = func(t *Table) {
		index[t] = len(index) + 1
		low[t] = index[t]
		stack = append(stack, t)
		for _, parent := range parents(t) {
			if index[parent] == 0 && slices.Contains(tables, parent) {
				visit(parent)
				low[t] = min(low[t], low[parent])
			} else if slices.Contains(stack, parent) {
				low[t] = min(low[t], index[parent])
			}
		}
		if low[t] == index[t] {
			at := slices.Index(stack, t)
			all = append(all, slices.Clone(stack[at:]))
			stack = stack[:at]
		}
	}
	for _, t := range tables {
		if index[t] == 0 {
			visit(t)
		}
	}
	return all
}

// inOrder returns tables in an order where each comes after its parents, or after a table of a circle.
func inOrder(tables []*Table, parents func(*Table) []*Table) (order []*Table, circle *Table) {
	begun := map[*Table]bool{}
	var visit func(t *Table)
	visit = func(t *Table) {
		switch {
		case circle != nil || !slices.Contains(tables, t) || slices.Contains(order, t):
			return
		case begun[t]:
			circle = t
			return
		}
		begun[t] = true
		for _, parent := range parents(t) {
			visit(parent)
		}
		order = append(order, t)
	}
	for _, t := range tables {
		visit(t)
	}
	return order, circle
}

// Precedence returns the sources of a table in the order of giving new ids: a row comes before the
// rows that are merged into it.
func (p *Plan) Precedence(t *Table) (order []string, err error) {
	for _, u := range t.Unique {
		if !u.merges() {
			continue
		}
		this := p.Preferred(t, u)
		if order != nil && !slices.Equal(order, this) {
			return nil, &Error{Table: t.Name, Reason: "unique keys that merge rows prefer sources in different orders"}
		}
		order = this
	}
	if order == nil {
		order = p.SourcesOf(t)
	}
	return order, nil
}

// Preferred returns the sources of a table in the order of their precedence in a unique key.
func (p *Plan) Preferred(t *Table, u *Unique) []string {
	others := slices.DeleteFunc(p.SourcesOf(t), func(s string) bool { return slices.Contains(u.Prefer, s) })
	return slices.Concat(u.Prefer, others)
}

// MintParents returns the tables whose rows must have new ids before the rows of a table: the tables that it refers
// to in its primary key or in unique keys, if their rows may be merged, and the tables that decide which of its
// rows are dropped. Rows that are merged by their id alone keep it, so that references to them do not wait for it.
func (p *Plan) MintParents(t *Table) (parents []*Table) {
	for _, c := range t.Columns {
		isUnique := slices.Contains(t.PrimaryKey, c.Name) || slices.ContainsFunc(t.Unique, func(u *Unique) bool { return slices.Contains(u.Columns, c.Name) })
		for _, r := range c.Refers {
			if parent := p.Table(r.Table); parent != nil && (c.DropsRows() || isUnique && parent.changesIDs(p.Sources)) {
				parents = append(parents, parent)
			}
		}
	}
	return parents
}

// changesIDs reports whether rows of the table that come from some sources may be merged into rows with other ids.
func (t *Table) changesIDs(sources []string) bool {
	key := t.Key()
	return slices.ContainsFunc(t.Unique, func(u *Unique) bool {
		return t.MergesBy(u, sources) && !(key != nil && len(t.NewIDs) == 0 && slices.Equal(u.Columns, []string{key.Name}))
	})
}

// MintOrder returns the tables in the order of giving new ids: a table comes after its
// [Plan.MintParents].
func (p *Plan) MintOrder() ([]*Table, error) {
	order, circle := inOrder(p.merged(), p.MintParents)
	if circle != nil {
		return nil, &Error{Table: circle.Name, Reason: "references that drop rows, or are in unique keys that merge them, form a circle, " + wayAround(circle, p.MintParents) + p.waysOut(circle)}
	}
	return order, nil
}

// wayAround returns the tables of the shortest circle of a table, such as "items → bags → items".
func wayAround(t *Table, parents func(*Table) []*Table) string {
	from := map[*Table]*Table{}
	queue := []*Table{t}
	for i := 0; i < len(queue); i++ {
		for _, parent := range parents(queue[i]) {
			if parent == t {
				way := t.Name
				for at := queue[i]; at != t; at = from[at] {
					way = at.Name + " → " + way
				}
				if queue[i] != t {
					return t.Name + " → " + way
				}
				return t.Name + " → " + t.Name
			}
			if parent != nil && from[parent] == nil {
				from[parent] = queue[i]
				queue = append(queue, parent)
			}
		}
	}
	return t.Name
}

// waysOut says what a person can do about a circle of references that a table is in.
func (p *Plan) waysOut(t *Table) string {
	leads := func(from *Table) bool {
		order := []*Table{from}
		for i := 0; i < len(order); i++ {
			for _, parent := range p.MintParents(order[i]) {
				if !slices.Contains(order, parent) {
					order = append(order, parent)
				}
			}
		}
		return slices.Contains(order, t)
	}
	in := []*Table{t}
	for i := 0; i < len(in); i++ {
		for _, c := range in[i].Columns {
			for _, r := range c.Refers {
				parent := p.Table(r.Table)
				if parent == nil || !leads(parent) || !slices.Contains(p.MintParents(in[i]), parent) {
					continue
				}
				if c.DropsRows() {
					return fmt.Sprintf(": rows go with what column %q refers to, and that leads back to its own table, so they can't be decided on in any order. "+
						"Choose null for its gone and orphans (except under along), or name all rows that go in without_rows, such as by WITH RECURSIVE", in[i].Name+"."+c.Name)
				}
				if !slices.Contains(in, parent) {
					in = append(in, parent)
				}
			}
		}
	}
	return ": which rows become one can't be decided on in any order. Choose fail or suffix for the unique keys of one of these tables that have such a reference"
}
