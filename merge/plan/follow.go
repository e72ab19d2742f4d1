package plan

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// followReferences replaces references to tables whose primary key is itself a reference: the ids are of the rows that
// this leads to.
func (p *Plan) followReferences() {
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			for i, r := range c.Refers {
				if to := p.rowsOf(r.Table); to != r.Table && c.HoldsReferences() {
					followed := *r
					followed.Table = to
					c.Refers = append([]*Reference(nil), c.Refers...) // other columns may have the same
					c.Refers[i] = &followed
				}
			}
		}
	}
}

// rowsOf returns the table whose rows have the ids in the primary key of a table. It is the table itself where that is
// its own key, is not decided, or leads in a circle.
func (p *Plan) rowsOf(table string) string {
	for at, steps := table, 0; steps <= len(p.Tables); steps++ {
		t := p.Table(at)
		if t == nil || t.Key() != nil || len(t.PrimaryKey) != 1 {
			return at
		}
		c := t.Column(t.PrimaryKey[0])
		if c == nil || c.Role != RoleReference || !c.Decided || len(c.Refers) != 1 {
			return at
		}
		at = c.Refers[0].Table
	}
	return table
}

// types complains of types that the file gives to columns and the target does not get, for what their roles say.
func (c *completer) types() {
	if c.template {
		return
	}
	for _, change := range c.Decisions.Tables {
		t := c.Plan.Table(change.Table.Text)
		if t == nil {
			continue
		}
		for _, column := range t.Columns {
			line := change.lineOf("columns", column.Name, "type")
			if typ := c.Plan.TargetType(t, column); line > 0 && !sameType(typ, column.Type) {
				c.errs = append(c.errs, &Error{Line: line, Table: t.Name, Column: column.Name, Reason: fmt.Sprintf("type %q: the target's column is %q, for its role is %s", column.Type, typ, column.Role)})
			}
		}
	}
}

// sameType compares types without the width that some servers write behind integers.
func sameType(a, b string) bool {
	return strings.EqualFold(displayWidth.ReplaceAllString(a, "$1"), displayWidth.ReplaceAllString(b, "$1"))
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
