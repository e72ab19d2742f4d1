package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Shorten returns the decisions that [Decisions.Complete] turns into the plan p again, with schema, which is the
// plan of the same sources without any decision. Only the notes of tables that Inspect added are left out. A plan
// that differs from the schema in something that nobody can decide, such as a table more, is an [*Error].
func Shorten(p, schema *Plan) (*Decisions, error) {
	s := &shortener{plan: p, schema: schema, d: &Decisions{Version: DecisionsVersion, Dialect: p.Dialect, Sources: p.Sources, Databases: p.Databases, Accepted: p.Accepted, After: p.After}}
	for _, step := range []func() error{s.begin, s.along, s.questions, s.columns, s.ids, s.unique, s.changes, s.verify} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s.d, nil
}

// begin lists the tables, and refuses a plan of others.
func (s *shortener) begin() error {
	if s.plan.Version != s.schema.Version || !slices.Equal(s.plan.Sources, s.schema.Sources) || !slices.Equal(s.plan.Databases, s.schema.Databases) {
		return &Error{Reason: fmt.Sprintf("version %d of sources %q: the schema has version %d of sources %q", s.plan.Version, s.plan.Sources, s.schema.Version, s.schema.Sources)}
	}
	if err := checkNil(s.plan); err != nil {
		return &Error{Reason: err.Error()}
	}
	if !slices.Equal(s.plan.Types, s.schema.Types) {
		s.d.Types = append([]string{}, s.plan.Types...)
	}
	for _, t := range s.schema.Tables {
		s.d.Schema = append(s.d.Schema, Name{Text: t.Name + "=" + digestOf(t)})
		if s.plan.Table(t.Name) == nil {
			return &Error{Table: t.Name, Reason: "the plan does not have it: leave it in, with skip"}
		}
	}
	for i, t := range s.plan.Tables {
		if s.schema.Table(t.Name) == nil || s.plan.Table(t.Name) != s.plan.Tables[i] {
			return &Error{Table: t.Name, Reason: "no source has it, or it is there twice"}
		}
		if t.Skip {
			s.d.Skip = append(s.d.Skip, Name{Text: s.plan.escapeTable(t.Name)})
		}
	}
	return s.complete()
}

// columns writes what columns are, where that does not follow from the schema and the questions.
func (s *shortener) columns() error {
	s.groups(func(at place) (string, any) {
		t := s.made.Table(at.table.Name)
		was, is := t.Column(at.column.Name), at.column.state()
		if was == nil || at.table.Skip || was.state().equal(is) {
			return "", nil
		}
		switch {
		case is.decided && is.equal(state{role: RolePlain, decided: true}):
			return "plain", &s.d.Plain
		case is.decided && is.equal(state{role: RoleKey, decided: true}):
			return "key", &s.d.Keys
		case is.role == RolePlain || is.role == RoleKey || is.meaning() == nil || !s.exists(at):
			return "", nil
		}
		if s.goesAlong(at.column) {
			is.gone = ""
		}
		return fmt.Sprint(is), is.meaning()
	}, func(made any, names []Name) {
		switch into := made.(type) {
		case *[]Name:
			*into = names
		case *Meaning:
			into.Columns = names
			s.d.References = append(s.d.References, into)
		}
	})
	slices.SortStableFunc(s.d.References, func(a, b *Meaning) int { return strings.Compare(a.sortKey(), b.sortKey()) })
	if err := s.complete(); err != nil {
		return err
	}
	return s.roles()
}

// roles writes what columns are, and primary keys, where all of the above can't say it: new ids and unique keys follow.
func (s *shortener) roles() error {
	for _, t := range s.plan.Tables {
		made := s.made.Table(t.Name)
		if t.Skip {
			continue
		}
		like := *made
		like.PrimaryKey, like.Columns = t.PrimaryKey, nil
		for _, c := range made.Columns {
			same := *c
			if is := t.Column(c.Name); is != nil {
				same.set(is.state())
			}
			like.Columns = append(like.Columns, &same)
		}
		change, err := changes(made, &like)
		if err != nil {
			return err
		}
		if change != nil {
			s.change(change)
		}
	}
	return s.complete()
}

// sortKey orders the entries of references: by what they are, then by the table.
func (m *Meaning) sortKey() string {
	switch {
	case m.To != "":
		return "1" + m.To
	case m.List != "":
		return "2" + m.List
	case m.By != "":
		return "3" + m.By
	}
	return "4"
}

