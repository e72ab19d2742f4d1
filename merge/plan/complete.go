package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Complete returns the plan that follows from the decisions and from schema, which is the plan of the same sources
// without any decision, see [github.com/shardsnow/snow/merge.ReadSchema]. A table or column that is new since the
// decisions were made, or gone, or of another type, is an error, as are names that do not exist and decisions that
// contradict each other: a join of [*Error]. What is open is no error here: [Plan.Check] refuses it.
func (d *Decisions) Complete(schema *Plan) (*Plan, error) {
	if err := d.fits(schema); err != nil {
		return nil, err
	}
	c := &completer{Decisions: d, Plan: clone(schema), claims: map[*Column][]claim{}, suspects: map[*Column][]string{}, asked: map[*Column]*Asked{}}
	c.complete(func() {})
	if err := c.err(); err != nil {
		return nil, err
	}
	return c.Plan, nil
}

// fits returns an error if the decisions are for other sources, or for other tables.
func (d *Decisions) fits(schema *Plan) error {
	if err := d.check(); err != nil {
		return err
	}
	switch {
	case d.Dialect != schema.Dialect:
		return &Error{Reason: fmt.Sprintf("it is for %s, not %s", d.Dialect, schema.Dialect)}
	case !slices.Equal(d.Sources, schema.Sources):
		return &Error{Reason: fmt.Sprintf("its sources are %q, not %q", d.Sources, schema.Sources)}
	case !slices.Equal(d.Databases, schema.Databases):
		return &Error{Reason: fmt.Sprintf("its databases are %q, not %q", d.Databases, schema.Databases)}
	case len(d.Schema) == 0 && len(schema.Tables) > 0:
		return &Error{Reason: "it does not say for which tables it was made: inspect with it as a template"}
	}
	var errs []error
	made := map[string]string{}
	for _, n := range d.Schema {
		at := strings.LastIndexByte(n.Text, '=')
		if at < 0 {
			return n.fault("schema: %q is no table with its digest", n.Text)
		}
		name, digest := n.Text[:at], n.Text[at+1:]
		t := schema.Table(name)
		switch made[name] = digest; {
		case t == nil:
			errs = append(errs, &Error{Table: name, Reason: "is gone since the plan was made"})
		case digestOf(t) != digest:
			errs = append(errs, &Error{Table: name, Reason: "has changed since the plan was made: a column, its type, a key or the sources that have it"})
		}
	}
	for _, t := range schema.Tables {
		if made[t.Name] == "" {
			errs = append(errs, &Error{Table: t.Name, Reason: "is new since the plan was made"})
		}
	}
	if len(errs) > 0 {
		errs = append(errs, &Error{Reason: "the schemas are not those that it was made for: inspect again, with it as a template"})
	}
	return errors.Join(errs...)
}

// complete calls afterRoles when it is known which columns are keys.
func (c *completer) complete(afterRoles func()) {
	c.answered()
	if c.Decisions.Types != nil {
		c.Plan.Types = withExtensions(c.Decisions.Types, c.Plan.Types)
	}
	c.Plan.Accepted = append(c.Plan.Accepted, c.Decisions.Accepted...)
	c.Plan.After = append(c.Plan.After, c.Decisions.After...)
	c.sections()
	for _, q := range c.Decisions.Questions {
		if len(q.Unique) == 0 {
			c.question(q)
		}
	}
	c.settleColumns()
	c.change()
	followReferences(c.Plan)
	c.along()
	afterRoles()
	c.ids()
	c.unique()
	c.change()
	c.types()
}

// sections collects the claims of references, keys and plain.
func (c *completer) sections() {
	claimAll := func(names []Name, s state, keep bool) {
		if c.template {
			s = c.thereOf(s, names)
		}
		for _, n := range names {
			found, exact := c.places(n)
			for _, at := range found {
				if err := s.checkTables(c.Plan, at.table, n); err != nil {
					if c.template {
						c.left = append(c.left, n)
					} else {
						c.failIf(err)
					}
					break
				}
				c.claim(at.column, s, exact, keep, n)
			}
		}
	}
	for _, m := range c.References {
		if c.template && m.Proposed {
			continue // nobody has confirmed it
		}
		s, err := m.state()
		if !c.failIf(err) {
			claimAll(m.Columns, s, c.template)
		}
	}
	claimAll(c.Keys, state{role: RoleKey, decided: true}, false)
	claimAll(c.Plain, state{role: RolePlain, decided: true}, false)
}

// thereOf leaves out the kinds and paths of tables that the sources do not have: a value of such a kind stops a run.
func (c *completer) thereOf(s state, names []Name) state {
	if s.role != RolePolymorphic && s.role != RoleJSON && s.role != RolePacked {
		return s
	}
	var there []*Reference
	for _, r := range s.refers {
		if r.Table == "" || c.Plan.Table(r.Table) != nil {
			there = append(there, r)
		} else {
			c.left = append(c.left, Name{Text: r.Table, Line: names[0].Line})
		}
	}
	if slices.ContainsFunc(there, func(r *Reference) bool { return r.Table != "" }) {
		s.refers = there
	}
	return s
}

// settleColumns gives each column what its claims say, and its suspects.
func (c *completer) settleColumns() {
	for _, t := range c.Plan.Tables {
		for _, column := range t.Columns {
			claims, asked := c.claims[column], c.suspects[column]
			s, err := resolve(column.state(), claims)
			c.failIf(err)
			column.set(s)
			switch {
			case c.template:
			case asked != nil:
				column.Suspects = asked
			case column.Decided:
				column.Suspects = nil
			}
		}
	}
}

