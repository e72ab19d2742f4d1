package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Decide answers a question of the plan: it gives the question's columns the roles that follow from the answer, see
// [Question.Answer]. Values for no row, and what becomes of orphans, stay as they are.
func (p *Plan) Decide(q *Question, answer string) error {
	return p.decide(q, answer, func(*Column) bool { return true })
}

// decide answers a question for some of its columns.
func (p *Plan) decide(q *Question, answer string, of func(*Column) bool) error {
	var s state
	switch {
	case answer == AnswerEach:
	case answer == AnswerPlain, answer == AnswerKey:
		s = state{role: Role(answer), decided: true}
	case p.Table(answer) != nil:
		s = referenceTo(answer, nil)
		s.decided = true
	default:
		return &Error{Reason: fmt.Sprintf("question %q: the answer %q is no table", q.Name, answer)}
	}
	before := p.keyed()
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			if slices.Contains(q.Columns, place{t, c}.raw()) && of(c) {
				one, err := resolve(c.state(), []claim{{rank: rankPattern, state: s, keep: true, agree: answer == AnswerEach}})
				if err != nil {
					return err
				}
				c.set(one)
			}
		}
	}
	p.followKeys(before)
	p.followReferences()
	q.Answer = answer
	return nil
}

// keyed returns the tables that have a key.
func (p *Plan) keyed() map[*Table]bool {
	keyed := map[*Table]bool{}
	for _, t := range p.Tables {
		keyed[t] = t.Key() != nil
	}
	return keyed
}

// followKeys gives new ids to the rows of tables that have a key now and had none before, as most tables do, and takes
// them from tables that have none any more.
func (p *Plan) followKeys(before map[*Table]bool) {
	usual := p.usualNewIDs()
	for _, t := range p.Tables {
		switch {
		case t.Key() == nil:
			t.NewIDs = nil
		case !before[t]:
			t.NewIDs = t.having(usual)
		}
		t.addPrimaryKey(p)
	}
}

// usualNewIDs returns the sources whose rows get new ids in most of the tables with new ids.
func (p *Plan) usualNewIDs() (usual []string) {
	best := 0
	for _, t := range p.Tables {
		if t.Skip || t.Key() == nil || len(t.NewIDs) == 0 {
			continue
		}
		n := 0
		for _, other := range p.Tables {
			if !other.Skip && other.Key() != nil && slices.Equal(other.NewIDs, other.having(t.NewIDs)) {
				n++
			}
		}
		if n > best {
			best, usual = n, t.NewIDs
		}
	}
	return usual
}

// having returns the sources that have the table.
func (t *Table) having(sources []string) (have []string) {
	for _, source := range sources {
		if t.In(source) {
			have = append(have, source)
		}
	}
	return have
}

// addPrimaryKey adds the primary key to the unique keys, where rows may clash in it: it has no id that is new in
// all sources.
func (t *Table) addPrimaryKey(p *Plan) {
	key := t.Key()
	isNew := key != nil && slices.Contains(t.PrimaryKey, key.Name) && len(t.NewIDs) == len(p.SourcesOf(t))
	has := slices.ContainsFunc(t.Unique, func(u *Unique) bool { return slices.Equal(u.Columns, t.PrimaryKey) })
	if len(t.PrimaryKey) > 0 && !isNew && !has {
		t.Unique = slices.Insert(t.Unique, 0, &Unique{Columns: slices.Clone(t.PrimaryKey), Rule: RuleFail})
	}
}

// AcceptCertain answers the questions that have no answer and a best candidate of at least a certainty, from 0 to 1.
// It returns them, the most certain first, and adds a line about each to Accepted, since nobody has looked at it.
// Columns that are decided by themselves stay as they are.
func (p *Plan) AcceptCertain(certainty float64) ([]*Question, error) {
	var taken []*Question
	for _, q := range p.Questions {
		best := q.Best()
		if q.Answer != "" || p.decided(q) || best == nil || !(best.Certainty >= certainty) {
			continue
		}
		if err := p.decide(q, best.Answer, func(c *Column) bool { return !c.Decided }); err != nil {
			return taken, err
		}
		taken = append(taken, q)
	}
	slices.SortStableFunc(taken, func(a, b *Question) int { return cmp.Compare(b.Best().Certainty, a.Best().Certainty) })
	for _, q := range taken {
		p.Accepted = append(p.Accepted, fmt.Sprintf("%s: %s, certain to %.3g, for %s", q.Name, q.Answer, q.Best().Certainty, several(q.Columns)))
	}
	return taken, nil
}

// several lists the first of some names, and how many more there are.
func several(names []string) string {
	if len(names) > 4 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
	}
	return strings.Join(names, ", ")
}

// Settle leaves out what led to decisions that are made: questions that have an answer, and suspects of what is
// decided. The plan does the same merge afterwards.
func (p *Plan) Settle() {
	p.Questions = slices.DeleteFunc(p.Questions, func(q *Question) bool { return q.Answer != "" || p.decided(q) })
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			if c.Decided {
				c.Suspects = nil
			}
		}
		for _, u := range t.Unique {
			if u.Decided {
				u.Suspects = nil
			}
		}
	}
}

// Apply lays the decisions over a plan that [github.com/shardsnow/snow/merge.Inspect] proposes, as a template: it
// decides what they name, and leaves the rest as it is. Their sources, new ids and schema are not looked at, nor is
// what nobody has confirmed. It returns the names that match no table, column or unique key of the plan.
// Decisions that contradict each other are an error, and the plan is of no use then.
func (d *Decisions) Apply(p *Plan) (left []Name, err error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	if d.Dialect != "" && d.Dialect != p.Dialect {
		return nil, &Error{Reason: fmt.Sprintf("the template is for %s, not %s", d.Dialect, p.Dialect)}
	}
	if len(d.Databases) == 0 && len(p.Databases) > 0 {
		return nil, &Error{Reason: fmt.Sprintf("the template is for one database, and the sources have %q: say for which of them, or add databases to it and write them before the names of tables", p.Databases)}
	}
	if len(d.Databases) > 0 && len(p.Databases) == 0 {
		return nil, &Error{Reason: fmt.Sprintf("the template is for the databases %q, and the sources have one", d.Databases)}
	}
	without := *d
	without.Types = nil
	c := &completer{Decisions: &without, Plan: p, claims: map[*Column][]claim{}, suspects: map[*Column][]string{}, asked: map[*Column]*Asked{}, template: true}
	before := p.keyed()
	c.complete(func() { p.followKeys(before) })
	for _, q := range p.Questions {
		q.Columns = slices.DeleteFunc(q.Columns, c.isDecided)
	}
	p.Questions = slices.DeleteFunc(p.Questions, func(q *Question) bool { return len(q.Columns) == 0 })
	return c.left, c.err()
}
