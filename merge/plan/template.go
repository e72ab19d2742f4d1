package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// In returns decisions on sources of one database, such as a template, as decisions on a database of that name of
// sources that have several: see [Plan.Databases]. Decisions on several databases are an [*Error].
func (d *Decisions) In(database string) (*Decisions, error) {
	switch {
	case len(d.Databases) > 0:
		return nil, &Error{Reason: "it is for several databases already"}
	case !databaseName.MatchString(database):
		return nil, &Error{Reason: "database " + strconv.Quote(database) + ": want letters, digits, underscores or hyphens of ASCII"}
	}
	q := qualifier(database + ".")
	in := *d
	in.Databases = []string{database}
	in.KeepIDs, in.Created, in.Skip, in.Keys, in.Plain, in.Schema = q.names(d.KeepIDs), q.names(d.Created), q.names(d.Skip), q.names(d.Keys), q.names(d.Plain), q.names(d.Schema)
	in.References, in.Unique, in.Questions, in.Tables, in.Along = nil, nil, nil, nil, nil
	for _, a := range d.Along {
		in.Along = append(in.Along, &Along{Table: q.table(a.Table), Except: q.names(a.Except)})
	}
	for _, m := range d.References {
		in.References = append(in.References, q.meaning(m))
	}
	for _, c := range d.Unique {
		clash := *c
		clash.Keys = q.names(c.Keys)
		in.Unique = append(in.Unique, &clash)
	}
	for _, asked := range d.Questions {
		in.Questions = append(in.Questions, q.question(asked))
	}
	for _, change := range d.Tables {
		in.Tables = append(in.Tables, TableChange{Table: q.name(change.Table), fields: q.fields(change.fields)})
	}
	return &in, nil
}

// A qualifier writes the name of a database and a dot before the names of tables.
type qualifier string

func (q qualifier) name(n Name) Name { return Name{Text: string(q) + n.Text, Line: n.Line} }

func (q qualifier) names(names []Name) (all []Name) {
	for _, n := range names {
		all = append(all, q.name(n))
	}
	return all
}

// table qualifies a table, or leaves a word as it is.
func (q qualifier) table(name string) string {
	if isWord(name) {
		return name
	}
	return string(q) + name
}

func (q qualifier) pairs(pairs pairs) (all pairs) {
	for _, p := range pairs {
		all = append(all, Pair{p.Key, q.table(p.Value)})
	}
	return all
}

func (q qualifier) kinds(kinds kinds) (all kinds) {
	for _, k := range kinds {
		all = append(all, Kind{k.Value, Answer{Text: q.table(k.Is.Text), Meaning: q.meaning(k.Is.Meaning)}})
	}
	return all
}

func (q qualifier) meaning(m *Meaning) *Meaning {
	if m == nil {
		return nil
	}
	in := *m
	in.To, in.List, in.Name = q.table(m.To), q.table(m.List), q.table(m.Name)
	in.JSON, in.Kinds, in.IDs, in.Columns = q.pairs(m.JSON), q.kinds(m.Kinds), q.pairs(m.IDs), q.names(m.Columns)
	return &in
}

func (q qualifier) question(asked *Asked) *Asked {
	in := *asked
	in.Columns, in.Candidates = q.names(asked.Columns), nil
	answer := func(a Answer) Answer {
		return Answer{Text: q.table(a.Text), Meaning: q.meaning(a.Meaning), Fields: a.Fields, line: a.line}
	}
	if len(asked.Unique) > 0 { // answers are rules
		in.Unique = slices.Clone(asked.Unique)
		for i := range in.Unique {
			in.Unique[i].Key = q.name(in.Unique[i].Key)
		}
		return &in
	}
	in.Proposed, in.Answer = answer(asked.Proposed), answer(asked.Answer)
	for _, c := range asked.Candidates {
		in.Candidates = append(in.Candidates, &Candidate{Answer: q.table(c.Answer), Certainty: c.Certainty})
	}
	return &in
}

// fields qualifies the tables that fields of a table refer to: tables of references and of foreign keys.
func (q qualifier) fields(n *yaml.Node) *yaml.Node {
	if n == nil {
		return nil
	}
	in := *n
	in.Content = slices.Clone(n.Content)
	for i, child := range n.Content {
		in.Content[i] = q.fields(child)
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "table" && child.Kind == yaml.ScalarNode && child.Value != "" {
			in.Content[i].SetString(string(q) + child.Value)
		}
	}
	return &in
}

// Apply lays the decisions over a plan that [github.com/shardsnow/snow/merge.Inspect] proposes, as a template: it
// decides what they name, and leaves the rest as it is. Their sources, new ids and schema are not looked at, nor is
// what nobody has confirmed. It returns the names that match no table, column or unique key of the plan.
// Decisions that contradict each other are an error, and the plan is of no use then.
func (d *Decisions) Apply(p *Plan) (left []Name, err error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	if d.Dialect != "" && d.Dialect != p.Dialect {
		return nil, &Error{Reason: fmt.Sprintf("the template is for %s, not %s", d.Dialect, p.Dialect)}
	}
	if len(d.Databases) == 0 && len(p.Databases) > 0 {
		return nil, &Error{Reason: fmt.Sprintf("the template is for one database, and the sources have %q: say for which of them, or add databases to it and write them before the names of tables", p.Databases)}
	}
	if len(d.Databases) > 0 && len(p.Databases) == 0 {
		return nil, &Error{Reason: fmt.Sprintf("the template is for the databases %q, and the sources have one", d.Databases)}
	}
	without := *d
	without.Types = nil
	c := &completer{Decisions: &without, Plan: p, claims: map[*Column][]claim{}, suspects: map[*Column][]string{}, asked: map[*Column]*Asked{}, template: true}
	before := keyed(p)
	c.complete(func() { followKeys(p, before) })
	for _, q := range p.Questions {
		q.Columns = slices.DeleteFunc(q.Columns, c.isDecided)
	}
	p.Questions = slices.DeleteFunc(p.Questions, func(q *Question) bool { return len(q.Columns) == 0 })
	return c.left, c.err()
}

// Rebind is [Decisions.Complete] for sources of other names, such as next month's servers: the first source of
// schema takes the place of the first one of the decisions, the second replaces the second, and so on, wherever the
// decisions name sources.
//
// Where there are more sources than the decisions have, or fewer, none of them can take a place. Then the decisions
// must say the same of all their sources: new_ids names all of them or none, and nothing else names any. Decisions
// of which a source keeps its name and comes at another place are refused with an [*Error], because it is not known
// which of both is meant.
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
	p, err := d.Complete(renamed(schema, before))
	if err != nil {
		return nil, err
	}
	return renamed(p, after), nil
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
func renamed(p *Plan, to map[string]string) *Plan {
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
