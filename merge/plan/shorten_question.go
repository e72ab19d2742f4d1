package plan

import (
	"fmt"
	"slices"
)

// questions writes the questions of the plan, and the suspects of columns and of unique keys.
func (s *shortener) questions() error {
	for _, q := range s.plan.Questions {
		if err := s.question(q); err != nil {
			return err
		}
	}
	s.suspects()
	if err := s.doubts(); err != nil {
		return err
	}
	return s.complete()
}

// doubts writes the suspects of unique keys, one question for each rule.
func (s *shortener) doubts() error {
	for _, t := range s.plan.Tables {
		for _, u := range t.Unique {
			if t.Skip || len(u.Suspects) == 0 {
				continue
			}
			if err := s.know(t, u); err != nil {
				return err
			}
			asked, doubt := &Asked{}, Doubt{s.plan.keyName(t, u.Columns), u.Suspects}
			if bare := (Unique{Rule: u.Rule, Decided: u.Decided}); sameClash(u, &bare) && u.Rule != "" {
				asked.Proposed.Text = string(u.Rule)
			}
			if u.Decided {
				asked.Answer.Text = AnswerYes
			}
			like := func(other *Asked) bool {
				return len(other.Unique) > 0 && other.Proposed.Text == asked.Proposed.Text && other.Answer.Text == asked.Answer.Text &&
					!slices.ContainsFunc(other.Unique, func(d Doubt) bool { return d.Key.Text == doubt.Key.Text })
			}
			if other := first(s.d.Questions, like); other != nil {
				asked = other
			} else {
				s.d.Questions = append(s.d.Questions, asked)
			}
			asked.Unique = append(asked.Unique, doubt)
		}
	}
	return nil
}

// know lists the unique keys of a table if the sources do not have one of them: a question must find it by its name.
func (s *shortener) know(t *Table, u *Unique) error {
	is := func(other *Unique) bool { return slices.Equal(other.Columns, u.Columns) }
	if slices.ContainsFunc(s.schema.Table(t.Name).Unique, is) || slices.Equal(t.PrimaryKey, u.Columns) {
		return nil
	}
	bare := &Table{}
	for _, u := range t.Unique {
		bare.Unique = append(bare.Unique, &Unique{Columns: u.Columns})
	}
	fields, err := difference(&Table{}, bare)
	if err == nil {
		s.change(&TableChange{Table: Name{Text: t.Name}, fields: fields})
	}
	return err
}

func (s *shortener) question(q *Question) error {
	asked := &Asked{
		Name: q.Name, Text: q.Text, Candidates: q.Candidates, Evidence: q.Evidence, Follows: q.Follows, Answer: Answer{Text: q.Answer},
	}
	var places []place // as in the plan
	var names []string
	for _, t := range s.plan.Tables {
		for _, c := range t.Columns {
			if at := (place{t, c}); slices.Contains(q.Columns, at.raw()) {
				places, names = append(places, at), append(names, at.raw())
			}
		}
	}
	if len(names) != len(q.Columns) {
		return &Error{Reason: fmt.Sprintf("question %q has columns that no source has, or one twice", q.Name)}
	}
	if slices.Equal(names, q.Columns) && len(s.inSchema(places)) == len(places) {
		asked.Columns = cover(s.schema, s.inSchema(places))
	} else { // in an order of its own
		for _, raw := range q.Columns {
			asked.Columns = append(asked.Columns, Name{Text: places[slices.Index(names, raw)].name(s.plan)})
		}
	}
	if best := q.Best(); q.Answer == "" && (best == nil || best.Answer != AnswerEach) {
		asked.proposeMost(slices.DeleteFunc(places, func(at place) bool { return at.column.Decided || at.column.By != "" || !s.exists(at) }))
	} else if q.Answer != "" && q.Answer != AnswerEach {
		asked.noneOfMost(places)
	}
	s.leaveOutBest(asked)
	s.d.Questions = append(s.d.Questions, asked)
	return nil
}

// leaveOutBest leaves a proposal out where it is the best candidate, and says that there is none where it is not.
func (s *shortener) leaveOutBest(q *Asked) {
	bare := Asked{Candidates: q.Candidates}
	best, ok := bare.proposal(nil)
	switch {
	case !ok:
	case q.Proposed.Meaning == nil && q.Proposed.Text == bare.proposed().Text:
		q.Proposed = Answer{}
	case q.Proposed.IsZero() && (q.Answer.IsZero() || best.checkTables(s.schema, nil, Name{}) != nil):
		q.Proposed.Text = AnswerEach
	}
}

// proposeMost proposes what most of the columns are, with the values for no row that most of those have that are
// not in keys.
func (q *Asked) proposeMost(places []place) {
	bare := func(at place) (key string, one Asked, ok bool) {
		is := at.column.state()
		if _, says := is.proposal(); says {
			is.none = nil
		}
		ok = one.propose(is)
		return fmt.Sprint(is), one, ok
	}
	count, best, most := map[string]int{}, 0, ""
	for _, at := range places {
		if key, one, ok := bare(at); ok {
			if count[key]++; count[key] > best {
				best, most, q.Proposed, q.None = count[key], key, one.Proposed, nil
			}
		}
	}
	if q.Proposed.Meaning != nil {
		return
	}
	count, best = map[string]int{}, 0
	for _, at := range places {
		if key, _, ok := bare(at); ok && key == most && !at.inKey() {
			key = fmt.Sprintf("%q", at.column.None)
			if count[key]++; count[key] > best {
				best, q.None = count[key], at.column.None
			}
		}
	}
}

// noneOfMost sets the values for no row that most of the columns have that are what the answer says.
func (q *Asked) noneOfMost(places []place) {
	same := slices.DeleteFunc(slices.Clone(places), func(at place) bool {
		word, ok := at.column.state().proposal()
		return !ok || word != q.Answer.Text
	})
	var most Asked
	most.proposeMost(same)
	q.None = most.None
}

// suspects writes what columns have as suspects, one entry for columns that are alike.
func (s *shortener) suspects() {
	s.groups(func(at place) (string, any) {
		c := at.column
		if at.table.Skip || len(c.Suspects) == 0 {
			return "", nil
		}
		asked := &Asked{Suspects: c.Suspects}
		was := s.made.Table(at.table.Name).Column(c.Name).state()
		was.decided = c.Decided
		if !was.equal(c.state()) && s.exists(at) && s.plan.Question(at.raw()) == nil {
			asked.propose(c.state())
		}
		if c.Decided {
			asked.Answer.Text = AnswerYes
		}
		return fmt.Sprintf("%q %v %q %v", asked.Suspects, asked.Proposed.IsZero(), asked.Answer.Text, c.state()), asked
	}, func(made any, names []Name) {
		asked := made.(*Asked)
		asked.Columns = names
		s.d.Questions = append(s.d.Questions, asked)
	})
}
