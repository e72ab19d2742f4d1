package plan

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/jsonpath"
	"github.com/shardsnow/snow/merge/internal/packed"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

// AnyKind is the value of a [Reference] for all values of the column By that no other one has.
const AnyKind = "*"

// The formats of a [Reference] of RolePolymorphic, besides the ones of RolePacked. What is between the ids of a list
// follows a space; nothing means a comma.
const (
	formatList = "list"
	formatJSON = "json"
)

// kinds is the form of a []Kind in a file: a mapping by values.
type kinds []Kind

// A Kind says what the values of a column are where the column By has some value: AnyKind stands for all that no other
// kind has.
type Kind struct {
	Value string
	// a table, plain, or how several ids are in the value: list, json or format
	Is Answer
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
		*k = append(*k, one)
		return err
	})
}

// refers returns the references of a kind.
func (k Kind) refers() ([]*Reference, error) {
	m := k.Is.Meaning
	if m == nil {
		return []*Reference{{Value: k.Value, Table: tableOf(k.Is.Text)}}, nil
	}
	if m.To != "" || m.By != "" || len(m.None) > 0 || m.Orphans != "" || m.Gone != "" || m.Proposed || len(m.Columns) > 0 {
		return nil, fmt.Errorf("kind %q: want a table, plain, list, json or format: all else is said of the column", k.Value)
	}
	s, err := m.state()
	if err != nil {
		return nil, fmt.Errorf("kind %q: %w", k.Value, err)
	}
	format := s.format
	switch s.role {
	case RoleList:
		format = formatList
	case RoleJSON:
		format = formatJSON
	}
	if s.separator != "" {
		format += " " + s.separator
	}
	var refers []*Reference
	for _, r := range s.refers {
		refers = append(refers, &Reference{Value: k.Value, Table: r.Table, Path: r.Path, Format: format})
	}
	return refers, nil
}

// addKind adds a reference to the last kind, if it has the same value, or a new one.
func (k kinds) addKind(r *Reference) kinds {
	table := r.Table
	if table == "" {
		table = AnswerPlain
	}
	if r.Format == "" {
		return append(k, Kind{Value: r.Value, Is: Answer{Text: table}})
	}
	one := (&Column{}).kind(r)
	m := &Meaning{Separator: one.Separator}
	if last := len(k) - 1; last >= 0 && k[last].Value == r.Value && k[last].Is.Meaning != nil {
		m, k = k[last].Is.Meaning, k[:last]
	}
	switch one.Role {
	case RoleList:
		m.List = r.Table
	case RoleJSON:
		m.JSON = append(m.JSON, Pair{r.Path, table})
	default:
		m.Format, m.IDs = one.Format, append(m.IDs, Pair{r.Path, table})
	}
	return append(k, Kind{Value: r.Value, Is: Answer{Meaning: m}})
}

// hasTwice reports whether two kinds have one value.
func (k kinds) hasTwice() bool {
	seen := map[string]bool{}
	for _, one := range k {
		seen[one.Value] = true
	}
	return len(seen) < len(k)
}

// Kind returns what the values of a polymorphic column are where the column By has a value, as a column of its own
// with the references of that kind, and their numbers among all. It is nil if no kind has the value. A reference
// without a table means that values are no ids.
func (c *Column) Kind(value string) (kind *Column, numbers []int) {
	for _, value := range []string{value, AnyKind} {
		for i, r := range c.Refers {
			if r.Value != value {
				continue
			}
			if kind == nil {
				kind = c.kind(r)
			}
			kind.Refers, numbers = append(kind.Refers, r), append(numbers, i)
		}
		if kind != nil {
			break
		}
	}
	return kind, numbers
}

// kind returns the column with the role and the format of a reference, and without references.
func (c *Column) kind(r *Reference) *Column {
	kind := *c
	kind.Refers, kind.By, kind.Role = nil, "", RoleReference
	word, rest, _ := strings.Cut(r.Format, " ")
	switch word {
	case "":
	case formatList:
		kind.Role, kind.Separator = RoleList, rest
	case formatJSON:
		kind.Role = RoleJSON
	case string(packed.Fields):
		kind.Role, kind.Format, kind.Separator = RolePacked, word, rest
	default:
		kind.Role, kind.Format = RolePacked, r.Format
	}
	return &kind
}

// kinds complains of kinds that disagree, and of formats that are none or that the column can't have.
func (c *columnChecker) kinds(s sqltype.Type) {
	c.distinct("value", func(r *Reference) string { return strings.TrimSpace(r.Value + " " + r.Path) })
	for _, r := range c.column.Refers {
		kind, _ := c.column.Kind(r.Value)
		if kind.Refers[0].Format != r.Format {
			c.fault("kind %q has the formats %q and %q", r.Value, kind.Refers[0].Format, r.Format)
		}
		if r.Format == "" {
			continue
		}
		c.faultIf(r.Table == "", "kind %q has a format, so it needs tables", r.Value)
		c.faultIf(c.dialect != sqldialect.SQLite && s.Kind != sqltype.Text && s.Kind != sqltype.Bytes && s.Kind != sqltype.JSON, "kind %q has a format, but type %q is no text", r.Value, c.column.Type)
		if err := checkKind(kind); err != nil {
			c.fault("kind %q: %v", r.Value, err)
		}
		c.faultIf(kind.Role == RolePacked && c.column.BecomesNull() && c.column.NoneID() == "", "orphans become null, but none has no id for no row: a packed value has to have one in their place")
	}
}

// checkKind returns what is wrong with the format of a kind.
func checkKind(kind *Column) error {
	var places []string
	for _, r := range kind.Refers {
		places = append(places, r.Path)
	}
	switch kind.Role {
	case RoleList:
		if len(places) != 1 || places[0] != "" {
			return errors.New("a list refers to one table, without path")
		}
		return nil
	case RoleJSON:
		for _, place := range places {
			if _, err := jsonpath.Parse(place); err != nil {
				return err
			}
		}
		return nil
	}
	format, err := packed.ParseFormat(kind.Format)
	switch {
	case err != nil:
	case format.Number():
		err = fmt.Errorf("its format, %q, is of integers", kind.Format)
	case format.Kind != packed.Hooks:
		_, err = format.New(places, kind.Separator, [2]bool{})
	}
	return err
}
