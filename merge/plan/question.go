package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Question is one decision about all columns of one meaning, such as "guid" in 34 tables. [Plan.Check] refuses a plan
// while one of its questions has no answer, unless each of its columns is decided by itself, see [Column].Decided.
type Question struct {
	Name string `json:"name" yaml:"name"` // unique in the plan, such as "guid", "sender"
	// what is asked; none means whether the columns have ids of the best candidate
	Text string `json:"text,omitempty" yaml:"text,omitempty"`

	// Columns are the columns that the answer is about, as "table.column", in the order of the plan. A column is in one
	// question at most.
	Columns []string `json:"columns" yaml:"columns"`

	// best first; none where nothing speaks for any
	Candidates []*Candidate `json:"candidates,omitempty" yaml:"candidates,omitempty"`
	// names, values found and not found, ranges, types, indexes, joins
	Evidence []string `json:"evidence,omitempty" yaml:"evidence,omitempty"`
	// what the rest of the plan follows from the best candidate
	Follows []string `json:"follows,omitempty" yaml:"follows,omitempty"`

	// Answer is the name of the table whose ids the values are, AnswerPlain or AnswerKey. Empty means not decided.
	Answer string `json:"answer" yaml:"answer"`
}

// Answers that name no table.
const (
	AnswerPlain = "plain" // the values are no ids, and are copied as they are
	AnswerKey   = "key"   // the values are the ids of the rows of the column's own table
	AnswerEach  = "each"  // the columns mean different things: the roles that the columns have in the plan
	AnswerYes   = "yes"   // in a file of decisions: as it is proposed
)

// A Candidate is a possible answer.
type Candidate struct {
	Answer    string  `json:"answer" yaml:"answer"`       // see Question.Answer
	Certainty float64 `json:"certainty" yaml:"certainty"` // from 0 to 1
}

// Best returns the most certain candidate, or nil if there is none.
func (q *Question) Best() *Candidate {
	if len(q.Candidates) == 0 {
		return nil
	}
	return slices.MaxFunc(q.Candidates, func(a, b *Candidate) int { return cmp.Compare(a.Certainty, b.Certainty) })
}

// String returns what is asked.
func (q *Question) String() string {
	best := q.Best()
	if q.Text != "" || best == nil {
		return q.Text
	}
	count, names := map[string]int{}, []string(nil)
	for _, raw := range q.Columns {
		name := raw[strings.LastIndexByte(raw, '.')+1:]
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(count[b], count[a]) })
	columns := "columns"
	if len(q.Columns) == 1 {
		columns = "column"
	}
	return fmt.Sprintf("%s in %d %s: ids of %s?", several(names), len(q.Columns), columns, best.Answer)
}

// Question returns the question about a column, as "table.column", or nil.
func (p *Plan) Question(column string) *Question {
	return first(p.Questions, func(q *Question) bool { return slices.Contains(q.Columns, column) })
}

// questions complains of questions that have no answer, or one that can't be.
func (c *checker) questions() {
	for i, q := range c.plan.Questions {
		name := "question " + strconv.Quote(q.Name)
		c.faultIf(slices.ContainsFunc(c.plan.Questions[:i], func(other *Question) bool { return other.Name == q.Name }), "", "", "%s is there twice", name)
		switch {
		case q.Answer == "" && c.plan.decided(q):
		case q.Answer == "":
			c.fault("", "", "%s is not decided: %s", name, q)
		case q.Answer != AnswerPlain && q.Answer != AnswerKey && q.Answer != AnswerEach && c.plan.Table(q.Answer) == nil:
			c.fault("", "", "%s: the answer %q is no table", name, q.Answer)
		default:
			c.answered(q)
		}
	}
}

// answered complains of columns of a question that nobody has decided and that are not what the answer says.
func (c *checker) answered(q *Question) {
	for _, t := range c.plan.Tables {
		for _, column := range t.Columns {
			if !t.Skip && !column.Decided && slices.Contains(q.Columns, t.Name+"."+column.Name) && !column.says(q.Answer) {
				c.fault(t.Name, column.Name, "question %q has the answer %s, and the role is %s: a complete plan does what the roles say", q.Name, q.Answer, column.Role)
			}
		}
	}
}

// says reports whether the column is what an answer says.
func (c *Column) says(answer string) bool {
	switch answer {
	case AnswerEach:
		return true
	case AnswerPlain, AnswerKey:
		return c.Role == Role(answer)
	}
	return slices.ContainsFunc(c.Refers, func(r *Reference) bool { return r.Table == answer })
}

// decided reports whether each column of a question is decided by itself, or left out.
func (p *Plan) decided(q *Question) bool {
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			if !t.Skip && !c.Decided && slices.Contains(q.Columns, t.Name+"."+c.Name) {
				return false
			}
		}
	}
	return true
}

// checkNil refuses empty entries.
func (q *Question) checkNil() error {
	if slices.Contains(q.Candidates, nil) {
		return fmt.Errorf("question %q: an entry of candidates is empty", q.Name)
	}
	return nil
}
