package questions

import (
	"fmt"
	"io"
)

// A List is the questions as data.
type List struct {
	Open      int      `json:"open"`
	Questions []Listed `json:"questions"`
	Wrong     []string `json:"wrong,omitempty"` // what is wrong with the plan, besides what is not decided
}

// A Listed is a question as data.
type Listed struct {
	Name     string       `json:"name"`
	Text     string       `json:"text"`
	Parts    []ListedPart `json:"parts"`
	Choices  []Listable   `json:"choices"`
	Evidence []string     `json:"evidence,omitempty"`
	Follows  []string     `json:"follows,omitempty"`
	Answer   string       `json:"answer,omitempty"`
}

// A ListedPart is a column or a unique key of a question.
type ListedPart struct {
	Name    string   `json:"name"`
	Doubts  []string `json:"doubts,omitempty"`
	Is      string   `json:"is,omitempty"` // in the plan
	Answer  string   `json:"answer,omitempty"`
	Decided bool     `json:"decided"`
}

// A Listable is an answer that is offered.
type Listable struct {
	Answer    string  `json:"answer"`
	Certainty float64 `json:"certainty,omitempty"`
	Mark      string  `json:"mark,omitempty"`
	Follows   string  `json:"follows,omitempty"`
}

// ListOf returns the questions as data.
func ListOf(s *Questionnaire) List {
	list := List{Open: s.Open(), Questions: []Listed{}, Wrong: s.faults}
	for _, q := range s.All {
		one := Listed{Name: q.Name, Text: q.Text, Evidence: q.Evidence, Follows: q.Follows, Answer: q.Answer()}
		for _, p := range q.Parts {
			one.Parts = append(one.Parts, ListedPart{p.Name, p.Doubts, p.Is, p.Answer, p.Decided})
		}
		for _, c := range q.Choices() {
			one.Choices = append(one.Choices, Listable(c))
		}
		list.Questions = append(list.Questions, one)
	}
	return list
}

// WriteText writes the questions for people, within the width of a terminal; 0 if nobody knows it.
func WriteText(to io.Writer, s *Questionnaire, width int) {
	a := &asker{Questionnaire: s, out: newWriter(to, width)}
	a.out.line("", "%d of %d questions have no answer.", s.Open(), len(s.All))
	for i, q := range s.All {
		answer := q.Answer()
		if answer == "" {
			answer = "open"
		}
		a.out.line("\n", "%d. %s: %s", i+1, q.Name, answer)
		a.head(q, shownAtFirst)
		for _, c := range q.Choices() {
			a.out.line("    ", "%s: %s", c.says(), c.Follows)
		}
	}
	for _, text := range s.faults {
		a.out.line("\n", "The plan is wrong now: %s", text)
	}
}

// says is the answer, and how likely it is.
func (c Choice) says() string {
	text := c.Answer
	if c.Certainty > 0 {
		text += fmt.Sprintf(" (%.0f %%)", c.Certainty*100)
	}
	if c.Mark != "" {
		text += " (" + c.Mark + ")"
	}
	return text
}
