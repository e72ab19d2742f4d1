package questions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/cmd/snow/internal/interrupt"
)

// ErrNobody is returned if there is nobody who could answer.
var ErrNobody = errors.New("standard input is no terminal and has no answers: run it on a terminal, write one answer on each line, or use questions --serve")

// shownAtFirst is how many lines of a list a question has. The answer ? shows all.
const shownAtFirst = 4

// A Dialogue asks one question after the other, on a terminal or over a pipe.
type Dialogue struct {
	In      io.Reader
	Out     io.Writer
	Width   int // of the terminal, in characters; 0 if nobody knows
	Sources Sources
}

// A place is a question, or one of its parts.
type place struct {
	question int
	part     int // -1 for all parts together
}

// An asker is a dialogue under way.
type asker struct {
	*Questionnaire
	out     *writer
	in      *bufio.Scanner
	sources Sources
	typed   bool // there was an answer
}

// Run asks from the first question that has no answer. Each answer is in the file before the next question. It reports
// whether all is answered and the plan is to be settled. The end of ctx or of the input ends it as q does. If there
// is no input at all, it returns [ErrNobody].
func (d *Dialogue) Run(ctx context.Context, s *Questionnaire) (settle bool, err error) {
	a := &asker{Questionnaire: s, out: newWriter(d.Out, d.Width), in: bufio.NewScanner(interrupt.Reader(ctx, d.In)), sources: d.Sources}
	at := place{slices.IndexFunc(s.All, func(q *Question) bool { return !q.IsAnswered() }), -1}
	if at.question < 0 {
		at.question = len(s.All)
	}
	for at.question < len(a.All) {
		next, ok, err := a.ask(ctx, at)
		switch {
		case err != nil:
			return false, err
		case !ok:
			return false, a.stopped(ctx)
		}
		at = next
		if at.question == len(a.All) && a.Open() == 0 {
			settle, back := a.end()
			if !back {
				return settle, nil
			}
			at = place{len(a.All) - 1, -1}
		}
	}
	if n := a.Open(); n > 0 {
		a.out.line("", "%d of %d questions have no answer yet. The same command asks them.", n, len(a.All))
		return false, nil
	}
	return s.plan != nil, nil // nothing was asked
}

// stopped says what is left.
func (a *asker) stopped(ctx context.Context) error {
	if err := a.in.Err(); err != nil && ctx.Err() == nil {
		return err
	}
	if !a.typed && ctx.Err() == nil {
		return ErrNobody
	}
	a.out.line("\n", "Stopped. %d of %d questions have no answer yet; what was answered is in the plan.", a.Open(), len(a.All))
	return nil
}

// end asks whether the plan is to be settled.
func (a *asker) end() (settle, back bool) {
	a.out.line("\n", "All %d questions have answers.", len(a.All))
	if a.plan == nil {
		a.out.line("", "With the sources, snow merge settle makes decisions of them.")
		return false, false
	}
	for {
		_, _ = io.WriteString(a.out, "Settle the plan: answers become decisions, and the questions are left out? y yes, n not now, b back: ")
		line, ok := a.read()
		switch {
		case !ok || line == "n" || line == "q":
			_, _ = io.WriteString(a.out, "\n")
			return false, false
		case line == "y":
			return true, false
		case line == "b":
			return false, true
		}
	}
}

func (a *asker) read() (string, bool) {
	if !a.in.Scan() {
		return "", false
	}
	a.typed = true
	return strings.TrimSpace(a.in.Text()), true
}

// question returns what is at a place.
func (a *asker) question(at place) (q *Question, parts int) {
	q = a.All[at.question]
	if apart := q.Apart(); at.part >= 0 && at.part < len(apart) {
		return apart[at.part], len(apart)
	}
	return q, 0
}

// ask asks one question until it is answered, or left, and returns the place of the next. It is not ok if the dialogue
// ends.
func (a *asker) ask(ctx context.Context, at place) (next place, ok bool, err error) {
	a.show(ctx, at)
	for {
		at.question = min(at.question, len(a.All)-1) // the file may have been changed
		q, parts := a.question(at)
		n := len(q.Choices())
		numbers, apart := "1", ""
		if n > 1 {
			numbers = fmt.Sprintf("1 to %d", n)
		}
		if len(q.Parts) > 1 {
			apart = ", e each by itself"
		}
		_, _ = fmt.Fprintf(a.out, "\n%s, ? more, b back, s skip%s, q stop: ", numbers, apart)
		line, ok := a.read()
		if !ok {
			return at, false, nil
		}
		switch chosen, number := strconv.Atoi(line); {
		case line == "":
		case line == "q":
			return at, false, nil
		case line == "s" && at.part < 0:
			return place{at.question + 1, -1}, true, nil
		case line == "s":
			return a.after(at, parts), true, nil
		case line == "b":
			return before(at), true, nil
		case line == "e" && len(q.Parts) > 1:
			return place{at.question, 0}, true, nil
		case line == "?":
			a.more(q)
		case number == nil && chosen >= 1 && chosen <= n:
			if done, err := a.take(ctx, at, q.Choices()[chosen-1].Answer); err != nil || done {
				return a.after(at, parts), true, err
			}
		case strings.HasPrefix(line, "="):
			if done, err := a.take(ctx, at, strings.TrimSpace(line[1:])); err != nil || done {
				return a.after(at, parts), true, err
			}
		default:
			a.out.line("", "Want %s, or one of the letters. Another answer begins with =, such as =plain: what docs/plan.md has for answer.", numbers)
		}
	}
}

