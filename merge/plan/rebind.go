package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Rebind is [Decisions.Complete] for sources of other names, such as next month's servers: the first source of schema takes the place of
// the first one of the decisions, the second that of the second, and so on, wherever the decisions name sources.
//
// Where there are more sources than the decisions have, or fewer, none of them can take a place. Then the decisions must say the same of all
// their sources: new_ids names all of them or none, and nothing else names any. Decisions of which a source keeps its name and
// comes at another place are refused with an [*Error], because it is not known which of both is meant.
func (d *Decisions) Rebind(schema *Plan) (*Plan, error) {
	if slices.Equal(d.Sources, schema.Sources) {
		return d.Complete(schema)
	}
	for i, name := range schema.Sources {
		if at := slices.Index(d.Sources, name); at >= 0 && at != i {
			return nil, &Error{Reason: fmt.Sprintf("source %q is number %d of the plan, and is given as number %d: give the sources in the plan's order", name, at+1, i+1)}
		}
	}
	if len(d.Sources) != len(schema.Sources) {
		return d.completeForAll(schema)
	}
	before, after := map[string]string{}, map[string]string{}
	for i, name := range schema.Sources {
		before[name], after[d.Sources[i]] = d.Sources[i], name
	}
	p, err := d.Complete(schema.renamed(before))
	if err != nil {
		return nil, err
	}
	return p.renamed(after), nil
}

// completeForAll is Rebind for another number of sources.
func (d *Decisions) completeForAll(schema *Plan) (*Plan, error) {
	all := *d
	all.Sources = schema.Sources
	fault := func(what string) error {
		return &Error{Reason: fmt.Sprintf("it is for %d sources, not %d, and %s: inspect with it as a template", len(d.Sources), len(schema.Sources), what)}
	}
	switch {
	case len(d.NewIDs) == 0:
	case slices.Equal(slices.Sorted(slices.Values(d.NewIDs)), slices.Sorted(slices.Values(d.Sources))):
		all.NewIDs = schema.Sources
	default:
		return nil, fault("new_ids names only some of them")
	}
	if len(d.Offsets) > 0 {
		return nil, fault("offsets names some of them")
	}
	p, err := all.Complete(schema)
	if err != nil {
		return nil, err
	}
	named := func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(schema.Sources, name) })
	}
	for _, t := range p.Tables {
		wrong := named(t.Sources) || named(t.NewIDs) || named(slices.Collect(maps.Keys(t.Offsets)))
		for _, c := range t.Columns {
			wrong = wrong || named(c.Sources)
		}
		for _, u := range t.Unique {
			wrong = wrong || named(u.Prefer)
		}
		for _, c := range t.WithoutRows {
			wrong = wrong || named(c.Sources)
		}
		if wrong {
			return nil, fault("says something of one of them in table " + strconv.Quote(t.Name))
		}
	}
	return p, nil
}

// renamed returns the plan with other names of its sources, in new tables.
func (p *Plan) renamed(to map[string]string) *Plan {
	names := func(all []string) []string {
		if all == nil {
			return nil
		}
		other := make([]string, len(all))
		for i, name := range all {
			other[i] = name
			if now, ok := to[name]; ok {
				other[i] = now
			}
		}
		return other
	}
	other := *p
	other.Sources, other.Tables = names(p.Sources), nil
	for _, t := range p.Tables {
		table := *t
		table.Sources, table.NewIDs, table.Columns, table.Unique, table.WithoutRows = names(t.Sources), names(t.NewIDs), nil, nil, nil
		if t.Offsets != nil {
			table.Offsets = map[string]int64{}
			for name, offset := range t.Offsets {
				table.Offsets[names([]string{name})[0]] = offset
			}
		}
		for _, c := range t.Columns {
			column := *c
			column.Sources = names(c.Sources)
			table.Columns = append(table.Columns, &column)
		}
		for _, u := range t.Unique {
			unique := *u
			unique.Prefer = names(u.Prefer)
			table.Unique = append(table.Unique, &unique)
		}
		for _, c := range t.WithoutRows {
			condition := *c
			condition.Sources = names(c.Sources)
			table.WithoutRows = append(table.WithoutRows, &condition)
		}
		other.Tables = append(other.Tables, &table)
	}
	return &other
}
