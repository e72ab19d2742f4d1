package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A completer lays decisions over a plan.
type completer struct {
	*Decisions
	*Plan
	claims   map[*Column][]claim
	suspects map[*Column][]string // by the questions of the file
	asked    map[*Column]*Asked   // the question that says what it is
	template bool                 // names that do not exist are left out, and what is not decided stays
	left     []Name               // which they are
	errs     []error
}

func (c *completer) err() error { return errors.Join(c.errs...) }

func (c *completer) failIf(err error) bool {
	if err != nil {
		c.errs = append(c.errs, err)
	}
	return err != nil
}

// places returns the columns of a name. It is an error if there are none, except in a template.
func (c *completer) places(n Name) (found []place, exact bool) {
	found, exact, err := c.columns(n)
	if err != nil && c.template {
		if _, bad := c.Plan.parse(n, 1); bad == nil {
			c.left = append(c.left, n)
			return nil, exact
		}
	}
	c.failIf(err)
	return found, exact
}

func (c *completer) tablesOf(n Name) []*Table {
	found, err := c.tables(n)
	if err != nil && c.template {
		if _, bad := c.Plan.parse(n, 0); bad == nil {
			c.left = append(c.left, n)
			return nil
		}
	}
	c.failIf(err)
	return found
}

func (c *completer) claim(column *Column, s state, exact, keep bool, at Name) {
	rank := rankProposedPattern
	if s.decided {
		rank = rankPattern
	}
	if exact {
		rank++
	}
	c.claims[column] = append(c.claims[column], claim{rank: rank, state: s, keep: keep, at: at})
}

func (c *completer) changed(t *Table, field string) bool {
	return slices.ContainsFunc(c.Decisions.Tables, func(change TableChange) bool { return change.Table.Text == t.Name && change.has(field) })
}

// isDecided reports whether a claim decides a column, as questions have it.
func (c *completer) isDecided(raw string) bool {
	for _, t := range c.Plan.Tables {
		for _, column := range t.Columns {
			if (place{t, column}).raw() == raw {
				return slices.ContainsFunc(c.claims[column], func(one claim) bool { return one.rank >= rankAnswer })
			}
		}
	}
	return false
}

// goneAlong returns what becomes of a reference in a column when the row goes whose rows take others along.
func (c *Column) goneAlong() Orphans {
	switch c.Role {
	case RoleReference, RolePolymorphic:
		return OrphansDrop
	case RoleList, RoleJSON:
		return OrphansNull
	}
	return ""
}

// refersTo reports whether ids in the column are of a table.
func (c *Column) refersTo(table string) bool {
	return c.HoldsReferences() && slices.ContainsFunc(c.Refers, func(r *Reference) bool { return r.Table == table })
}

// along sets Gone of the columns that refer to rows which take others along, where nothing says what it is.
func (c *completer) along() {
	for _, a := range c.Along {
		if c.Plan.Table(a.Table) == nil {
			at := Name{Text: a.Table}
			if c.template {
				c.left = append(c.left, at)
			} else {
				c.errs = append(c.errs, at.fault("along: %q names no table of the sources", a.Table))
			}
			continue
		}
		but := map[*Column]bool{}
		for _, n := range a.Except {
			found, _ := c.places(n)
			for _, at := range found {
				but[at.column] = true
			}
		}
		for _, t := range c.Plan.Tables {
			for _, column := range t.Columns {
				if column.refersTo(a.Table) && !but[column] && column.Gone == "" && column.Orphans != OrphansDrop {
					column.Gone = column.goneAlong()
				}
			}
		}
	}
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