// change sets the fields that are changed one by one.
func (c *completer) change() {
	for _, change := range c.Decisions.Tables {
		t := c.Plan.Table(change.Table.Text)
		switch {
		case t != nil:
			was := t.Unique
			c.failIf(change.apply(t, t.Column))
			keepRules(t, was)
		case !c.template:
			c.errs = append(c.errs, change.Table.fault("%q names no table of the sources", change.Table.Text))
		case !slices.Contains(c.left, change.Table):
			c.left = append(c.left, change.Table)
		}
	}
	for _, t := range c.Plan.Tables {
		t.Columns = slices.DeleteFunc(t.Columns, func(column *Column) bool { return slices.Contains(t.Without, column.Name) })
	}
}

// ids sets which rows get new ids, with which time, and which tables are left out.
func (c *completer) ids() {
	for _, n := range c.Skip {
		for _, t := range c.tablesOf(n) {
			t.Skip = true
		}
	}
	if !c.template {
		for _, t := range c.Plan.Tables {
			if t.Key() != nil && !c.changed(t, "new_ids") {
				t.NewIDs = t.having(c.NewIDs)
			}
		}
	}
	c.kinds()
	for _, n := range c.KeepIDs {
		for _, t := range c.tablesOf(n) {
			if !c.changed(t, "new_ids") {
				t.NewIDs = nil
			}
		}
	}
	dated := map[*Table]string{}
	for _, n := range c.Decisions.Created {
		found, _ := c.places(n)
		for _, at := range found {
			if dated[at.table] != "" && dated[at.table] != at.column.Name {
				c.errs = append(c.errs, n.fault("%q: table %q is dated by %q already", n.Text, at.table.Name, dated[at.table]))
			}
			dated[at.table] = at.column.Name
			if !c.changed(at.table, "created") {
				at.table.Created = at.column.Name
			}
			if c.template && at.column.Role == RolePlain && len(at.column.Suspects) > 0 && !c.isDoubted(at.column) {
				at.column.Decided = true
			}
		}
	}
	for _, t := range c.Plan.Tables {
		if t.Created != "" && !c.changed(t, "zone") && c.Zone != "" {
			t.Zone = c.Zone
		}
		if len(t.NewIDs) == 0 {
			t.NewIDs = nil
		}
	}
}

// unique sets the rules of unique keys, after it has added the primary keys in which rows that keep their ids may
// clash.
func (c *completer) unique() {
	for _, t := range c.Plan.Tables {
		if !c.changed(t, "unique") {
			t.addPrimaryKey(c.Plan)
		}
	}
	decided := map[*Unique]Name{}
	keys := func(n Name) []*Unique {
		found, err := c.uniqueKeys(n)
		if err != nil && c.template {
			if _, bad := c.Plan.parse(n, -1); bad == nil {
				c.left = append(c.left, n)
				return nil
			}
		}
		c.failIf(err)
		return found
	}
	for _, clash := range c.Decisions.Unique {
		if c.template && clash.Proposed {
			continue
		}
		for _, n := range clash.Keys {
			for _, u := range keys(n) {
				was := *u
				_, again := decided[u]
				if again && was.Decided && clash.Proposed { // nobody has confirmed it
					continue
				}
				clash.set(u)
				if other, ok := decided[u]; ok && !sameClash(&was, u) && was.Decided == u.Decided {
					c.errs = append(c.errs, n.fault("%q has another rule by %s", n.Text, other))
				}
				decided[u] = n
				if u.Decided && !c.template {
					u.Suspects = nil
				}
			}
		}
	}
	asked := map[*Unique]*Asked{}
	for _, q := range c.Decisions.Questions {
		for _, doubt := range q.Unique {
			for _, u := range keys(doubt.Key) {
				if other := asked[u]; other != nil && (other.Answer.Text != q.Answer.Text || other.Proposed.Text != q.Proposed.Text) {
					c.errs = append(c.errs, doubt.Key.fault("%q is in two questions: one answer would be ignored", doubt.Key.Text))
				}
				asked[u] = q
				if !c.template {
					u.Suspects = doubt.Suspects
				}
				if _, is := decided[u]; !is && q.Answer.Text == AnswerBoth {
					c.failIf(c.both(u, doubt.Key))
					continue
				}
				if _, is := decided[u]; !is && q.Proposed.Text != "" && !(c.template && q.Answer.Text == "") {
					u.Rule = Rule(q.Proposed.Text)
				}
				c.failIf(q.answerOf(u, doubt.Key))
			}
		}
	}
}

// kinds sets what new ids are. A template without ids says nothing of them.
func (c *completer) kinds() {
	for _, t := range c.Plan.Tables {
		if t.Skip || c.template && c.Decisions.IDs == "" {
			continue
		}
		if !c.changed(t, "ids") {
			t.IDs = c.Decisions.IDs
		}
		if t.IDs.AreNumbers() && !c.changed(t, "leave") {
			t.Leave = c.Decisions.Leave
		}
		if t.IDs == IDsOffset && !c.changed(t, "offsets") {
			t.Offsets = t.offsetsOf(c.Decisions.Offsets)
			if c.template { // of other sources
				maps.DeleteFunc(t.Offsets, func(source string, _ int64) bool { return !slices.Contains(c.Plan.Sources, source) })
			}
		}
	}
}
