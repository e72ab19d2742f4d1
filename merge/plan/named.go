package plan

import "slices"

// A Named is what a name or pattern of [Decisions] names: a column, or the columns of a unique key.
type Named struct {
	Name    Name // in full, as a file has it
	Table   *Table
	Columns []string
}

// NamedColumns returns the columns that a name or pattern names, in the order of the plan. If there are none, it returns
// an [*Error].
func (p *Plan) NamedColumns(n Name) (all []Named, err error) {
	found, _, err := p.columns(n)
	for _, at := range found {
		all = append(all, Named{Name{Text: at.name(p), Line: n.Line}, at.table, []string{at.column.Name}})
	}
	return all, err
}

// NamedKeys returns the unique keys that a name or pattern names, in the order of the plan. A primary key is one, too. If
// there are none, it returns an [*Error].
func (p *Plan) NamedKeys(n Name) (all []Named, err error) {
	of := clone(p) // a primary key is added there
	found, err := of.uniqueKeys(n)
	for _, t := range of.Tables {
		for _, u := range t.Unique {
			if slices.Contains(found, u) {
				all = append(all, Named{Name{Text: p.keyName(t, u.Columns).Text, Line: n.Line}, p.Table(t.Name), u.Columns})
			}
		}
	}
	return all, err
}
