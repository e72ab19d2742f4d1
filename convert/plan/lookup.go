package plan

import (
	"slices"
	"strings"
)

// Table returns the table of a name, or nil.
func (p *Plan) Table(name string) *Table {
	for _, t := range p.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// InGroup returns the tables of a group, in the order of the plan.
func (p *Plan) InGroup(group int) (tables []*Table) {
	for _, t := range p.Tables {
		if t.Group == group {
			tables = append(tables, t)
		}
	}
	return tables
}

// Column returns the column of a name that becomes wider, or nil.
func (t *Table) Column(name string) *Column {
	for _, c := range t.Columns {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// split returns the table and the column of a name. The table's may have dots of its own.
func (p *Plan) split(name string) (t *Table, column string) {
	for i := range name {
		if name[i] == '.' {
			if t := p.Table(name[:i]); t != nil {
				return t, name[i+1:]
			}
		}
	}
	return nil, ""
}

// question returns the question about a column, or nil.
func (p *Plan) question(table, column string) *Question {
	at := slices.IndexFunc(p.Questions, func(q *Question) bool { return q.Column == table+"."+column })
	if at < 0 {
		return nil
	}
	return p.Questions[at]
}

// Wide returns the type that a column of a type gets, or "" if it is no integer of less than 64 bits: bigint, or
// bigint unsigned. A column of zerofill keeps its width, and with it its zeros.
func Wide(typ string) string {
	name, rest, _ := strings.Cut(strings.ToLower(strings.TrimSpace(typ)), " ")
	name, width, _ := strings.Cut(name, "(") // int(11)
	switch name {
	case "tinyint", "smallint", "mediumint", "int", "integer", "int2", "int4":
		if strings.HasSuffix(rest, "zerofill") && width != "" {
			return "bigint(" + width + " " + rest
		}
		return strings.TrimSpace("bigint " + rest)
	}
	return ""
}

// IsWide reports whether a type is an integer of 64 bits.
func IsWide(typ string) bool {
	name, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(typ)), " ")
	name, _, _ = strings.Cut(name, "(")
	return name == "bigint" || name == "int8"
}
