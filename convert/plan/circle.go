package plan

// Circles returns the tables that foreign keys connect in circles, such as users with a favourite order and orders
// with a user: each circle in the order of the plan. A table that refers to itself alone is none.
func (p *Plan) Circles() (circles [][]*Table) {
	f := &circleFinder{plan: p, number: map[*Table]int{}, low: map[*Table]int{}, open: map[*Table]bool{}}
	for _, t := range p.Tables {
		if f.number[t] == 0 {
			f.visit(t)
		}
	}
	for _, found := range f.found {
		var circle []*Table
		for _, t := range p.Tables {
			if found[t] {
				circle = append(circle, t)
			}
		}
		circles = append(circles, circle)
	}
	return circles
}

// A circleFinder finds strongly connected components, as Tarjan's algorithm does.
type circleFinder struct {
	plan   *Plan
	number map[*Table]int // from 1 on, in the order of visits
	low    map[*Table]int // the lowest number that can be reached
	open   map[*Table]bool
	stack  []*Table
	found  []map[*Table]bool
}

func (f *circleFinder) visit(t *Table) {
	f.number[t] = len(f.number) + 1
	f.low[t] = f.number[t]
	f.stack, f.open[t] = append(f.stack, t), true
	for _, k := range t.ForeignKeys {
		parent := f.plan.Table(k.Refers)
		switch {
		case parent == nil:
		case f.number[parent] == 0:
			f.visit(parent)
			f.low[t] = min(f.low[t], f.low[parent])
		case f.open[parent]:
			f.low[t] = min(f.low[t], f.number[parent])
		}
	}
	if f.low[t] < f.number[t] {
		return
	}
	circle := map[*Table]bool{}
	for last := (*Table)(nil); last != t; {
		last = f.stack[len(f.stack)-1]
		f.stack, f.open[last] = f.stack[:len(f.stack)-1], false
		circle[last] = true
	}
	if len(circle) > 1 {
		f.found = append(f.found, circle)
	}
}