// ids writes which rows get new ids, and by which columns they are dated.
func (s *shortener) ids() error {
	s.d.NewIDs = usualNewIDs(s.plan)
	s.d.IDs, s.d.Leave, s.d.Offsets = usualIDs(s.plan)
	for _, t := range s.plan.Tables {
		if !t.Skip && t.Key() != nil && len(t.NewIDs) == 0 && len(t.having(s.d.NewIDs)) > 0 {
			s.d.KeepIDs = append(s.d.KeepIDs, Name{Text: s.plan.escapeTable(t.Name)})
		}
	}
	for _, t := range s.plan.Tables {
		if made := t.having(s.d.NewIDs); !t.Skip && t.Key() != nil && len(t.NewIDs) > 0 && !slices.Equal(made, t.NewIDs) {
			fields, err := difference(&Table{NewIDs: made}, &Table{NewIDs: t.NewIDs})
			if err != nil {
				return err
			}
			fields.Style = yaml.FlowStyle
			s.change(&TableChange{Table: Name{Text: t.Name}, fields: fields})
		}
	}
	zones := map[string]bool{}
	for _, t := range s.plan.Tables {
		if t.Created == "" || t.Skip {
			continue
		}
		zones[t.Zone] = true
		if c := t.Column(t.Created); c != nil {
			s.d.Created = append(s.d.Created, Name{Text: place{t, c}.name(s.plan)})
		}
	}
	for zone := range zones {
		if len(zones) == 1 {
			s.d.Zone = zone
		}
	}
	return s.complete()
}

// unique writes the rules of unique keys.
func (s *shortener) unique() error {
	for _, t := range s.plan.Tables {
		made := s.made.Table(t.Name)
		for _, u := range t.Unique {
			was := first(made.Unique, func(other *Unique) bool { return slices.Equal(other.Columns, u.Columns) })
			if t.Skip || was != nil && sameClash(was, u) || was == nil && !slices.Equal(u.Columns, t.PrimaryKey) || len(u.Columns) == 0 {
				continue
			}
			clash := u.clash()
			at := slices.IndexFunc(s.d.Unique, func(other *Clash) bool {
				same := *other
				same.Keys = nil
				return reflect.DeepEqual(&same, clash)
			})
			if at < 0 {
				at, s.d.Unique = len(s.d.Unique), append(s.d.Unique, clash)
			}
			s.d.Unique[at].Keys = append(s.d.Unique[at].Keys, s.plan.keyName(t, u.Columns))
		}
	}
	return s.complete()
}

// changes writes all that still differs. One change may lead to another: a column that is a key makes new ids.
func (s *shortener) changes() error {
	for more, rounds := true, 0; more && rounds < 4; rounds++ {
		more = false
		for _, t := range s.plan.Tables {
			if t.Skip {
				continue
			}
			change, err := changes(s.made.Table(t.Name), t)
			if err != nil {
				return err
			}
			if change != nil {
				s.change(change)
				more = true
			}
		}
		if err := s.complete(); err != nil {
			return err
		}
	}
	return nil
}

// change adds a change to the changes of the same table.
func (s *shortener) change(change *TableChange) {
	at := slices.IndexFunc(s.d.Tables, func(other TableChange) bool { return other.Table.Text == change.Table.Text })
	if at < 0 {
		s.d.Tables = append(s.d.Tables, *change)
		slices.SortFunc(s.d.Tables, func(a, b TableChange) int { return strings.Compare(a.Table.Text, b.Table.Text) })
		return
	}
	mergeFields(s.d.Tables[at].fields, change.fields)
}

// verify makes sure that nothing was lost.
func (s *shortener) verify() error {
	if !slices.Equal(s.made.Types, s.plan.Types) || !slices.Equal(s.made.Accepted, s.plan.Accepted) || !slices.Equal(s.made.After, s.plan.After) {
		return &Error{Reason: "types, accepted or after can't be shortened"}
	}
	if !reflect.DeepEqual(s.made.Questions, s.plan.Questions) && len(s.made.Questions)+len(s.plan.Questions) > 0 {
		return &Error{Reason: "the questions can't be shortened"}
	}
	for _, t := range s.plan.Tables {
		made := s.made.Table(t.Name)
		if t.Skip {
			continue
		}
		if err := equalTables(made, t); err != nil {
			return err
		}
	}
	return nil
}

// equalTables returns an error that names the first difference between two tables.
func equalTables(made, t *Table) error {
	fields, err := difference(made, t, "notes", "columns")
	switch {
	case err != nil:
		return err
	case len(fields.Content) > 0:
		return &Error{Table: t.Name, Reason: "can't be shortened: " + fields.Content[0].Value}
	case len(made.Columns) != len(t.Columns):
		return &Error{Table: t.Name, Reason: "its columns are not those of the sources: name those that are left out in without"}
	}
	for i, c := range t.Columns {
		fields, err := difference(made.Columns[i], c)
		switch {
		case err != nil:
			return err
		case len(fields.Content) > 0:
			return &Error{Table: t.Name, Column: c.Name, Reason: "can't be shortened: " + fields.Content[0].Value}
		}
	}
	return nil
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
