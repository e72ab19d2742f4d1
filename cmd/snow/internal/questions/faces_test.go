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

// A key that is asked about with others may keep its ids, too.
func TestKeyOfTheSameRows(t *testing.T) {
	key := func(name string) *plan.Table {
		return &plan.Table{Name: name, PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "INTEGER", Role: plan.RoleKey}}}
	}
	is := &plan.Plan{Version: 1, Dialect: "SQLite", Sources: []string{"eu", "us"}, Tables: []*plan.Table{key("castles"), key("updates"), key("world")}}
	file := writeText(t, is, `version: 2
dialect: SQLite
sources: [eu, us]
new_ids: [eu, us]
questions:
- name: keys
  columns: [castles.id, updates.id, world.id]
  candidates: [{answer: key, certainty: 0.6}]
  evidence: ['updates.id: 77 of 77 sampled rows are the same in two sources, under the same ids. Is the table the same on both? All', 'world.id: a single row, of id 1 in eu, us: does a program']
  answer:
schema:`)
	s, err := Open(file, is)
	if err != nil {
		t.Fatal(err)
	}
	q := s.All[0]
	if !strings.Contains(q.Hint(), "may keep its ids") {
		t.Errorf("hint %q", q.Hint())
	}
	for _, one := range q.Apart() {
		has := slices.ContainsFunc(one.Choices(), func(c Choice) bool { return c.Answer == "{new_ids: [], rule: match}" })
		if has == (one.Name == "castles.id") {
			t.Errorf("%s: %+v", one.Name, one.Choices())
		}
	}
	if wrong, err := s.Answer(s.Find(q.Apart()[1].ID), "{new_ids: [], rule: match}"); err != nil || len(wrong) > 0 {
		t.Fatal(err, wrong)
	}
	if u := s.plan.Table("updates"); len(u.NewIDs) != 0 || u.Unique[0].Rule != plan.RuleMatch || !u.Column("id").Decided || s.Open() != 1 {
		t.Errorf("%+v, %d are open", u, s.Open())
	}
}
