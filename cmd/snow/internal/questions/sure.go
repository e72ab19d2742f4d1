package questions

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
)

// Questions whose likely answer is at least as certain as sure, with nothing against it, are shown together first, if there are as
// many as fewestSure.
const (
	sure       = 0.95
	fewestSure = 3
)

// sureOf returns the open questions whose columns are very likely ids of one table, or none.
func sureOf(s *Questionnaire) (all []*Question) {
	for _, q := range s.All {
		open := true // none of its parts has an answer
		for _, p := range q.Parts {
			open = open && !p.Decided
		}
		c := q.Choices()
		if open && len(c) > 0 && c[0].Certainty >= sure && c[0].Answer != plan.AnswerEach && c[0].Answer != plan.AnswerKey && c[0].Answer != plan.AnswerYes {
			all = append(all, q)
		}
	}
	if len(all) < fewestSure {
		return nil
	}
	return all
}

// Sure is the likely answer, and the weakest evidence for it.
func (q *Question) Sure() string {
	text := q.choices[0].says()
	if len(q.Evidence) > 0 {
		text += ": " + q.Evidence[0]
	}
	return text
}

// takeSure shows the questions that are nearly certain, and takes their answers, or those of some. It is not ok if the dialogue
// ends.
func (a *asker) takeSure(ctx context.Context, all []*Question) (ok bool, err error) {
	a.out.line("\n", "For %d questions, names, values and structure agree on one answer (%.0f %% and more). Look for what you know better:", len(all), 100*sure)
	for i, q := range all {
		a.out.line(fmt.Sprintf(" %3d  ", i+1), "%s %s", q.Text, q.Sure())
	}
	a.out.line("\n", "y takes these answers, n asks about each. Numbers such as 2 5 ask about those, and take the others.")
	for {
		_, _ = io.WriteString(a.out, "\ny, n, numbers or q: ")
		line, ok := a.read()
		if !ok || line == "q" {
			return false, nil
		}
		left := map[int]bool{}
		switch line {
		case "n":
			return true, nil
		case "y":
		default:
			if left = numbersOf(line, len(all)); len(left) == 0 {
				a.out.line("", "Want y, n, q, or numbers from 1 to %d.", len(all))
				continue
			}
		}
		for i, q := range all {
			if left[i+1] {
				continue
			}
			// Answers have made other questions of the same parts.
			now := a.Find(q.ID)
			if ctx.Err() != nil || now == nil || now.IsAnswered() {
				continue
			}
			done, err := a.take(ctx, place{a.placeOf(q.ID), -1}, now, now.Choices()[0].Answer)
			if err != nil {
				return false, err
			}
			if !done {
				return true, nil // why was said, and the questions are asked
			}
		}
		return true, nil
	}
}

// numbersOf reads numbers from 1 to most; none if there is anything else.
func numbersOf(line string, most int) map[int]bool {
	all := map[int]bool{}
	for field := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == ' ' || r == ',' }) {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 || n > most {
			return nil
		}
		all[n] = true
	}
	return all
}
