package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v4"
)

// Version is the version of a plan that this package writes and reads.
const Version = 1

// lineWidth is where long lines are broken: after it, so that they are a little longer.
const lineWidth = 150

// WriteYAML writes the plan as YAML, below a comment on how to edit it. [Read] reads it back, without any comments.
func (p *Plan) WriteYAML(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString(guide)
	dumper, err := yaml.NewDumper(&b, yaml.WithLineWidth(lineWidth))
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

// Read reads what [Plan.WriteYAML] wrote and people edited, and calls [Plan.Resolve]. A field that a plan does not have
// is an error, since it is probably mistyped. Read does not check the plan, see [Plan.Check].
func Read(r io.Reader) (*Plan, error) {
	p := &Plan{}
	data, err := io.ReadAll(r)
	if err == nil {
		err = yaml.Load(data, p, yaml.WithKnownFields())
	}
	if err == nil {
		err = p.checkNil()
	}
	if err != nil {
		return nil, fmt.Errorf("plan: read: %w", err)
	}
	p.Resolve()
	return p, nil
}

// checkNil refuses empty entries of lists, so that no other code meets them.
func (p *Plan) checkNil() error {
	switch {
	case slices.Contains(p.Tables, nil):
		return errors.New("an entry of tables is empty")
	case slices.Contains(p.Questions, nil):
		return errors.New("an entry of questions is empty")
	case slices.Contains(p.Steps, nil):
		return errors.New("an entry of steps is empty")
	}
	for _, t := range p.Tables {
		switch {
		case slices.Contains(t.Columns, nil):
			return fmt.Errorf("table %q: an entry of columns is empty", t.Name)
		case slices.Contains(t.ForeignKeys, nil):
			return fmt.Errorf("table %q: an entry of foreign_keys is empty", t.Name)
		}
	}
	return nil
}
