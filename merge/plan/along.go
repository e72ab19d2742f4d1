package plan

import "slices"

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

// fewestAlong is how many columns must refer to a table for an entry of along to take the place of gone in each.
const fewestAlong = 3

// along writes which tables take others along: all columns that refer to them say so, but for a few.
func (s *shortener) along() error {
	for _, of := range s.plan.Tables {
		if of.Skip {
			continue
		}
		entry, n := &Along{Table: of.Name}, 0
		for _, t := range s.plan.Tables {
			for _, c := range t.Columns {
				switch {
				case t.Skip || !c.refersTo(of.Name) || c.goneAlong() == "" || c.Orphans == OrphansDrop:
				case c.Gone == c.goneAlong():
					n++
				case c.Gone == "":
					entry.Except = append(entry.Except, Name{Text: place{t, c}.name(s.plan)})
				}
			}
		}
		if n >= fewestAlong && n >= 3*len(entry.Except) {
			s.d.Along = append(s.d.Along, entry)
		}
	}
	return nil
}

// goesAlong reports whether an entry of along says what becomes of a column's references to rows that are left out.
func (s *shortener) goesAlong(c *Column) bool {
	return c.Gone != "" && c.Gone == c.goneAlong() && c.Orphans != OrphansDrop &&
		slices.ContainsFunc(s.d.Along, func(a *Along) bool { return c.refersTo(a.Table) })
}
