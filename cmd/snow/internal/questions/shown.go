package questions

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// shownAtFirst is how many lines of a list a question has. The answer ? shows all.
const shownAtFirst = 4

// mostEach is how many columns are shown at first that have a table each.
const mostEach = 25

// show writes a question.
func (a *asker) show(ctx context.Context, at place) {
	at.question = min(at.question, len(a.All)-1) // the file was changed
	q, parts := a.question(at)
	heading := fmt.Sprintf("Question %d of %d", at.question+1, len(a.All))
	if parts > 0 {
		heading += fmt.Sprintf(", part %d of %d", at.part+1, parts)
	}
	heading += ": " + q.Name
	if progress := a.All[at.question].Progress(); progress != "" {
		heading += " (" + progress + ")"
	}
	a.out.line("\n", "%s", heading)
	a.head(q, shownAtFirst)
	a.answers(ctx, q)
}

// answers writes rows of a question, and the answers that are offered.
func (a *asker) answers(ctx context.Context, q *Question) {
	table := ""
	for _, sample := range a.sources.Samples(ctx, a.Questionnaire, q) {
		if sample.Table != table {
			a.out.line("  ", "Rows of %s:", sample.Table)
		}
		a.sample(sample)
		table = sample.Table
	}
	_, _ = io.WriteString(a.out, "\n")
	for i, c := range q.Choices() {
		a.out.line(fmt.Sprintf("  %d  ", i+1), "%s: %s", c.says(), c.Follows)
		for _, text := range first(a.Wrong(q, c.Answer), 2) {
			a.out.line("     ! ", "The plan would be wrong: %s", text)
		}
	}
	if hint := q.Hint(); hint != "" {
		a.out.line("     ", "%s", hint)
	}
	if answer := q.Answer(); answer != "" {
		a.out.line("  ", "Answered: %s.", answer)
	}
}

// head writes what is asked, about what, and why: at most n lines of each list, or all for 0.
func (a *asker) head(q *Question, n int) {
	a.out.line("  ", "%s", q.Text)
	a.parts(q, n)
	for _, note := range q.Notes() {
		a.out.line("  ! ", "%s", note)
	}
	a.evidence(q, n)
}

// parts lists what a question is about, at most n lines of it.
func (a *asker) parts(q *Question, n int) {
	most := n
	if q.isEach() {
		most = mostEach * min(n, 1)
	}
	for _, line := range first(q.partLines(n), most) {
		a.out.line("  - ", "%s", line)
	}
}

func (a *asker) evidence(q *Question, n int) {
	lines := q.Besides()
	if len(lines) == 0 {
		return
	}
	a.out.line("  ", "Evidence:")
	for _, line := range first(lines, n) {
		a.out.line("  - ", "%s", line)
	}
}

// first returns n lines, and how many more there are.
func first(lines []string, n int) []string {
	if n == 0 || len(lines) <= n+1 {
		return lines
	}
	return append(slices.Clone(lines[:n]), fmt.Sprintf("and %d more", len(lines)-n))
}

func (a *asker) sample(s Sample) {
	before := "    " + s.Source + "  "
	for _, text := range s.Found {
		a.out.line(before, "%s", text)
	}
	if s.Why != "" {
		a.out.line(before, "%s", s.Why)
	}
	for _, row := range s.Rows {
		var cells []string
		for i, name := range s.Columns {
			cells = append(cells, name+" "+row[i])
		}
		a.out.line(before, "%s", strings.Join(cells, ", "))
	}
}

// more shows all of a question.
func (a *asker) more(ctx context.Context, q *Question) {
	a.head(q, 0)
	for _, line := range q.Follows {
		a.out.line("  ", "If the first answer is right: %s.", line)
	}
	a.help()
	a.answers(ctx, q)
}

// help says what can be typed.
func (a *asker) help() {
	a.out.line("\n", "Type the number of an answer. ? shows more, b goes back, s skips, t takes an answer back, q stops: what was answered is kept. "+
		"1 - 2 5 answers with 1 for all parts but [2] and [5], and e asks about each part by itself. "+
		"Other answers begin with =, such as =plain: docs/plan.md has all of them.")
}
