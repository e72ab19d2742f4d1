package plan

import "slices"

// A Stage is a table in the order in which tables are copied.
type Stage struct {
	Table *Table

	// Deferred are the columns that are copied as NULL, because the rows that they
	// refer to may not be there yet. The phase link sets them.
	Deferred []*Column
}

// Stages returns the tables in an order in which each comes after the tables that
// its foreign keys refer to. Where foreign keys form a circle, it defers columns
// to break it. A circle in which none can be NULL is an [*Error], unless
// the database checks no foreign keys.
func (p *Plan) Stages(unchecked bool) ([]Stage, error) {
	var tables []*Table
	for _, t := range p.Tables {
		if !t.Skip {
			tables = append(tables, t)
		}
	}
	if unchecked {
		all := make([]Stage, len(tables))
		for i, t := range tables {
			all[i].Table = t
		}
		return all, nil
	}
	var order []*Table
	for _, component := range p.components(tables) {
		strict, circle := p.sort(component, func(t *Table, k *ForeignKey) bool { return k.breaks(p, t) != nil })
		if circle != nil {
			return nil, &Error{
				Table:  circle.Name,
				Reason: "its foreign keys form a circle, and none can be NULL: it takes Config.WithoutForeignKeys",
			}
		}
		order = append(order, strict...)
	}
	all := make([]Stage, len(order))
	for i, t := range order {
		all[i].Table = t
		for _, k := range t.ForeignKeys {
			if to := slices.Index(order, p.Table(k.Table)); to < i {
				continue // skipped tables are not there
			}
			if c := k.breaks(p, t); c != nil && !slices.Contains(all[i].Deferred, c) {
				all[i].Deferred = append(all[i].Deferred, c)
			}
		}
	}
	return all, nil
}

// breaks returns a column of a foreign key that turns off its check when it is NULL, or nil. No foreign key refers to it.
func (k *ForeignKey) breaks(p *Plan, t *Table) *Column {
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

// parents returns the tables that must come before t.
func (p *Plan) parents(t *Table, without func(*Table, *ForeignKey) bool) []*Table {
	var all []*Table
	for _, k := range t.ForeignKeys {
		if parent := p.Table(k.Table); parent != nil && !parent.Skip && (without == nil || !without(t, k)) {
			all = append(all, parent)
		}
	}
	return all
}

// components returns the strongly connected components of the graph of foreign
// keys, each after those that it refers to (Tarjan, "Depth-first search and
// linear graph algorithms", 1972).
func (p *Plan) components(tables []*Table) [][]*Table {
	index, low := map[*Table]int{}, map[*Table]int{}
	var stack []*Table
	var all [][]*Table
	var visit func(t *Table)
	visit = func(t *Table) {
		index[t] = len(index) + 1
		low[t] = index[t]
		stack = append(stack, t)
		for _, parent := range p.parents(t, nil) {
			if index[parent] == 0 {
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

// sort returns tables in an order in which each comes after its parents, or a
// table of a circle.
func (p *Plan) sort(tables []*Table, without func(*Table, *ForeignKey) bool) (order []*Table, circle *Table) {
	state := map[*Table]int{} // 1: on the way, 2: done
	var visit func(t *Table) bool
	visit = func(t *Table) bool {
		switch {
		case state[t] == 2 || !slices.Contains(tables, t):
			return true
		case state[t] == 1:
			circle = t
			return false
		}
		state[t] = 1
		for _, parent := range p.parents(t, without) {
			if !visit(parent) {
				return false
			}
		}
		state[t] = 2
		order = append(order, t)
		return true
	}
	for _, t := range tables {
		if !visit(t) {
			return nil, circle
		}
	}
	return order, nil
}

// Precedence returns the sources of a table in the order in which their rows get
// new ids: the row that another one is merged into comes first.
func (p *Plan) Precedence(t *Table) ([]string, error) {
	var order []string
	for _, u := range t.Unique {
		if u.Rule != RuleKeep && u.Rule != RuleMatch {
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
	order := slices.Clone(u.Prefer)
	for _, s := range p.SourcesOf(t) {
		if !slices.Contains(order, s) {
			order = append(order, s)
		}
	}
	return order
}

// MintOrder returns the tables in the order in which their rows get new ids: a table comes after those that it refers
// to in unique keys, if their rows may be merged, and after those that decide which of its rows are dropped.
func (p *Plan) MintOrder() ([]*Table, error) {
	var order []*Table
	state := map[*Table]int{} // 1: on the way, 2: done
	var visit func(t *Table) error
	visit = func(t *Table) error {
		switch state[t] {
		case 1:
			return &Error{Table: t.Name, Reason: "references that drop rows, or are in unique keys that merge them, form a circle"}
		case 2:
			return nil
		}
		state[t] = 1
		for _, c := range t.Columns {
			unique := slices.ContainsFunc(t.Unique, func(u *Unique) bool { return slices.Contains(u.Columns, c.Name) })
			for _, r := range c.Refers {
				parent := p.Table(r.Table)
				if parent == nil || parent.Skip || !c.DropsRows() && !(unique && parent.Merges()) {
					continue
				}
				if err := visit(parent); err != nil {
					return err
				}
			}
		}
		state[t] = 2
		order = append(order, t)
		return nil
	}
	for _, t := range p.Tables {
		if t.Skip {
			continue
		}
		if err := visit(t); err != nil {
			return nil, err
		}
	}
	return order, nil
}
