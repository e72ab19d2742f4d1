package plan

import (
	"cmp"
	"fmt"
	"slices"
)

// Decide answers a question of the plan: it gives the question's columns the roles that follow from the answer, see
// [Question.Answer]. Values for no row, and what becomes of orphans, stay as they are.
func (p *Plan) Decide(q *Question, answer string) error {
	return decide(p, q, answer, func(*Column) bool { return true })
}

// decide answers a question for some of its columns.
func decide(p *Plan, q *Question, answer string, of func(*Column) bool) error {
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
	before := keyed(p)
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
	followKeys(p, before)
	followReferences(p)
	q.Answer = answer
	return nil
}

// AcceptCertain answers the questions that have no answer and a best candidate of at least a certainty, from 0 to 1.
// It returns them, the most certain first, and adds a line about each to Accepted, since nobody has looked at it.
// Columns that are decided by themselves stay as they are.
func (p *Plan) AcceptCertain(certainty float64) ([]*Question, error) {
	var taken []*Question
	for _, q := range p.Questions {
		best := q.Best()
		if q.Answer != "" || isDecided(p, q) || best == nil || !(best.Certainty >= certainty) {
			continue
		}
		if err := decide(p, q, best.Answer, func(c *Column) bool { return !c.Decided }); err != nil {
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

// Settle leaves out what led to decisions that are made: questions that have an answer, and suspects of what is
// decided. The plan does the same merge afterwards.
func (p *Plan) Settle() {
	p.Questions = slices.DeleteFunc(p.Questions, func(q *Question) bool { return q.Answer != "" || isDecided(p, q) })
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
