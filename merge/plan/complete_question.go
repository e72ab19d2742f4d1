package plan

import "slices"

// question collects the claims of a question about columns, and adds it to the plan.
func (c *completer) question(q *Asked) {
	var asked []place
	patterns := false
	for _, n := range q.Columns {
		found, exact := c.places(n)
		patterns = patterns || !exact
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
	if q.Answer.Meaning != nil || q.Answer.Fields != nil {
		made.Answer = AnswerEach
	}
	if made.Answer == AnswerYes {
		made.Answer = q.proposed().Text
		if isWord(made.Answer) && made.Answer != AnswerPlain && made.Answer != AnswerKey {
			made.Answer = AnswerEach
		}
	}
	for _, at := range asked {
		made.Columns = append(made.Columns, at.raw())
	}
	if patterns {
		made.Columns = c.inOrder(asked)
	}
	c.Plan.Questions = append(c.Plan.Questions, made)
}

// inOrder returns the names of some columns in the order of the plan.
func (c *completer) inOrder(places []place) (raw []string) {
	for _, t := range c.Plan.Tables {
		for _, column := range t.Columns {
			if slices.ContainsFunc(places, func(at place) bool { return at.column == column }) {
				raw = append(raw, place{t, column}.raw())
			}
		}
	}
	return raw
}

// overruled reports whether patterns say something else than the answer of a question, of all its columns, and
// returns one.
func (c *completer) overruled(q *Asked, asked []place) (by Name, ok bool) {
	for _, at := range asked {
		one, err := c.answer(q, q.noneOf(at))
		if err != nil || one == nil || one.agree {
			return by, false
		}
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
	if q.says() {
		if other := c.asked[at.column]; other != nil && other != q {
			c.errs = append(c.errs, n.fault("%q is in two questions: one answer would be ignored", at.raw()))
		}
		c.asked[at.column] = q
	}
	none := q.noneOf(at)
	if s, ok := q.proposal(none); ok && !c.template {
		add(claim{rank: rankQuestion, state: s})
	}
	if one, err := c.answer(q, none); err != nil {
		c.errs = append(c.errs, err)
	} else if one != nil {
		add(*one)
	}
}

// isDoubted reports whether a question of suspects about a column has no answer.
func (c *completer) isDoubted(column *Column) bool {
	return slices.ContainsFunc(c.Decisions.Questions, func(q *Asked) bool {
		return len(q.Suspects) > 0 && q.Answer.IsZero() && slices.ContainsFunc(q.Columns, func(n Name) bool {
			found, _ := c.places(n)
			return slices.ContainsFunc(found, func(at place) bool { return at.column == column })
		})
	})
}

// says reports whether the question says what its columns are. One of suspects may leave that to another question.
func (q *Asked) says() bool {
	agrees := q.Answer.Meaning == nil && slices.Contains([]string{"", AnswerYes, AnswerEach}, q.Answer.Text)
	return len(q.Suspects) == 0 || !q.proposed().IsZero() || !agrees
}

// noneOf returns the values for no row that the question has for a column. One of a key refers to a row in each row.
func (q *Asked) noneOf(at place) []string {
	if at.inKey() {
		return nil
	}
	return q.None
}

// answer returns the claim of a question's answer, or nil if there is none.
func (c *completer) answer(q *Asked, none []string) (*claim, error) {
	at := Name{Text: q.Answer.Text, Line: q.Answer.line}
	switch text := q.Answer.Text; {
	case q.Answer.Meaning != nil:
		s, err := q.Answer.Meaning.state()
		return &claim{rank: rankAnswer, state: s, keep: true}, err
	case q.Answer.Fields != nil:
		return &claim{rank: rankAnswer, agree: true}, nil
	case text == "":
		return nil, nil
	case text == AnswerYes, text == AnswerEach:
		if !c.template {
			return &claim{rank: rankAnswer, agree: true}, nil
		}
		s, ok := q.proposal(none)
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
	s := referenceTo(q.Answer.Text, none)
	switch proposed, ok := q.proposal(none); {
	case !ok:
	case proposed.role == RoleList:
		s.role, s.separator = RoleList, proposed.separator
	case proposed.role == RoleName, proposed.role == RoleJSON, proposed.role == RolePolymorphic, proposed.role == RolePacked:
		return nil, at.fault("the answer %q is a table, but the proposal has several of them, or paths: want yes, plain, or a mapping like the proposal", q.Answer.Text)
	}
	s.decided = true
	return &claim{rank: rankAnswer, state: s, keep: true}, nil
}

// both lets all rows of a table be copied, with new ids, though rows of several sources are equal under equal ids.
func (c *completer) both(u *Unique, at Name) error {
	if c.template {
		return nil
	}
	t := first(c.Plan.Tables, func(t *Table) bool { return slices.Contains(t.Unique, u) })
	if key := t.Key(); key == nil || !slices.Equal(u.Columns, []string{key.Name}) {
		return at.fault("%q: both is for keys of role key, which new ids tell apart: choose match or keep", at.Text)
	}
	t.NewIDs = t.having(c.Decisions.NewIDs)
	u.Rule, u.Decided, u.Suspects = RuleFail, true, nil
	if len(t.NewIDs) == len(c.Plan.SourcesOf(t)) && slices.Equal(u.Columns, t.PrimaryKey) { // rows can't clash in it any more
		t.Unique = slices.DeleteFunc(t.Unique, func(other *Unique) bool { return other == u })
	}
	return nil
}

// answerOf gives a unique key the rule that is the answer. An entry of unique counts more than the answer about
// several keys, and is an error if it contradicts the answer about its key alone.
func (q *Asked) answerOf(u *Unique, at Name) error {
	switch answer := q.Answer.Text; {
	case answer == "":
	case answer == AnswerYes, u.Decided && Rule(answer) == u.Rule:
		u.Decided = true
	case u.Decided && len(q.Unique) == 1:
		return at.fault("%q is decided as %s by an entry of unique, and answered %q", at.Text, u.Rule, answer)
	case !u.Decided:
		u.Rule, u.Decided = Rule(answer), true
	}
	return nil
}
