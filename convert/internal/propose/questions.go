package propose

import (
	"slices"

	"github.com/shardsnow/snow/convert/plan"
	mergeplan "github.com/shardsnow/snow/merge/plan"
)

// ask makes questions of the columns that may have ids, and that no foreign key declares.
func (p *proposer) ask() {
	for _, t := range p.all {
		for _, c := range p.merge(t.Name).Columns {
			if q := p.question(t, c); q != nil {
				p.plan.Questions = append(p.plan.Questions, q)
			}
		}
	}
	for _, q := range p.plan.Questions { // the plan has them until the answer is leave
		for _, t := range p.all {
			if name, ok := columnOf(q, t); ok {
				p.add(t, name, q.Proposed)
			}
		}
	}
}

func columnOf(q *plan.Question, t *plan.Table) (string, bool) {
	if len(q.Column) > len(t.Name)+1 && q.Column[:len(t.Name)+1] == t.Name+"." {
		return q.Column[len(t.Name)+1:], true
	}
	return "", false
}

func (p *proposer) question(t *plan.Table, c *mergeplan.Column) *plan.Question {
	s := p.schema.Table(t.Name).Column(c.Name)
	if s == nil || s.Generated != "" || plan.Wide(s.Type) == "" || t.Column(c.Name) != nil || c.Name == t.Key {
		return nil
	}
	if slices.ContainsFunc(t.ForeignKeys, func(k *plan.ForeignKey) bool { return slices.Contains(k.Columns, c.Name) }) {
		return nil // of a table whose ids stay small
	}
	name := t.Name + "." + c.Name
	asked := p.asked(name)
	q := &plan.Question{Column: name, Type: s.Type}
	switch c.Role {
	case mergeplan.RoleReference, mergeplan.RolePolymorphic:
		if len(c.Refers) > 0 {
			q.Proposed = c.Refers[0].Table
		}
	case mergeplan.RoleUndecided:
	default:
		return nil
	}
	if asked != nil {
		q.Evidence = asked.Evidence
		for _, candidate := range asked.Candidates {
			if candidate.Answer == q.Proposed || candidate.Answer == mergeplan.AnswerEach {
				q.Certainty = candidate.Certainty
				break
			}
		}
	}
	if parent := p.table(q.Proposed); parent != nil && parent.Key == "" {
		return nil
	}
	return q
}

// asked returns merge's question about a column, or nil.
func (p *proposer) asked(column string) *mergeplan.Question {
	for _, q := range p.found.Questions {
		if slices.Contains(q.Columns, column) {
			return q
		}
	}
	return nil
}
