package plan

import "slices"

// question collects the claims of a question about columns, and adds it to the plan.
func (c *completer) question(q *Asked) {
	var asked []place
	for _, n := range q.Columns {
		found, _ := c.places(n)
		asked = append(asked, found...)
		for _, at := range found {
			c.askedOf(q, n, at)
		}
	}
	if len(q.Suspects) > 0 || c.template {
		return
	}
	if at, ok := c.overruled(q, asked); ok {
		c.errs = append(c.errs, Name{Text: q.Answer.Text, Line: q.Answer.line}.fault(
			"question %q: the answer %q counts for none of its columns, which are in patterns such as %s", q.Name, q.Answer.Text, at))
	}
	made := &Question{
		Name: q.Name, Text: q.Text, Candidates: q.Candidates, Evidence: q.Evidence, Follows: q.Follows, Answer: q.Answer.Text,
	}
	if q.Answer.Meaning != nil {
		made.Answer = AnswerEach
	}
	if made.Answer == AnswerYes {
		made.Answer = q.Proposed.Text
		if isWord(made.Answer) && made.Answer != AnswerPlain && made.Answer != AnswerKey {
			made.Answer = AnswerEach
		}
	}
	for _, at := range asked {
		made.Columns = append(made.Columns, at.raw())
	}
	c.Plan.Questions = append(c.Plan.Questions, made)
}

// overruled reports whether patterns say something else than the answer of a question, of all its columns, and returns one.
func (c *completer) overruled(q *Asked, asked []place) (by Name, ok bool) {
	one, err := c.answer(q)
	if err != nil || one == nil || one.agree {
		return by, false
	}
	for _, at := range asked {
		i := slices.IndexFunc(c.claims[at.column], func(other claim) bool { return other.rank == rankPattern && !other.state.equal(one.state) })
		if i < 0 {
			return by, false
		}
		by = c.claims[at.column][i].at
	}
	return by, len(asked) > 0
}

// askedOf collects the claims of a question about one column.
func (c *completer) askedOf(q *Asked, n Name, at place) {
	add := func(one claim) {
		one.at = n
		if c.failIf(one.state.checkTables(c.Plan, at.table, n)) {
			return
		}
		c.claims[at.column] = append(c.claims[at.column], one)
	}
	if len(q.Suspects) > 0 {
		if c.suspects[at.column] != nil {
			c.errs = append(c.errs, n.fault("%q has its suspects in two questions", n.Text))
		}
		c.suspects[at.column] = q.Suspects
	}
	if s, ok := q.proposal(); ok && !c.template {
		add(claim{rank: rankQuestion, state: s})
	}
	if one, err := c.answer(q); err != nil {
		c.errs = append(c.errs, err)
	} else if one != nil {
		add(*one)
	}
}

// answer returns the claim of a question's answer, or nil if there is none.
func (c *completer) answer(q *Asked) (*claim, error) {
	at := Name{Text: q.Answer.Text, Line: q.Answer.line}
	switch text := q.Answer.Text; {
	case q.Answer.Meaning != nil:
		s, err := q.Answer.Meaning.state()
		return &claim{rank: rankAnswer, state: s, keep: true}, err
	case text == "":
		return nil, nil
	case text == AnswerYes, text == AnswerEach:
		if !c.template {
			return &claim{rank: rankAnswer, agree: true}, nil
		}
		s, ok := q.proposal()
		if !ok || s.role == RoleUndecided {
			return nil, nil // it is in the sections, if anywhere
		}
		s.decided = true
		return &claim{rank: rankAnswer, state: s, keep: true}, nil
	case text == AnswerPlain, text == AnswerKey:
		return &claim{rank: rankAnswer, state: state{role: Role(text), decided: true}}, nil
	case c.Plan.Table(text) == nil && !c.template:
		return nil, at.fault("the answer %q is no table of the sources: want a table, plain, key, each or yes", text)
	}
	s := referenceTo(q.Answer.Text, q.None)
	switch proposed, ok := q.proposal(); {
	case !ok:
	case proposed.role == RoleList:
		s.role, s.separator = RoleList, proposed.separator
	case proposed.role == RoleJSON, proposed.role == RolePolymorphic:
		return nil, at.fault("the answer %q is a table, but the proposal has several of them, or paths: want yes, plain, or a mapping like the proposal", q.Answer.Text)
	}
	s.decided = true
	return &claim{rank: rankAnswer, state: s, keep: true}, nil
}
