package plan

import (
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
	in.References, in.Unique, in.Questions, in.Tables = nil, nil, nil, nil
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
	in.To, in.List, in.JSON, in.Kinds, in.IDs, in.Columns = q.table(m.To), q.table(m.List), q.pairs(m.JSON), q.kinds(m.Kinds), q.pairs(m.IDs), q.names(m.Columns)
	return &in
}

func (q qualifier) question(asked *Asked) *Asked {
	in := *asked
	in.Columns, in.Candidates = q.names(asked.Columns), nil
	answer := func(a Answer) Answer {
		return Answer{Text: q.table(a.Text), Meaning: q.meaning(a.Meaning), line: a.line}
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
