package plan

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// MarshalYAML writes a mapping by the names of the tables.
func (c tableChanges) MarshalYAML() (any, error) {
	mapping := &yaml.Node{Kind: yaml.MappingNode}
	for _, change := range c {
		mapping.Content = append(mapping.Content, textNode(change.Table.Text), change.fields)
	}
	return mapping, nil
}

// UnmarshalYAML reads a mapping, and refuses fields that tables and columns do not have.
func (c *tableChanges) UnmarshalYAML(node *yaml.Node) error {
	*c = nil
	return eachField(node, "by names", func(key, value *yaml.Node) error {
		change := TableChange{Table: Name{key.Value, key.Line}, fields: value}
		*c = append(*c, change)
		return change.apply(&Table{Name: key.Value}, func(string) *Column { return &Column{} })
	})
}

// eachField calls do with the keys and values of a mapping, in their order. A key that is there twice is an error.
func eachField(node *yaml.Node, want string, do func(key, value *yaml.Node) error) error {
	if node.Kind != yaml.MappingNode {
		return &Error{Line: node.Line, Reason: "want a mapping " + want}
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.Kind != yaml.ScalarNode:
			return &Error{Line: node.Content[i].Line, Reason: "want a text as key of a mapping"}
		case seen[key.Value]:
			return &Error{Line: key.Line, Reason: fmt.Sprintf("%q is there twice", key.Value)}
		}
		seen[key.Value] = true
		if err := do(key, node.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// apply sets fields of a table and of the columns that find returns.
func (c TableChange) apply(t *Table, find func(name string) *Column) error {
	own := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: c.fields.Line}
	err := eachField(c.fields, "by names", func(key, value *yaml.Node) error {
		switch key.Value {
		case "name":
			return &Error{Line: key.Line, Reason: "the name of a table can't be changed"}
		case "columns":
			return eachField(value, "by names", func(key, value *yaml.Node) error {
				column := find(key.Value)
				if column == nil {
					return &Error{Line: key.Line, Reason: fmt.Sprintf("table %q has no column %q", t.Name, key.Value)}
				}
				name := column.Name
				if err := load(value, column); err != nil {
					return err
				}
				if column.Name != name {
					return &Error{Line: value.Line, Reason: "the name of a column can't be changed"}
				}
				return nil
			})
		}
		own.Content = append(own.Content, key, value)
		return nil
	})
	if err != nil {
		return err
	}
	if err := load(own, t); err != nil {
		return err
	}
	if err := checkNil(&Plan{Tables: []*Table{t}}); err != nil {
		return &Error{Line: c.Table.Line, Reason: err.Error()}
	}
	return nil
}

// has reports whether a field of the table is changed.
func (c TableChange) has(field string) (is bool) {
	_ = eachField(c.fields, "by names", func(key, _ *yaml.Node) error {
		is = is || key.Value == field
		return nil
	})
	return is
}

// load sets the fields of into that node has. Lists and mappings that are empty become nil.
func load(node *yaml.Node, into any) error {
	if node.Kind != yaml.MappingNode {
		return &Error{Line: node.Line, Reason: "want a mapping by names"}
	}
	if err := node.Load(into, yaml.WithKnownFields()); err != nil {
		return &Error{Line: node.Line, Reason: err.Error()}
	}
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); (f.Kind() == reflect.Slice || f.Kind() == reflect.Map) && f.Len() == 0 {
			f.SetZero()
		}
	}
	return nil
}

// difference returns the fields of a struct that differ from another one's, as a mapping. Columns and names of
// tables, and what people can't decide, are left out.
func difference(from, to any, without ...string) (*yaml.Node, error) {
	mapping := &yaml.Node{Kind: yaml.MappingNode}
	a, b := reflect.ValueOf(from).Elem(), reflect.ValueOf(to).Elem()
	for i := range a.NumField() {
		tag := a.Type().Field(i).Tag.Get("yaml")
		name, _, _ := strings.Cut(tag, ",")
		if slices.Contains(without, name) || same(a.Field(i), b.Field(i)) {
			continue
		}
		value := &yaml.Node{}
		switch f := b.Field(i); {
		case f.Kind() == reflect.Slice && f.Len() == 0:
			value = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		default:
			if err := value.Dump(f.Interface()); err != nil {
				return nil, err
			}
			if value.Kind == yaml.DocumentNode {
				value = value.Content[0]
			}
			if strings.Contains(tag, ",flow") {
				value.Style |= yaml.FlowStyle
			}
		}
		mapping.Content = append(mapping.Content, textNode(name), value)
	}
	return mapping, nil
}

// same reports whether two fields are equal, as a file has them.
func same(a, b reflect.Value) bool {
	if (a.Kind() == reflect.Slice || a.Kind() == reflect.Map) && a.Len() == 0 && b.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// changes returns what must be changed in the table from to make it the table to, or nil.
func changes(from, to *Table) (*TableChange, error) {
	fields, err := difference(from, to, "name", "columns", "notes")
	if err != nil {
		return nil, err
	}
	columns := &yaml.Node{Kind: yaml.MappingNode}
	for _, c := range to.Columns {
		old := from.Column(c.Name)
		if old == nil {
			return nil, &Error{Table: to.Name, Column: c.Name, Reason: "no source has it"}
		}
		changed, err := difference(old, c, "name")
		if err != nil {
			return nil, err
		}
		if len(changed.Content) > 0 {
			changed.Style = yaml.FlowStyle
			columns.Content = append(columns.Content, textNode(c.Name), changed)
		}
	}
	if len(columns.Content) > 0 {
		fields.Content = append(fields.Content, textNode("columns"), columns)
	}
	switch len(fields.Content) {
	case 0:
		return nil, nil
	case 2:
		if len(columns.Content) <= 2 {
			fields.Style = yaml.FlowStyle
		}
	}
	return &TableChange{Table: Name{Text: to.Name}, fields: fields}, nil
}

// mergeFields adds the fields of a mapping to another one, and replaces the fields that it has.
func mergeFields(into, from *yaml.Node) {
	into.Style = 0
	for i := 0; i+1 < len(from.Content); i += 2 {
		key, value := from.Content[i], from.Content[i+1]
		at := -1
		for k := 0; k+1 < len(into.Content); k += 2 {
			if into.Content[k].Value == key.Value {
				at = k
			}
		}
		switch {
		case at < 0:
			into.Content = append(into.Content, key, value)
		case into.Content[at+1].Kind == yaml.MappingNode && value.Kind == yaml.MappingNode:
			mergeFields(into.Content[at+1], value)
		default:
			into.Content[at+1] = value
		}
	}
}

var integer = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// textNode writes integers as people do: without quotes.
func textNode(text string) *yaml.Node {
	n := &yaml.Node{}
	if n.SetString(text); integer.MatchString(text) {
		n.Tag = "!!int"
	}
	return n
}

// lineOf returns the line of a field, by the keys that lead to it, or 0 if it is not changed.
func (c TableChange) lineOf(keys ...string) (line int) {
	at := c.fields
	for _, key := range keys {
		var next *yaml.Node
		_ = eachField(at, "by names", func(k, value *yaml.Node) error {
			if k.Value == key {
				next, line = value, k.Line
			}
			return nil
		})
		if next == nil {
			return 0
		}
		at = next
	}
	return max(1, line)
}
