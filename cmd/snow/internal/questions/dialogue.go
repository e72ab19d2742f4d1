package questions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/cmd/snow/internal/interrupt"
)

// ErrNobody is returned if there is nobody who could answer.
var ErrNobody = errors.New("standard input is no terminal and has no answers: run it on a terminal, write one answer on each line, or use questions --serve")

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
	if all := sureOf(s); all != nil {
		if ok, err := a.takeSure(ctx, all); err != nil || !ok {
			return false, errors.Join(err, a.stopped(ctx))
		}
	}
	at := place{slices.IndexFunc(s.All, func(q *Question) bool { return !q.IsAnswered() }), -1}
	if at.question < 0 {
		at.question = len(s.All)
	} else {
		a.help()
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
	for _, text := range a.faults {
		a.out.line("! ", "The plan is wrong now: %s.", text)
	}
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
			apart = " e"
		}
		if q.Answer() != "" {
			apart += " t"
		}
		_, _ = fmt.Fprintf(a.out, "\n%s, or ? b s%s q: ", numbers, apart)
		line, ok := a.read()
		if !ok {
			return at, false, nil
		}
		switch answer, only, isAnswer := answerOf(line, q); {
		case line == "":
		case line == "q":
			return at, false, nil
		case line == "s" && at.part < 0:
			return place{at.question + 1, -1}, true, nil
		case line == "s" && at.part+1 < parts:
			return place{at.question, at.part + 1}, true, nil
		case line == "s":
			return place{at.question + 1, -1}, true, nil
		case line == "b":
			return before(at), true, nil
		case line == "e" && len(q.Parts) > 1:
			return place{at.question, 0}, true, nil
		case line == "?":
			a.more(ctx, q)
		case line == "t":
			if a.takeBack(q) {
				a.show(ctx, at)
			}
		case isAnswer && len(only.Parts) == 0:
			a.out.line("", "No part is left for the answer.")
		case isAnswer:
			if done, err := a.take(ctx, at, only, answer); err != nil || done {
				return a.after(at, parts), true, err
			}
		default:
			a.out.line("", "Want %s, or one of the letters; ? explains them.", numbers)
		}
	}
}

// without is what may follow another answer: a minus and the numbers of parts.
var without = regexp.MustCompile(`^(.*\S)\s+-((?:\s*[0-9]+)+)$`)

// answerOf reads the number of a choice, or = and another answer, and behind it a minus and the numbers of the parts that it is not
// for: 1 - 3 8.
func answerOf(line string, q *Question) (answer string, only *Question, ok bool) {
	except := ""
	if other, is := strings.CutPrefix(line, "="); is {
		answer = strings.TrimSpace(other)
		if m := without.FindStringSubmatch(answer); m != nil {
			answer, except = m[1], m[2]
		}
	} else {
		var chosen string
		chosen, except, _ = strings.Cut(line, "-")
		n, err := strconv.Atoi(strings.TrimSpace(chosen))
		if err != nil || n < 1 || n > len(q.Choices()) {
			return "", nil, false
		}
		answer = q.Choices()[n-1].Answer
	}
	left := numbersOf(strings.ReplaceAll(except, "-", " "), len(q.Parts))
	switch {
	case left == nil:
		return "", nil, false
	case len(left) == 0:
		return answer, q, true
	}
	return answer, q.Only(func(p *Part) bool { return !left[1+slices.Index(q.Parts, p)] }), true
}

// takeBack takes an answer back, and reports whether it did.
func (a *asker) takeBack(q *Question) bool {
	if _, err := a.Answer(q, ""); err != nil {
		a.out.line("", "Not possible: %v", err)
		return errors.Is(err, ErrChanged)
	}
	return true
}

// take writes an answer. It is not done if the answer can't be, or if somebody else has changed the file.
func (a *asker) take(ctx context.Context, at place, q *Question, answer string) (done bool, err error) {
	if answer == "" {
		a.out.line("", "Write the answer behind =.")
		return false, nil
	}
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
	for _, text := range a.sources.kindsLeft(ctx, a.Questionnaire, q) {
		a.out.line("! ", "%s. b goes back.", text)
	}
	return true, nil
}

// after returns the place after an answer: a part of the same question that has none, or the next question without one.
func (a *asker) after(at place, parts int) place {
	q := a.All[at.question]
	for part := at.part + 1; part < max(parts, len(q.Parts)) && (at.part >= 0 || !q.IsAnswered()); part++ {
		if len(q.Parts) > 1 && !q.Parts[part].Decided {
			return place{at.question, part}
		}
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
