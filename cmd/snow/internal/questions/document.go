package questions

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/shardsnow/snow/merge/plan"
)

// lineWidth is where the file's long lines are broken, as plan writes them.
const lineWidth = 150

// A document is the YAML of a plan. Answers are changed in its nodes, so comments and the rest of it stay.
type document struct {
	root      yaml.Node
	questions *yaml.Node // a sequence, or nil
	decisions *plan.Decisions
}

func parse(data []byte) (*document, error) {
	d := &document{}
	var err error
	if d.decisions, err = plan.ReadDecisions(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	if err := yaml.Load(data, &d.root); err != nil {
		return nil, err
	}
	if d.root.Kind == yaml.DocumentNode && len(d.root.Content) == 1 {
		if _, d.questions = field(d.root.Content[0], "questions"); d.questions != nil && d.questions.Kind == yaml.AliasNode {
			d.questions = d.questions.Alias
		}
	}
	if n := len(d.decisions.Questions); n > 0 && (d.questions == nil || len(d.questions.Content) != n) {
		return nil, errors.New("its questions are no list")
	}
	return d, nil
}

// field returns the place and the value of a key of a mapping, or nil.
func field(mapping *yaml.Node, key string) (int, *yaml.Node) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return i, mapping.Content[i+1]
		}
	}
	return 0, nil
}

// put sets the value of a key of a mapping.
func put(mapping *yaml.Node, key string, value *yaml.Node) {
	at, was := field(mapping, key)
	if was == nil {
		name := &yaml.Node{}
		name.SetString(key)
		mapping.Content = append(mapping.Content, name, value)
		return
	}
	value.LineComment, value.FootComment = was.LineComment, was.FootComment
	mapping.Content[at+1] = value
}

// answer writes an answer beside a question: a word, a table, or the keys of a reference in braces. The empty one
// takes the answer back.
func (d *document) answer(at int, text string) error {
	value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	switch {
	case strings.HasPrefix(text, "{"):
		var parsed yaml.Node
		if err := yaml.Load([]byte(text), &parsed); err != nil {
			return fmt.Errorf("the answer %q: %w", text, err)
		}
		value = parsed.Content[0]
		value.Style |= yaml.FlowStyle
	case text != "":
		value = &yaml.Node{}
		value.SetString(text)
	}
	put(d.questions.Content[at], "answer", value)
	return nil
}

// columns names the columns of a question one by one.
func (d *document) columns(at int, names []string) {
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, name := range names {
		n := &yaml.Node{}
		n.SetString(name)
		list.Content = append(list.Content, n)
	}
	put(d.questions.Content[at], "columns", list)
}

// split adds a question like another one behind it, and returns its place. Names of questions differ.
func (d *document) split(at int) int {
	other := copyOf(d.questions.Content[at])
	other.HeadComment, other.FootComment = "", ""
	if _, name := field(other, "name"); name != nil {
		taken := func(text string) bool {
			return slices.ContainsFunc(d.questions.Content, func(q *yaml.Node) bool {
				_, n := field(q, "name")
				return n != nil && n.Value == text
			})
		}
		base := name.Value
		for i := 2; taken(name.Value); i++ {
			name.SetString(fmt.Sprintf("%s, %d", base, i))
		}
	}
	d.questions.Content = slices.Insert(d.questions.Content, at+1, other)
	return at + 1
}

// keepKeys leaves out the unique keys of a question that are not among some.
func (d *document) keepKeys(at int, keep func(name string) bool) {
	_, unique := field(d.questions.Content[at], "unique")
	var content []*yaml.Node
	for i := 0; i+1 < len(unique.Content); i += 2 {
		if keep(unique.Content[i].Value) {
			content = append(content, unique.Content[i], unique.Content[i+1])
		}
	}
	unique.Content = content
}

// copyOf copies a node with all below it. An alias stays one.
func copyOf(n *yaml.Node) *yaml.Node {
	other := *n
	other.Content = nil
	for _, part := range n.Content {
		other.Content = append(other.Content, copyOf(part))
	}
	other.Anchor = "" // which the first one keeps
	return &other
}

func (d *document) bytes() ([]byte, error) {
	var b bytes.Buffer
	dumper, err := yaml.NewDumper(&b, yaml.WithLineWidth(lineWidth))
	if err == nil {
		err = errors.Join(dumper.Dump(&d.root), dumper.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("write the plan: %w", err)
	}
	return b.Bytes(), nil
}
