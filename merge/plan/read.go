package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v4"
)

const guide = `# What a merge does to every column. Read the roles, and decide on each entry of suspects:
# correct the role and what it needs, then set "decided: true" beside it.
#
#   plain        copied as it is
#   key          the ids of the table's rows; sources under "new_ids" get new ones
#   reference    the id of a row of refers' table
#   list         several ids in a text, separated by separator (a comma)
#   json         ids at the paths of refers
#   polymorphic  the id of a row of the table that the column "by" names
#   packed       ids at the paths of refers, in values of a format
#   undecided    must be changed to another one
#
# none: values that stand for no row. orphans: what becomes of ids of rows that do not exist: an error, or null, or drop (the row).
# gone: the same for ids of rows that are left out, by conditions under without_rows of their table or for what they refer to.
# A value that is no id, and not in none, is an error.
# unique.rule: fail, suffix (rename the later one), keep (the first one; the rest is not copied, references to it follow),
# match (keep, and an error where the rows differ), renumber (slots and the like of rows that become one get other numbers).
# A table with "skip: true" is left out, and so is a column that is deleted here and named in the table's "without: [column]".
`

// WriteYAML writes the plan as YAML, below a comment on how to edit it. [Read] reads it back, without any comments.
func (p *Plan) WriteYAML(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString(guide)
	dumper, err := yaml.NewDumper(&b, yaml.WithLineWidth(-1))
	if err == nil {
		err = errors.Join(dumper.Dump(p), dumper.Close())
	}
	if err == nil {
		_, err = w.Write(b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("plan: write: %w", err)
	}
	return nil
}

// WriteJSON writes the plan as indented JSON, which [Read] reads back.
func (p *Plan) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(p); err != nil {
		return fmt.Errorf("plan: write: %w", err)
	}
	return nil
}

// Read reads what [Plan.WriteYAML] or [Plan.WriteJSON] wrote and people edited. A field that a plan does not have is an
// error, since it is probably mistyped. Read does not check the plan, see [Plan.Check].
func Read(r io.Reader) (*Plan, error) {
	data, err := io.ReadAll(r)
	p := &Plan{}
	switch {
	case err != nil:
	case bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")):
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.DisallowUnknownFields()
		if err = decoder.Decode(p); err == nil {
			if _, end := decoder.Token(); end != io.EOF {
				err = errors.New("something follows the plan")
			}
		}
	default:
		var root yaml.Node
		if err = yaml.Load(data, &root); err == nil {
			spellNull(&root)
			err = root.Load(p, yaml.WithKnownFields())
		}
	}
	if err == nil {
		err = checkNil(p)
	}
	if err != nil {
		return nil, fmt.Errorf("plan: read: %w", err)
	}
	followReferences(p) // as Complete does
	return p, nil
}

// spellNull makes a text of the null in "orphans: null" and "gone: null", which people write without quotes.
// Nothing after the colon stays nothing.
func spellNull(n *yaml.Node) {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && (n.Content[i-1].Value == "orphans" || n.Content[i-1].Value == "gone") && child.Kind == yaml.ScalarNode && child.ShortTag() == "!!null" && child.Value != "" {
			child.SetString(string(OrphansNull))
		}
		spellNull(child)
	}
}
