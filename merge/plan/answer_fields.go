package plan

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"
)

// Fields are an answer in braces that says something else than what values are. About columns it has fields of their
// tables and of the columns, such as {new_ids: []}; see [Table] and [Column]. It may have rule, of the unique key that is
// the column, and types. About unique keys it has the fields of a [Clash]. It counts more than tables of the file.
type Fields struct{ node *yaml.Node }

// What fields an answer may have.
var (
	fieldsOfTable  = []string{"new_ids", "created", "zone", "without_rows", "empty", "skip", "without", "primary_key"}
	fieldsOfColumn = []string{"type", "nullable", "default", "collation", "generated", "options"}
	fieldsOfPlan   = []string{"rule", "types"}
	fieldsOfClash  = []string{"rule", "rename", "suffix", "prefer", "template", "pattern", "winner", "both", "set", "least", "most"}
)

// isFields reports whether the first key of a mapping is a field, and not a key of a Meaning.
func isFields(node *yaml.Node) bool {
	if len(node.Content) == 0 {
		return false
	}
	first := node.Content[0].Value
	for _, names := range [][]string{fieldsOfTable, fieldsOfColumn, fieldsOfPlan, fieldsOfClash} {
		if slices.Contains(names, first) {
			return true
		}
	}
	return false
}

// check refuses fields that an answer can't have, and values that they can't have.
func (f *Fields) check(ofKey bool) error {
	if ofKey {
		_, err := f.clash()
		return err
	}
	_, _, _, err := f.apart("column")
	return err
}

// clash returns what is said of unique keys.
func (f *Fields) clash() (*Clash, error) {
	clash := &Clash{}
	err := eachField(f.node, "of fields", func(key, _ *yaml.Node) error {
		if !slices.Contains(fieldsOfClash, key.Value) {
			return &Error{Line: key.Line, Reason: fmt.Sprintf("%q is no field of an answer about unique keys", key.Value)}
		}
		return nil
	})
	if err == nil {
		err = load(f.node, clash)
	}
	if err == nil && clash.Rule == "" {
		err = &Error{Line: f.node.Line, Reason: "want a rule"}
	}
	return clash, err
}

// apart returns what is said of a column and its table, as an entry of tables has it, of the column's unique key, and of the
// plan.
func (f *Fields) apart(column string) (fields *yaml.Node, rule Rule, types []string, err error) {
	fields = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: f.node.Line}
	own := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: f.node.Line}
	err = eachField(f.node, "of fields", func(key, value *yaml.Node) error {
		switch {
		case slices.Contains(fieldsOfTable, key.Value):
			fields.Content = append(fields.Content, key, value)
		case slices.Contains(fieldsOfColumn, key.Value):
			own.Content = append(own.Content, key, value)
		case key.Value == "rule":
			return value.Load(&rule)
		case key.Value == "types":
			return value.Load(&types)
		default:
			return &Error{Line: key.Line, Reason: fmt.Sprintf("%q is no field of an answer about columns", key.Value)}
		}
		return nil
	})
	if err != nil {
		return nil, "", nil, err
	}
	if rule != "" && !slices.Contains([]Rule{RuleKeep, RuleMatch, RuleFail}, rule) {
		return nil, "", nil, &Error{Line: f.node.Line, Reason: fmt.Sprintf("rule %q: want keep, match or fail", rule)}
	}
	if len(own.Content) > 0 {
		fields.Content = append(fields.Content, textNode("columns"), &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: f.node.Line, Content: []*yaml.Node{textNode(column), own}})
	}
	change := TableChange{fields: fields}
	return fields, rule, types, change.apply(&Table{}, func(string) *Column { return &Column{} })
}

// answered adds what answers say by fields to the decisions, as if the sections of the file said it.
func (c *completer) answered() {
	with := *c.Decisions
	with.Tables, with.Unique = slices.Clone(with.Tables), slices.Clone(with.Unique)
	said := map[string]string{} // values by tables, columns and fields
	for _, q := range c.Decisions.Questions {
		f := q.Answer.Fields
		switch {
		case f == nil:
			continue
		case len(q.Unique) > 0:
			clash, err := f.clash()
			for _, doubt := range q.Unique {
				clash.Keys = append(clash.Keys, Name{Text: doubt.Key.Text, Line: q.Answer.line})
			}
			with.Unique = append(with.Unique, clash)
			c.failIf(err)
			continue
		}
		for _, n := range q.Columns {
			found, _, _ := c.columns(n) // question tells what is wrong with it
			for _, at := range found {
				fields, rule, types, err := f.apart(at.column.Name)
				if c.failIf(err) {
					return
				}
				c.contradictions(q, at.table.Name, fields, said)
				with.Tables = append(with.Tables, TableChange{Table: Name{Text: at.table.Name, Line: q.Answer.line}, fields: fields})
				if rule != "" {
					key := c.Plan.keyName(at.table, []string{at.column.Name})
					with.Unique = append(with.Unique, &Clash{Rule: rule, Keys: []Name{{Text: key.Text, Line: q.Answer.line}}})
				}
				if types != nil && !c.template {
					with.Types = types
				}
			}
		}
	}
	c.Decisions = &with
}

// contradictions complains of two answers that say different things of a field.
func (c *completer) contradictions(q *Asked, of string, fields *yaml.Node, said map[string]string) {
	_ = eachField(fields, "of fields", func(key, value *yaml.Node) error {
		if key.Value == "columns" || value.Kind == yaml.MappingNode {
			c.contradictions(q, of+" "+key.Value, value, said)
			return nil
		}
		text, err := yaml.Dump(value)
		name := of + " " + key.Value
		if before, ok := said[name]; ok && (err != nil || before != string(text)) {
			c.errs = append(c.errs, &Error{Line: q.Answer.line, Reason: fmt.Sprintf("%s of table %q has another value by another answer", key.Value, of)})
		}
		said[name] = string(text)
		return nil
	})
}
