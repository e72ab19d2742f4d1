package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

const decisionsGuide = `# What a merge of these databases has to know. All the rest follows from the schemas of the sources: inspect -full shows it.
# Write an answer beside each question: a table (the values are ids of its rows), plain (no ids), key (ids of the table's own
# rows), yes (as proposed; else as the best candidate); beside a question on unique keys: suffix, keep, match, renumber, fail, both or yes.
# Where a column or key differs from the others of its question, write it under references, keys, plain or unique: that counts.
# Each key of this file is explained in docs/plan.md.
# yaml-language-server: $schema=https://raw.githubusercontent.com/shardsnow/snow/main/docs/plan.schema.json
`

// lineWidth is where long lines are broken: after it, so that they are a little longer.
const lineWidth = 150

// WriteYAML writes the decisions as YAML, below a comment on how to answer. [ReadDecisions] reads them back,
// without any comments.
func (d *Decisions) WriteYAML(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString(decisionsGuide)
	var root yaml.Node
	err := root.Dump(d)
	if err == nil {
		shortenEntries(&root)
		var dumper *yaml.Dumper
		if dumper, err = yaml.NewDumper(&b, yaml.WithLineWidth(lineWidth)); err == nil {
			err = errors.Join(dumper.Dump(&root), dumper.Close())
		}
	}
	if err == nil {
		_, err = w.Write(b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("plan: write: %w", err)
	}
	return nil
}

// shortenEntries puts entries of references and unique on one line if they fit, and so with what is said of questions.
func shortenEntries(n *yaml.Node) {
	if n.Kind == yaml.DocumentNode {
		n = n.Content[0]
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch key, value := n.Content[i].Value, n.Content[i+1]; key {
		case "references", "unique", "along":
			for _, entry := range value.Content {
				inLine(entry)
			}
		case "questions":
			for _, q := range value.Content {
				shortenEntries(q)
			}
		case "evidence", "suspects":
			if len(value.Content) == 1 {
				inLine(value)
			}
		}
	}
}

func inLine(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode && width(n) <= lineWidth {
		n.Style |= yaml.FlowStyle
	}
}

// width is about how long a value is on one line.
func width(n *yaml.Node) int {
	long := len(n.Value) + 2
	for _, part := range n.Content {
		long += width(part)
	}
	return long
}

// ReadDecisions reads what [Decisions.WriteYAML] wrote and people edited, or what they wrote themselves. A key that the
// file should not have is an error. Whether the tables and columns exist is found out by [Decisions.Complete].
func ReadDecisions(r io.Reader) (*Decisions, error) {
	d := &Decisions{}
	data, err := io.ReadAll(r)
	if err == nil {
		var root yaml.Node
		if err = yaml.Load(data, &root); err == nil {
			spellNull(&root)
			err = root.Load(d, yaml.WithKnownFields())
		}
	}
	if err == nil {
		err = d.check()
	}
	var at *Error
	switch {
	case err == nil:
		return d, nil
	case errors.As(err, &at):
		return nil, at
	}
	return nil, fmt.Errorf("plan: read: %w", err)
}

// VersionOf returns the version that a file says it has, or 0: DecisionsVersion for [ReadDecisions], 1 for [Read].
func VersionOf(data []byte) int {
	var file struct{ Version int }
	if yaml.Load(data, &file) != nil {
		return 0
	}
	return file.Version
}

// check refuses another version and empty entries of lists.
func (d *Decisions) check() error {
	if d.Version != DecisionsVersion {
		return &Error{Reason: fmt.Sprintf("version %d: want %d", d.Version, DecisionsVersion)}
	}
	for _, m := range d.References {
		if m == nil {
			return &Error{Reason: "an entry of references is empty"}
		}
		if len(m.Columns) == 0 {
			return &Error{Reason: "an entry of references has no columns"}
		}
		if _, err := m.state(); err != nil {
			return m.Columns[0].fault("%v", err)
		}
	}
	if slices.Contains(d.Along, nil) {
		return &Error{Reason: "an entry of along is empty"}
	}
	for _, c := range d.Unique {
		if c == nil || len(c.Keys) == 0 {
			return &Error{Reason: "an entry of unique has no keys"}
		}
	}
	for _, q := range d.Questions {
		if q == nil || (len(q.Columns) == 0) == (len(q.Unique) == 0) {
			return &Error{Reason: "an entry of questions has neither columns nor a unique key, or both"}
		}
		if len(q.Unique) > 0 && len(q.Suspects) > 0 {
			return q.Unique[0].Key.fault("suspects of unique keys are beside their names")
		}
		if err := (&Question{Candidates: q.Candidates}).checkNil(); err != nil {
			return err
		}
		if f := q.Proposed.Fields; f != nil {
			return &Error{Line: q.Proposed.line, Reason: "proposed has the keys of a reference, and no other fields"}
		}
		for _, a := range []Answer{q.Proposed, q.Answer} {
			if err := a.check(len(q.Unique) > 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// check refuses parts that do not fit together.
func (a Answer) check(ofKey bool) error {
	switch {
	case a.Fields != nil:
		return a.Fields.check(ofKey)
	case a.Meaning == nil:
		return nil
	}
	_, err := a.Meaning.state()
	switch {
	case err != nil:
	case ofKey:
		err = errors.New("want a rule")
	case len(a.Meaning.Columns) > 0 || a.Meaning.Proposed:
		err = errors.New("columns and proposed are not for answers")
	default:
		return nil
	}
	return &Error{Line: a.line, Reason: err.Error()}
}

// scalar returns the text of a value that is no list or mapping. Null is an error.
func scalar(n *yaml.Node) (text string, err error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case n.Kind != yaml.ScalarNode:
		return "", &Error{Line: n.Line, Reason: "want a text, not a list or a mapping"}
	case n.ShortTag() == "!!null":
		return "", &Error{Line: n.Line, Reason: "a value is empty: write it in quotes"}
	case n.ShortTag() == "!!binary":
		err = n.Load(&text)
		return text, err
	}
	return n.Value, nil
}

// MarshalYAML writes the name without the line.
func (n Name) MarshalYAML() (any, error) { return n.Text, nil }

// UnmarshalYAML reads a name, and keeps the line.
func (n *Name) UnmarshalYAML(node *yaml.Node) (err error) {
	n.Line = node.Line
	n.Text, err = scalar(node)
	return err
}

// MarshalYAML writes integers without quotes.
func (v values) MarshalYAML() (any, error) {
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, text := range v {
		list.Content = append(list.Content, textNode(text))
	}
	return list, nil
}

// UnmarshalYAML reads a list of values of any type as texts.
func (v *values) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.SequenceNode {
		return &Error{Line: node.Line, Reason: "want a list of values, such as [0]"}
	}
	*v = nil
	for _, n := range node.Content {
		text, err := scalar(n)
		if err != nil {
			return err
		}
		*v = append(*v, text)
	}
	return nil
}

// MarshalYAML writes a mapping of a key to its only suspect, or to all of them.
func (d doubts) MarshalYAML() (any, error) {
	mapping := &yaml.Node{Kind: yaml.MappingNode}
	for _, one := range d {
		suspects := &yaml.Node{Kind: yaml.SequenceNode}
		for _, text := range one.Suspects {
			n := &yaml.Node{}
			n.SetString(text)
			suspects.Content = append(suspects.Content, n)
		}
		if len(one.Suspects) == 1 {
			suspects = suspects.Content[0]
		}
		mapping.Content = append(mapping.Content, textNode(one.Key.Text), suspects)
	}
	return mapping, nil
}

// UnmarshalYAML reads a mapping, and keeps the order and the lines.
func (d *doubts) UnmarshalYAML(node *yaml.Node) error {
	*d = nil
	return eachField(node, "of unique keys, such as {players.name: 3 clashes}", func(key, value *yaml.Node) error {
		var one Doubt
		if err := one.Key.UnmarshalYAML(key); err != nil {
			return err
		}
		texts := []*yaml.Node{value}
		switch {
		case value.Kind == yaml.SequenceNode:
			texts = value.Content
		case value.ShortTag() == "!!null":
			texts = nil
		}
		for _, n := range texts {
			text, err := scalar(n)
			if err != nil {
				return err
			}
			one.Suspects = append(one.Suspects, text)
		}
		*d = append(*d, one)
		return nil
	})
}

// MarshalYAML writes a mapping.
func (p pairs) MarshalYAML() (any, error) {
	mapping := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for _, pair := range p {
		mapping.Content = append(mapping.Content, textNode(pair.Key), textNode(pair.Value))
	}
	return mapping, nil
}

// UnmarshalYAML reads a mapping, and keeps its order.
func (p *pairs) UnmarshalYAML(node *yaml.Node) error {
	*p = nil
	return eachField(node, "of tables, such as {player: players}", func(key, value *yaml.Node) error {
		var pair Pair
		var err error
		if pair.Key, err = scalar(key); err != nil {
			return err
		}
		pair.Value, err = scalar(value)
		*p = append(*p, pair)
		return err
	})
}

// MarshalYAML writes nothing after the colon where there is no answer.
func (a Answer) MarshalYAML() (any, error) {
	switch {
	case a.Fields != nil:
		n := *a.Fields.node
		n.Style |= yaml.FlowStyle
		return &n, nil
	case a.Meaning != nil:
		var n yaml.Node
		if err := n.Dump(a.Meaning); err != nil {
			return nil, err
		}
		if n.Kind == yaml.DocumentNode {
			n = *n.Content[0]
		}
		n.Style = yaml.FlowStyle
		return &n, nil
	case a.Text == "":
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}, nil
	}
	return a.Text, nil
}

// UnmarshalYAML reads a text, the keys of a Meaning, or fields.
func (a *Answer) UnmarshalYAML(node *yaml.Node) (err error) {
	a.line = node.Line
	switch {
	case node.Kind == yaml.MappingNode && isFields(node):
		a.Fields = &Fields{node}
		return nil
	case node.Kind == yaml.MappingNode:
		a.Meaning = &Meaning{}
		return node.Load(a.Meaning, yaml.WithKnownFields())
	case node.ShortTag() == "!!null":
		return nil
	}
	a.Text, err = scalar(node)
	a.Text = strings.TrimSpace(a.Text)
	return err
}

// MarshalYAML writes a mapping.
func (k kinds) MarshalYAML() (any, error) {
	mapping := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for _, one := range k {
		value := textNode(one.Is.Text)
		if one.Is.Meaning != nil {
			is, err := one.Is.MarshalYAML()
			if err != nil {
				return nil, err
			}
			value = is.(*yaml.Node) //nolint:forcetypeassert // of a Meaning it is one
		}
		mapping.Content = append(mapping.Content, textNode(one.Value), value)
	}
	return mapping, nil
}

// UnmarshalYAML reads a mapping, and keeps its order.
func (k *kinds) UnmarshalYAML(node *yaml.Node) error {
	*k = nil
	return eachField(node, "of tables by values, such as {player: players}", func(key, value *yaml.Node) error {
		var one Kind
		var err error
		if one.Value, err = scalar(key); err != nil {
			return err
		}
		if value.Kind != yaml.MappingNode {
			one.Is.Text, err = scalar(value)
		} else {
			err = one.Is.UnmarshalYAML(value)
		}
		if one.Is.Fields != nil {
			return &Error{Line: value.Line, Reason: fmt.Sprintf("kind %q: want a table, plain, list, json or format", one.Value)}
		}
		*k = append(*k, one)
		return err
	})
}
