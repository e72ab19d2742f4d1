package questions

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// dialogue types lines and returns what is shown.
func dialogue(t *testing.T, s *Questionnaire, input string) (settle bool, shown string, err error) {
	t.Helper()
	var out bytes.Buffer
	settle, err = (&Dialogue{In: strings.NewReader(input), Out: &out, Width: 72}).Run(t.Context(), s)
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 72 && !strings.Contains(line, "? b s") && !strings.Contains(line, "y yes") {
			t.Errorf("%d characters: %q", n, line)
		}
	}
	return settle, out.String(), err
}

func TestDialogue(t *testing.T) {
	s, file := opened(t, schema())
	settle, shown, err := dialogue(t, s, "?\n9\nx\n\n1\ns\n1\ne\n2\n1\n")
	if err != nil || settle {
		t.Fatal(settle, err)
	}
	for _, want := range []string{
		"Question 1 of 4: owner_id", "a view joins them", "1  players (84 %) (likely): Ids of players", "2  plain (8 %)", "Want 1 to 2, or",
		"Question 2 of 4: players.made", "Question 3 of 4: houses.kind and 1 more", "Question 4 of 4, part 2 of 2: ", "1 of 4 questions have no answer yet.",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in %s", want, shown)
		}
	}
	if s.Open() != 1 || s.All[3].Answer() != "different ones" {
		t.Errorf("%q: %s", described(s), contents(t, file))
	}
	settle, shown, err = dialogue(t, s, "1\nb\nb\n2\ny\n") // from the end back to question 3, which has one choice
	if err != nil || settle || !strings.Contains(shown, "Answered: yes.") || !strings.Contains(shown, "All 4 questions have answers.") {
		t.Errorf("%v, %v: %s", settle, err, shown)
	}
	if settle, shown, err = dialogue(t, s, "x\ny\n"); err != nil || !settle {
		t.Errorf("%v, %v: %s", settle, err, shown)
	}
}

// Each answer is in the file before the next question, whatever ends the dialogue.
func TestDialogueStops(t *testing.T) {
	for _, input := range []string{"1\nq\n1\n", "1\n", "1\ns\ns\ns\n"} {
		s, file := opened(t, schema())
		_, shown, err := dialogue(t, s, input)
		if err != nil || !strings.Contains(contents(t, file), "answer: players") || !strings.Contains(shown, "3 of 4 questions have no answer yet") {
			t.Errorf("%q: %v: %s", input, err, shown)
		}
		if next, shown, err := dialogue(t, s, "q\n"); err != nil || next || !strings.Contains(shown, "Question 2 of 4") {
			t.Errorf("%q: then %v: %s", input, err, shown)
		}
	}
	s, file := opened(t, schema())
	before := contents(t, file)
	if _, _, err := dialogue(t, s, ""); !errors.Is(err, ErrNobody) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	go func() {
		_, _ = io.WriteString(w, "s\n")
		cancel() // as Ctrl-C does
	}()
	if settle, err := (&Dialogue{In: r, Out: io.Discard}).Run(ctx, s); settle || err != nil {
		t.Error(settle, err)
	}
	if contents(t, file) != before {
		t.Error("the file was changed")
	}
}

// An answer for all parts but some: the others are asked next.
func TestDialogueOfMostParts(t *testing.T) {
	s, _ := opened(t, schema())
	_, shown, err := dialogue(t, s, "1 - 2\n2\nq\n")
	if err != nil || !strings.Contains(shown, "[1]houses.owner_id, [2]items.owner_id") || !strings.Contains(shown, "Question 1 of 4, part 2 of 2") || !strings.Contains(shown, "Question 2 of 4") {
		t.Errorf("%v: %s", err, shown)
	}
	if got := s.All[0]; got.Parts[0].Answer != "players" || got.Parts[1].Answer != "plain" {
		t.Errorf("%q", described(s))
	}
	_, shown, err = dialogue(t, s, "b\n1 - 1 2\n1-3\n1 - x\nq\n")
	if err != nil || !strings.Contains(shown, "No part is left") || strings.Count(shown, "Want 1 to 2") != 2 {
		t.Errorf("%v: %s", err, shown)
	}
}

// Other answers, impossible ones, and a file that is changed meanwhile.
func TestDialogueOfOtherAnswers(t *testing.T) {
	s, file := opened(t, schema())
	_, shown, err := dialogue(t, s, "=\n=boats\n={to: guilds}\nq\n")
	if err != nil || !strings.Contains(shown, "Not possible: ") || !strings.Contains(shown, "Write the answer behind =") || !strings.Contains(contents(t, file), "answer: {to: guilds}") {
		t.Errorf("%v: %s; %s", err, shown, contents(t, file))
	}
	s, _ = opened(t, schema())
	_, shown, err = dialogue(t, s, "e\n=key\nq\n")
	if err != nil || !strings.Contains(shown, "The plan is wrong now") {
		t.Errorf("%v: %s", err, shown)
	}
	s, file = opened(t, schema())
	changed := strings.Replace(contents(t, file), "0.84", "0.85", 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	_, shown, err = dialogue(t, s, "1\n1\nq\n")
	if err != nil || !strings.Contains(lines(shown), "changed meanwhile by somebody else") || strings.Count(shown, "Question 1 of 4") != 2 || !strings.Contains(contents(t, file), "answer: players") {
		t.Errorf("%v: %s", err, shown)
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		before, text string
		width        int
		want         string
	}{
		{"- ", "one two three", 11, "- one two\n  three\n"},
		{"", "a_very_long_word_without_end", 10, "a_very_lon\ng_word_wit\nhout_end\n"},
		{"  ", "", 40, "  \n"},
		{"", "ä ö ü \x1b[31mred", 40, "ä ö ü \\x1b[31mred\n"},
	} {
		if got := wrap(tt.before, tt.text, tt.width); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}