// take writes an answer. It is not done if the answer can't be, or if somebody else has changed the file.
func (a *asker) take(ctx context.Context, at place, answer string) (done bool, err error) {
	if answer == "" {
		a.out.line("", "Write the answer behind =.")
		return false, nil
	}
	q, _ := a.question(at)
	wrong, err := a.Answer(q, answer)
	switch {
	case errors.Is(err, ErrChanged):
		if len(a.All) == 0 {
			return false, errors.New("somebody else has changed the plan, and it has no questions any more")
		}
		a.out.line("\n", "%v.", err)
		a.show(ctx, at)
		return false, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, err
	case err != nil:
		a.out.line("", "Not possible: %v", err)
		return false, nil
	}
	for _, text := range wrong {
		a.out.line("! ", "The plan is wrong now: %s. b goes back.", text)
	}
	return true, nil
}

func (a *asker) after(at place, parts int) place {
	if at.part >= 0 && at.part+1 < parts {
		return place{at.question, at.part + 1}
	}
	for next := at.question + 1; next < len(a.All); next++ {
		if !a.All[next].IsAnswered() {
			return place{next, -1}
		}
	}
	return place{len(a.All), -1}
}

func before(at place) place {
	switch {
	case at.part > 0:
		return place{at.question, at.part - 1}
	case at.part == 0:
		return place{at.question, -1}
	}
	return place{max(at.question-1, 0), -1}
}

// show writes a question.
func (a *asker) show(ctx context.Context, at place) {
	at.question = min(at.question, len(a.All)-1) // the file was changed
	q, parts := a.question(at)
	heading := fmt.Sprintf("Question %d of %d", at.question+1, len(a.All))
	if parts > 0 {
		heading += fmt.Sprintf(", part %d of %d", at.part+1, parts)
	}
	a.out.line("\n", "%s: %s", heading, q.Name)
	a.head(q)
	for _, sample := range a.Samples(ctx, a.sources, q) {
		a.sample(sample)
	}
	_, _ = io.WriteString(a.out, "\n")
	for i, c := range q.Choices() {
		a.out.line(fmt.Sprintf("  %d  ", i+1), "%s: %s", c.says(), c.Follows)
	}
	if hint := q.Hint(); hint != "" {
		a.out.line("     ", "%s", hint)
	}
	if answer := q.Answer(); answer != "" {
		a.out.line("  ", "Answered: %s.", answer)
	}
}

// head writes what is asked, about what, and why.
func (a *asker) head(q *Question) {
	a.out.line("  ", "%s", q.Text)
	a.parts(q, shownAtFirst)
	a.evidence(q, shownAtFirst)
}

// parts lists what a question is about, at most n lines of it.
func (a *asker) parts(q *Question, n int) {
	for _, line := range first(q.partLines(n), n) {
		a.out.line("  - ", "%s", line)
	}
}

func (a *asker) evidence(q *Question, n int) {
	if len(q.Evidence) == 0 {
		return
	}
	a.out.line("  ", "Evidence:")
	for _, line := range first(q.Evidence, n) {
		a.out.line("  - ", "%s", line)
	}
}

// first returns n lines, and how many more there are.
func first(lines []string, n int) []string {
	if n == 0 || len(lines) <= n+1 {
		return lines
	}
	return append(slices.Clone(lines[:n]), fmt.Sprintf("and %d more (?)", len(lines)-n))
}

// partLines says of each part what the plan takes it for and what is doubtful. If all of that is the same, the parts
// are on one line, some of them if n is not 0.
func (q *Question) partLines(n int) (lines []string) {
	says := func(p *Part) string {
		text := strings.Join(p.Doubts, "; ")
		if len(q.asked.Suspects) > 0 || len(q.Candidates()) > 0 && q.Candidates()[0] == "each" {
			text = strings.TrimPrefix(text+"; in the plan: "+p.Is, "; ")
		}
		return text
	}
	if !slices.ContainsFunc(q.Parts, func(p *Part) bool { return says(p) != says(q.Parts[0]) || p.Answer != q.Parts[0].Answer }) {
		var names []string
		for _, p := range q.Parts {
			names = append(names, p.Name)
		}
		line := strings.Join(names, ", ")
		if n > 0 {
			line = listed(names, 2*n)
		}
		if text := says(q.Parts[0]); text != "" {
			line += ": " + text
		}
		return []string{line}
	}
	for _, p := range q.Parts {
		line := strings.TrimSuffix(p.Name+": "+says(p), ": ")
		if p.Answer != "" {
			line += "; answered " + p.Answer
		}
		lines = append(lines, line)
	}
	return lines
}

// Candidates returns the answers that the file names as candidates.
func (q *Question) Candidates() (answers []string) {
	for _, c := range q.asked.Candidates {
		answers = append(answers, c.Answer)
	}
	return answers
}

func (a *asker) sample(s Sample) {
	if s.Why != "" {
		a.out.line("  ", "%s %s: %s", s.Source, s.Table, s.Why)
	}
	for _, row := range s.Rows {
		var cells []string
		for i, name := range s.Columns {
			cells = append(cells, name+" "+row[i])
		}
		a.out.line("    ", "%s %s: %s", s.Source, s.Table, strings.Join(cells, ", "))
	}
}

// more shows all of a question.
func (a *asker) more(q *Question) {
	a.parts(q, 0)
	a.evidence(q, 0)
	for _, line := range q.Follows {
		a.out.line("  ", "If the first answer is right: %s.", line)
	}
	for _, c := range q.Choices() {
		for _, text := range a.Wrong(q, c.Answer) {
			a.out.line("  ", "With %s the plan would be wrong: %s", c.Answer, text)
		}
	}
	a.out.line("  ", "Another answer begins with =, such as =plain. docs/plan.md has all of them.")
}
