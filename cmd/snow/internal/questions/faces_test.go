package questions

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// What can be answered on the terminal can be answered on the page and in the file, and is the same plan.
func TestFacesAgree(t *testing.T) {
	tests := []struct {
		question       int
		answer, except string // numbers of parts that it is not for
	}{
		{0, "players", ""},
		{0, "{to: players, none: [0], orphans: drop}", ""},
		{0, "{list: players}", "2"},
		{0, "{new_ids: []}", ""},
		{1, "{created: ''}", ""},
		{1, "{type: BIGINT}", ""},
		{2, "{without: [kind]}", "1"},
		{3, "{rule: suffix, template: '{name}[{source}]'}", ""},
		{3, "match", "1"},
		{3, "{rule: keep, prefer: [us, eu]}", "2"},
	}
	for _, test := range tests {
		t.Run(test.answer, func(t *testing.T) {
			is := schema()
			for _, t := range is.Tables { // an answer may change it
				t.Columns = append(t.Columns, &plan.Column{Name: "extra", Type: "TEXT", Role: plan.RolePlain})
			}
			terminal, file := openedAt(t, is)
			line := "=" + test.answer
			if test.except != "" {
				line += " - " + test.except
			}
			if _, shown, err := dialogue(t, terminal, strings.Repeat("s\n", test.question)+line+"\nq\n"); err != nil || strings.Contains(shown, "Not possible") {
				t.Fatalf("%v: %s", err, shown)
			}
			p := serveQuestionsOf(t, is)
			_, _, body := p.ask("GET", p.question(test.question), nil, nil)
			form := allOf(body, "other")
			form.Set("other", test.answer)
			if test.except != "" {
				parts := form["part"]
				form["part"] = slices.Delete(parts, int(test.except[0]-'1'), int(test.except[0]-'0'))
			}
			if status, _, body := p.ask("POST", p.question(test.question), form, nil); status != http.StatusSeeOther {
				t.Fatalf("%d: %s", status, body)
			}
			byTerminal, _, _ := strings.Cut(contents(t, file), "schema:")
			byPage, _, _ := strings.Cut(contents(t, p.file), "schema:")
			if byTerminal != byPage || !strings.Contains(byPage, test.answer) {
				t.Errorf("on the terminal %s, and on the page %s", byTerminal, byPage)
			}
			if terminal.Open() != p.s.Open() || test.except == "" && terminal.Open() != 3 {
				t.Errorf("%d and %d are open", terminal.Open(), p.s.Open())
			}
			_, shown, err := dialogue(t, terminal, strings.Repeat("b\n", 4)+strings.Repeat("s\n", test.question)+"t\nq\n") // back to the first one
			if text := contents(t, file); err != nil || strings.Contains(text, "\n  answer: "+test.answer) {
				t.Errorf("taken back: %v, %s: %s", err, text, shown)
			}
		})
	}
}
