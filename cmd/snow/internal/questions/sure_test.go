package questions

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// nearlyCertain replaces the questions about columns by three that are nearly certain, and one that is not.
func nearlyCertain(t *testing.T, file string) {
	t.Helper()
	text := contents(t, file)
	begin, end := strings.Index(text, "- name: owner_id"), strings.Index(text, "- unique:")
	text = text[:begin] + `- name: houses
  columns: [houses.owner_id]
  candidates: [{answer: players, certainty: 0.99}, {answer: plain, certainty: 0.01}]
  evidence: ['all of them (0.99)', 'some of them (0.96)']
  answer:
- {name: items, columns: [items.owner_id], candidates: [{answer: players, certainty: 0.97}], answer: }
- {name: kind, columns: [items.kind], candidates: [{answer: guilds, certainty: 0.95}], answer: }
- {name: vague, columns: [houses.kind], candidates: [{answer: guilds, certainty: 0.94}], answer: }
` + text[end:]
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSureAnswersInADialogue(t *testing.T) {
	for _, tt := range []struct {
		input string
		want  string // the answers to houses, items, kind
		next  string
	}{
		{"y\nq\n", "players players guilds", "Question 4 of 5: vague"},
		{"7\nx\n2\nq\n", "players  guilds", "Question 2 of 5: items"},
		{"n\nq\n", "  ", "Question 1 of 5: houses"},
		{"q\n", "  ", "Stopped. 5 of 5"},
	} {
		s, file := opened(t, schema())
		nearlyCertain(t, file)
		if _, err := s.Refresh(); err != nil {
			t.Fatal(err)
		}
		_, shown, err := dialogue(t, s, tt.input)
		got := strings.Join([]string{s.All[0].Answer(), s.All[1].Answer(), s.All[2].Answer()}, " ")
		if err != nil || got != tt.want || !strings.Contains(shown, tt.next) || !strings.Contains(lines(shown), "1 houses.owner_id") && !strings.Contains(lines(shown), "players (99 %) (likely): some of them (0.96)") {
			t.Errorf("%q: %q, %v: %s", tt.input, got, err, shown)
		}
	}
}

func TestSureAnswersOnThePage(t *testing.T) {
	p := serveQuestions(t)
	nearlyCertain(t, p.file)
	_, _, body := p.ask("GET", "", nil, nil)
	if strings.Count(body, `name="sure"`) != 3 {
		t.Fatal(body)
	}
	form := formOf(body, "")
	for _, q := range p.s.All[:2] {
		form.Add("sure", q.ID+" "+q.State())
	}
	if status, location, body := p.ask("POST", "sure", form, nil); status != http.StatusSeeOther || !strings.HasSuffix(p.url, location) || p.s.Open() != 3 || p.s.All[1].Answer() != "players" {
		t.Errorf("%d to %q: %q: %s", status, location, described(p.s), body)
	}
	// The same form in another tab, and one of before a change of the file.
	before := contents(t, p.file)
	if status, _, body := p.ask("POST", "sure", form, nil); status != http.StatusConflict || !strings.Contains(body, "A question was answered since") {
		t.Errorf("%d: %s", status, body)
	}
	if err := os.WriteFile(p.file, []byte(before+"# by hand\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, body := p.ask("POST", "sure", form, nil); status != http.StatusConflict || !strings.Contains(body, "Somebody else has changed the plan") || contents(t, p.file) != before+"# by hand\n" {
		t.Errorf("%d: %s", status, body)
	}
	if status, _, _ := p.ask("GET", "sure", nil, nil); status != http.StatusMethodNotAllowed {
		t.Error(status)
	}
}
